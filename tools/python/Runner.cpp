//===- Runner.cpp - calls a model from Python -----------------------------===//
#include "tools/python/Runner.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/session/Binder.h"
#include "runtime/session/capi/ResultShape.h"
#include "tools/python/Raise.h"
#include "tools/python/device/Deferred.h"
#include "tools/python/device/Streams.h"

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

/// Returns the elements of an input in host memory. Copies those of an array on a device to `copy`.
static const void *readOnHost(const ArrayView &view, const void *address, uint64_t bytes,
                              void *stream, std::vector<char> &copy) {
  if (!view.device() || bytes == 0)
    return address;
  runtime::Device &device = *view.device();
  copy.resize(bytes);
  if (stream)
    device.call(device.table.stream_synchronize, stream);
  copyBytes(copy.data(), runtime::hostDevice(), address, device, bytes);
  return copy.data();
}

bool Runner::fits(const Program &program, const Arguments &arguments) const {
  const runtime::Session &session = *program.session->shared();
  const std::vector<runtime::TensorInfo> &inputs = session.plan().inputs;
  std::vector<char> copy;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ArrayView &view = arguments.views[program.inputOf[i]];
    const std::vector<int64_t> &shape = inputs[i].shape;
    if (view.rank() != int(shape.size()) || !std::equal(shape.begin(), shape.end(), view.shape()))
      return false;
    // The program was compiled for a fixed value of this input, so the given elements must equal
    // this value.
    if (int64_t fixed = inputs[i].value; fixed >= 0) {
      const runtime::Span &value = session.program()->constants[size_t(fixed)];
      const void *given = readOnHost(view, arguments.addresses[program.inputOf[i]], inputs[i].bytes,
                                     arguments.target.stream, copy);
      if (std::memcmp(value.data, given, inputs[i].bytes) != 0)
        return false;
    }
  }
  return true;
}

/// Compiles a program for the shapes of these inputs by calling the Python method `_make`.
std::shared_ptr<Runner::Program> Runner::make(const Arguments &arguments) {
  nb::dict shapes, values;
  std::vector<char> copy;
  for (size_t i = 0; i < ins.size(); ++i) {
    const ArrayView &view = arguments.views[i];
    nb::list shape;
    for (int d = 0; d < view.rank(); ++d)
      shape.append(view.shape()[d]);
    shapes[ins[i].name.c_str()] = nb::tuple(shape);
    if (int64_t count = view.elements(); count <= kMaxValues) {
      const uint64_t bytes = tensorBytes(*ins[i].dtype, view.sizes());
      const void *given =
          readOnHost(view, arguments.addresses[i], bytes, arguments.target.stream, copy);
      values[ins[i].name.c_str()] = nb::make_tuple(ins[i].typeName, nb::bytes(given, bytes));
    }
  }
  nb::object made = nb::find(*this).attr("_make")(shapes, values);
  add(nb::cast<std::shared_ptr<Session>>(made));
  return programs.front();
}

