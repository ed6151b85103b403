//===- Runner.cpp - calls a model from Python -----------------------------===//
#include "tools/python/Runner.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/session/capi/ResultShape.h"
#include "tools/python/Raise.h"

#include "dlc/Error.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace nb = nanobind;

namespace dlc::python {

/// Maximum number of cached sessions, equal to the default of dlc::ModelOptions::maxPrograms.
static constexpr size_t kMaxPrograms = 16;
/// Maximum number of elements of an input whose values may determine shapes. Larger inputs are not
/// passed to the compiler.
static constexpr int64_t kMaxValues = 1 << 16;

static size_t findValueIndex(const std::vector<Value> &values, const std::string &name) {
  auto found = std::find_if(values.begin(), values.end(),
                            [&](const Value &value) { return value.name == name; });
  if (found == values.end())
    raise(PyExc_ValueError, "the program's '" + name + "' is not a value of the model");
  return size_t(found - values.begin());
}

Runner::Program::Program(std::shared_ptr<Session> given, const std::vector<Value> &ins,
                         const std::vector<Value> &outs)
    : session(std::move(given)), outputOf(outs.size()) {
  const runtime::Plan &plan = session->shared()->plan();
  for (const runtime::TensorInfo &info : plan.inputs)
    inputOf.push_back(findValueIndex(ins, info.name));
  for (size_t i = 0; i < plan.results(); ++i)
    outputOf[findValueIndex(outs, plan.outputs[i].name)] = i;
  for (const runtime::TensorInfo &output : plan.outputs)
    results.emplace_back(output);
}

void Runner::add(std::shared_ptr<Session> session) {
  programs.remove_if([&](const std::shared_ptr<Program> &program) {
    return program->session->shared() == session->shared();
  });
  programs.push_front(std::make_shared<Program>(std::move(session), ins, outs));
  while (programs.size() > kMaxPrograms)
    programs.pop_back();
}

std::vector<std::shared_ptr<Session>> Runner::sessions() {
  moveHere();
  std::vector<std::shared_ptr<Session>> list;
  for (const std::shared_ptr<Program> &program : programs)
    list.push_back(program->session);
  return list;
}

/// Recreates each session from its program after a fork: both processes share the program, but not
/// the session.
void Runner::moveHere() {
  for (std::shared_ptr<Program> &program : programs)
    if (!program->session->isHere())
      program = std::make_shared<Program>(program->session->again(), ins, outs);
}

std::string Runner::listed(const std::vector<Value> &values) const {
  std::string text;
  for (const Value &value : values)
    text += (text.empty() ? "" : ", ") + value.name + " " + value.text();
  return text.empty() ? "none" : text;
}

/// Returns the array for each input of the model. The references are held because the caller may
/// change its dictionary while a program runs.
std::vector<nb::object> Runner::collect(nb::tuple positional, nb::dict named) const {
  std::vector<nb::object> arrays(ins.size());
  if (positional.size() > ins.size())
    raise(PyExc_TypeError, "required: " + std::to_string(ins.size()) + " inputs (" + listed(ins) +
                               "); found: " + std::to_string(positional.size()));
  for (size_t i = 0; i < positional.size(); ++i)
    arrays[i] = positional[i];
  for (auto [key, array] : named) {
    if (!PyUnicode_Check(key.ptr()))
      raise(PyExc_TypeError,
            "required: names of inputs as keys; found: " + std::string(nb::repr(key).c_str()));
    Py_ssize_t size = 0;
    const char *letters = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
    if (!letters)
      throw nb::python_error();
    std::string_view name(letters, size_t(size));
    auto found = std::find_if(ins.begin(), ins.end(),
                              [&](const Value &value) { return value.name == name; });
    if (found == ins.end())
      raise(PyExc_TypeError,
            "there is no input '" + std::string(name) + "'; the inputs are: " + listed(ins));
    nb::object &at = arrays[size_t(found - ins.begin())];
    if (at.is_valid())
      raise(PyExc_TypeError, "input '" + found->name + "' is given twice: by position and by name");
    at = nb::borrow(array);
  }
  for (size_t i = 0; i < arrays.size(); ++i)
    if (!arrays[i].is_valid())
      raise(PyExc_TypeError, "input '" + ins[i].name + "' is missing; required: " + ins[i].text() +
                                 "; pass it by position or by name");
  return arrays;
}

bool Runner::fits(const Program &program, const std::vector<ArrayView> &views,
                  const std::vector<const void *> &addresses) const {
  const runtime::Session &session = *program.session->shared();
  const std::vector<runtime::TensorInfo> &inputs = session.plan().inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayView &view = views[program.inputOf[i]];
    const std::vector<int64_t> &shape = inputs[i].shape;
    if (view.rank() != int(shape.size()) || !std::equal(shape.begin(), shape.end(), view.shape()))
      return false;
    // The program was compiled for a fixed value of this input, so the given elements must equal
    // this value.
    if (int64_t fixed = inputs[i].value; fixed >= 0) {
      const runtime::Span &value = session.program()->constants[size_t(fixed)];
      if (std::memcmp(value.data, addresses[program.inputOf[i]], inputs[i].bytes) != 0)
        return false;
    }
  }
  return true;
}