std::shared_ptr<Runner::Program> Runner::programFor(const Arguments &arguments) {
  for (auto it = programs.begin(); it != programs.end(); ++it) {
    if (!fits(**it, arguments))
      continue;
    if (it != programs.begin())
      programs.splice(programs.begin(), programs, it);
    return programs.front();
  }
  return make(arguments);
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

/// Returns the device of the model's inputs and outputs; null: the host.
runtime::Device *Runner::device() {
  if (onDevice)
    return *onDevice;
  runtime::Device *found = nullptr;
  for (const std::vector<Value> *values : {&ins, &outs})
    for (const Value &value : *values) {
      const auto name = runtime::parseDeviceName(value.device);
      if (found || !name || name->isHost())
        continue;
      found = &openNamedDevice(value.device);
    }
  onDevice = found;
  return found;
}

/// Sets the stream in which the program runs: the argument `stream`, else the current stream of the
/// arrays' library, else the stream of dlc.set_current_stream, else the default stream.
void Runner::chooseStream(const std::vector<ArrayFamily> &families, nb::handle stream,
                          Arguments &arguments) {
  ArrayTarget &target = arguments.target;
  const bool isGiven = stream.is_valid() && !stream.is_none();
  if (!target.device && isGiven)
    raise(PyExc_ValueError, "stream: required: a program whose arrays are on a GPU; found: arrays "
                            "in host memory; compile the model with device=\"cuda:0\"");
  if (!target.device)
    return;
  for (const ArrayFamily &family : families) {
    DLTensor tensor{};
    if (family.kind != ArrayFamily::Kind::Exchange || !family.table->currentStream)
      continue;
    if (family.table->fromObject(family.object.ptr(), &tensor) != 0) {
      PyErr_Clear(); // open() reports the error
      continue;
    }
    const auto name = deviceNameOf(tensor.device);
    void *current = nullptr;
    if (!name || *name != target.device->name)
      continue;
    if (family.table->currentStream(tensor.device.device_type, tensor.device.device_id, &current) !=
        0)
      throw nb::python_error();
    arguments.libraryStream = current ? current : defaultStream(*target.device);
    break;
  }
  target.stream = isGiven                   ? streamHandle(*target.device, stream)
                  : arguments.libraryStream ? *arguments.libraryStream
                                            : currentStream(*target.device);
  if (arguments.libraryStream == target.stream)
    arguments.libraryStream.reset();
}

/// Returns the reason why an input is copied; null if the input is read in place.
static const char *reasonOfCopy(const ArrayView &view, bool isCopiedOnHost,
                                const ArrayTarget &target) {
  if (view.isCopied() || isCopiedOnHost)
    return "not contiguous, or of 4-bit integers";
  if (target.device && !view.device())
    return "in host memory";
  const bool isAligned = !view.device() || view.device()->isAligned(view.address());
  return isAligned ? nullptr : "not aligned to 16 bytes";
}

/// Opens all arrays and chooses the family of the results: the family of the first array on the
/// model's device, else that of the first array.
void Runner::open(const std::vector<nb::object> &arrays, nb::handle stream, Arguments &arguments) {
  arguments.target.device = device();
  if (arguments.target.device)
    releaseFinished();
  std::vector<ArrayFamily> families;
  families.reserve(arrays.size());
  for (const nb::object &array : arrays)
    families.push_back(ArrayFamily::of(array));
  chooseStream(families, stream, arguments);
  bool isOnDevice = false;
  for (size_t i = 0; i < arrays.size(); ++i) {
    ArrayView &view = arguments.views[i];
    view.open(arrays[i], families[i], ins[i], arguments.target);
    arguments.addresses[i] = view.device() ? view.address() : view.compact(arguments.copies[i]);
    if (i == 0 || (view.device() && !isOnDevice))
      arguments.family = view.family();
    isOnDevice |= view.device() != nullptr;
    if (const char *reason = reasonOfCopy(view, arguments.copies[i] != nullptr, arguments.target))
      arguments.copied.push_back({ins[i].name, view.bytes(), reason});
  }
  // readOnHost() reads values of inputs after it waits for the program's stream. This stream must
  // therefore wait for the library's work already here, including the copies made above.
  if (arguments.libraryStream)
    runtime::DeviceEvent::recordOn(*arguments.target.device, *arguments.libraryStream)
        ->makeWait(arguments.target.stream);
  // If all arrays are in host memory, the results are, too.
  if (!isOnDevice && arguments.target.device)
    arguments.family.device = {kDLCPU, 0};
}

Runner::Outputs Runner::makeOutputs(const Program &program, const Arguments &arguments) const {
  const runtime::Plan &plan = program.session->shared()->plan();
  const bool isOnDevice = arguments.family.device.device_type != kDLCPU;
  Outputs outputs;
  const size_t count = program.results.size();
  outputs.addresses.resize(count);
  outputs.devices.resize(count);
  outputs.made.reserve(count);
  const ArrayTarget host;
  ArrayFamily hostFamily = arguments.family;
  hostFamily.device = DLDevice{kDLCPU, 0};
  for (size_t i = 0; i < count; ++i) {
    // The sizes of dynamic results, which the host reads, follow the results in the plan's outputs.
    const bool isHere = isOnDevice && i < plan.results() && !program.results[i].needsHost();
    outputs.devices[i] = isHere ? arguments.target.device : nullptr;
    outputs.made.push_back(program.results[i].make(isHere ? arguments.family : hostFamily,
                                                   isHere ? arguments.target : host,
                                                   outputs.addresses[i]));
  }
  return outputs;
}

/// Runs a program whose arrays may be on a device, in the caller's stream if the program permits.
void Runner::computeOnDevice(Program &program, Arguments &arguments, Outputs &outputs) {
  runtime::Session &session = *program.session->shared();
  runtime::Device &device = *arguments.target.device;
  void *stream = arguments.target.stream;
  const bool isEnqueued = stream && session.enqueueDevice() == &device;
  std::vector<runtime::BoundArray> from, to;
  for (size_t input : program.inputOf)
    from.push_back(
        {const_cast<void *>(arguments.addresses[input]), arguments.views[input].device()});
  for (size_t i = 0; i < outputs.addresses.size(); ++i)
    to.push_back({outputs.addresses[i], outputs.devices[i]});
  std::shared_ptr<runtime::DeviceEvent> end;
  {
    nb::gil_scoped_release released;
    // The library may have allocated the results in the order of its stream.
    if (arguments.libraryStream)
      runtime::DeviceEvent::recordOn(device, *arguments.libraryStream)->makeWait(stream);
    if (isEnqueued) {
      end = session.enqueue(from, to, stream);
    } else {
      if (stream)
        device.call(device.table.stream_synchronize, stream);
      session.runOn(from, to);
    }
    if (arguments.libraryStream && end)
      end->makeWait(*arguments.libraryStream);
  }
  if (isEnqueued)
    last.stream = stream;
  // Empty arrays are not copied, so the host does not wait for them.
  const runtime::Plan &plan = session.plan();
  last.hasWaited = !isEnqueued;
  for (size_t i = 0; i < from.size(); ++i)
    last.hasWaited |= !from[i].device && plan.inputs[i].bytes > 0;
  for (size_t i = 0; i < to.size(); ++i)
    last.hasWaited |= !to[i].device && plan.outputs[i].bytes > 0;
  if (!end)
    return;
  for (const ArrayView &view : arguments.views) {
    if (view.own())
      view.own()->addUse(end);
    if (nb::object tensor = view.exported(); tensor.is_valid() && view.device() && !last.hasWaited)
      releaseAfter(std::move(tensor), end);
  }
  for (const nb::object &made : outputs.made)
    if (nb::isinstance<DeviceArray>(made))
      nb::inst_ptr<DeviceArray>(made)->setWritten(end);
}

/// Runs the model and returns the outputs in the model's order.
std::vector<nb::object> Runner::runOn(const std::vector<nb::object> &arrays, nb::handle stream) {
  moveHere();
  Arguments arguments(arrays.size());
  open(arrays, stream, arguments);
  std::shared_ptr<Program> program = programFor(arguments);
  Outputs outputs = makeOutputs(*program, arguments);
  last = {};
  if (arguments.target.device) {
    computeOnDevice(*program, arguments, outputs);
  } else {
    std::vector<const void *> from;
    for (size_t input : program->inputOf)
      from.push_back(arguments.addresses[input]);
    nb::gil_scoped_release released;
    compute(*program, arguments.family, from, outputs.addresses);
  }
  std::vector<nb::object> results;
  lastOutputs.clear();
  const runtime::Plan &plan = program->session->shared()->plan();
  for (size_t output : program->outputOf) {
    void *address = outputs.addresses[output];
    lastOutputs.push_back(address);
    if (arguments.target.device && !outputs.devices[output])
      arguments.copied.push_back(
          {plan.outputs[output].name, plan.outputs[output].bytes, "in host memory"});
    results.push_back(
        program->results[output].finish(arguments.family, outputs.made[output], address,
                                        runtime::resultShape(plan, output, outputs.addresses)));
  }
  lastInputs = std::move(arguments.addresses);
  last.copies = std::move(arguments.copied);
  return results;
}

nb::tuple Runner::lastCall() const {
  nb::list copies;
  for (const Copied &copy : last.copies)
    copies.append(nb::make_tuple(copy.name, copy.bytes, copy.reason));
  return nb::make_tuple(copies, last.stream ? streamNumber(*last.stream) : nb::none(),
                        last.hasWaited);
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

/// Removes the argument `stream` from the named arguments of a call and returns it, unless the
/// model has an input of this name.
static nb::object takeStream(nb::kwargs &named, const std::vector<Value> &inputs) {
  if (named.size() == 0 || !named.contains("stream") ||
      std::any_of(inputs.begin(), inputs.end(),
                  [](const Value &value) { return value.name == "stream"; }))
    return nb::none();
  nb::object stream = named["stream"];
  PyDict_DelItemString(named.ptr(), "stream");
  return stream;
}

nb::object Runner::call(nb::args positional, nb::kwargs named) {
  nb::object stream = takeStream(named, ins);
  std::vector<nb::object> outputs = runOn(collect(positional, named), stream);
  if (outputs.size() == 1)
    return outputs[0];
  nb::list list;
  for (const nb::object &output : outputs)
    list.append(output);
  return nb::tuple(list);
}

nb::dict Runner::run(nb::handle named, nb::handle stream) {
  if (!nb::isinstance<nb::dict>(named))
    raise(PyExc_TypeError,
          std::string("run: required: a dict of arrays by input name, as in {'x': x}; found: ") +
              nb::type_name(named.type()).c_str() + "; to pass arrays by position, call the model");
  std::vector<nb::object> outputs =
      runOn(collect(nb::tuple(), nb::borrow<nb::dict>(named)), stream);
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
      .def("run", &Runner::run, nb::arg("arrays"), nb::arg("stream") = nb::none())
      .def("_add", &Runner::add, nb::arg("session"))
      .def_prop_ro("inputs", &Runner::inputs)
      .def_prop_ro("outputs", &Runner::outputs)
      .def_prop_ro("_addresses", &Runner::addresses)
      .def_prop_ro("_last_call", &Runner::lastCall)
      .def_prop_ro("_sessions", &Runner::sessions);
}

} // namespace dlc::python