/// Compiles a program for the shapes of these inputs by calling the Python method `_make`.
std::shared_ptr<Runner::Program> Runner::make(const std::vector<ArrayView> &views,
                                              const std::vector<const void *> &addresses) {
  nb::dict shapes, values;
  for (size_t i = 0; i < ins.size(); ++i) {
    nb::list shape;
    for (int d = 0; d < views[i].rank(); ++d)
      shape.append(views[i].shape()[d]);
    shapes[ins[i].name.c_str()] = nb::tuple(shape);
    if (int64_t count = views[i].elements(); count <= kMaxValues)
      values[ins[i].name.c_str()] = nb::make_tuple(
          ins[i].typeName, nb::bytes(addresses[i], tensorBytes(*ins[i].dtype, views[i].sizes())));
  }
  nb::object made = nb::find(*this).attr("_make")(shapes, values);
  add(nb::cast<std::shared_ptr<Session>>(made));
  return programs.front();
}

std::shared_ptr<Runner::Program> Runner::programFor(const std::vector<ArrayView> &views,
                                                    const std::vector<const void *> &addresses) {
  for (auto it = programs.begin(); it != programs.end(); ++it) {
    if (!fits(**it, views, addresses))
      continue;
    if (it != programs.begin())
      programs.splice(programs.begin(), programs, it);
    return programs.front();
  }
  return make(views, addresses);
}

static const std::optional<threads::OpenMp> &findPytorchOpenMp() {
  static const std::optional<threads::OpenMp> found = threads::loadOpenMp("libtorch_cpu.so");
  return found;
}

/// Runs the program, on PyTorch's OpenMP threads if the arrays are PyTorch tensors: after each
/// PyTorch operation these threads spin for milliseconds on the cores that the program needs.
void Runner::compute(Program &program, const ArrayFamily &family, std::span<const void *const> from,
                     std::span<void *const> to) {
  runtime::Session &session = *program.session->shared();
  runtime::ThreadScope scope(session.threads());
  auto work = [&] { session.run(from, to); };
  if (session.isParallel() && family.kind == ArrayFamily::Kind::Exchange && findPytorchOpenMp())
    threads::borrow(
        *findPytorchOpenMp(), [](void *data) { (*static_cast<decltype(work) *>(data))(); }, &work);
  else
    work();
}

/// Runs the model and returns the outputs in the model's order.
std::vector<nb::object> Runner::runOn(const std::vector<nb::object> &arrays) {
  moveHere();
  std::vector<ArrayView> views(arrays.size());
  std::vector<std::unique_ptr<char[]>> copies(arrays.size());
  std::vector<const void *> addresses(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) {
    views[i].open(arrays[i], ins[i]);
    addresses[i] = views[i].compact(copies[i]);
  }
  std::shared_ptr<Program> program = programFor(views, addresses);
  const ArrayFamily family = views.empty() ? ArrayFamily() : views[0].family();

  std::vector<nb::object> made;
  std::vector<void *> to(program->results.size());
  for (size_t i = 0; i < to.size(); ++i)
    made.push_back(program->results[i].make(family, to[i]));
  std::vector<const void *> from;
  for (size_t input : program->inputOf)
    from.push_back(addresses[input]);
  {
    nb::gil_scoped_release released;
    compute(*program, family, from, to);
  }
  std::vector<nb::object> outputs;
  lastOutputs.clear();
  const runtime::Plan &plan = program->session->shared()->plan();
  for (size_t output : program->outputOf) {
    lastOutputs.push_back(to[output]);
    outputs.push_back(program->results[output].finish(family, made[output], to[output],
                                                      runtime::resultShape(plan, output, to)));
  }
  lastInputs = std::move(addresses);
  return outputs;
}

Runner::Addresses Runner::addresses() const {
  auto numbers = [](const std::vector<const void *> &pointers) {
    std::vector<uintptr_t> list;
    for (const void *pointer : pointers)
      list.push_back(reinterpret_cast<uintptr_t>(pointer));
    return list;
  };
  return {numbers(lastInputs), numbers(lastOutputs)};
}

nb::object Runner::call(nb::args positional, nb::kwargs named) {
  std::vector<nb::object> outputs = runOn(collect(positional, named));
  if (outputs.size() == 1)
    return outputs[0];
  nb::list list;
  for (const nb::object &output : outputs)
    list.append(output);
  return nb::tuple(list);
}

nb::dict Runner::run(nb::handle named) {
  if (!nb::isinstance<nb::dict>(named))
    raise(PyExc_TypeError,
          std::string("run: required: a dict of arrays by input name, as in {'x': x}; found: ") +
              nb::type_name(named.type()).c_str() + "; to pass arrays by position, call the model");
  std::vector<nb::object> outputs = runOn(collect(nb::tuple(), nb::borrow<nb::dict>(named)));
  nb::dict result;
  for (size_t i = 0; i < outputs.size(); ++i)
    result[outs[i].name.c_str()] = outputs[i];
  return result;
}

void bindRunner(nb::module_ &module) {
  nb::class_<Runner>(module, "Runner", nb::is_weak_referenceable(),
                     "Implementation of dlc.Model: values, sessions and calls.")
      .def(nb::init<std::vector<Value>, std::vector<Value>>(), nb::arg("inputs"),
           nb::arg("outputs"))
      .def("__call__", &Runner::call, nb::arg("arrays"), nb::arg("named"))
      .def("run", &Runner::run, nb::arg("arrays"))
      .def("_add", &Runner::add, nb::arg("session"))
      .def_prop_ro("inputs", &Runner::inputs)
      .def_prop_ro("outputs", &Runner::outputs)
      .def_prop_ro("_addresses", &Runner::addresses)
      .def_prop_ro("_sessions", &Runner::sessions);
}

} // namespace dlc::python
