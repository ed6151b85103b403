//===- Compiler.cpp - the module dlc._compiler: compiles models into sessions -----------------===//
#include "tools/compiler/GraphSteps.h"
#include "tools/compiler/Sessions.h"
#include "tools/python/Names.h"
#include "tools/python/Quantize.h"
#include "tools/python/Waiting.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <tuple>
#include <unistd.h>

namespace nb = nanobind;

namespace dlc::python {
namespace {

/// A model and its compiled sessions. Not thread-safe; dlc/_compile.py serializes the calls.
class Compiler {
public:
  Compiler(const std::string &path, const ModelOptions &options)
      : waiting(std::make_shared<WaitState>()), made(new SessionCache(path, options, hooks())),
        bornIn(getpid()) {}
  Compiler(std::shared_ptr<Source> source, const ModelOptions &options)
      : waiting(std::make_shared<WaitState>()),
        made(new SessionCache(std::move(source), options, hooks())), bornIn(getpid()) {}
  ~Compiler() {
    // The object is leaked in a forked process: the threads of MLIR's context do not exist there,
    // so the destructor would wait for them forever.
    if (bornIn == getpid())
      delete made;
  }
  Compiler(const Compiler &) = delete;
  Compiler &operator=(const Compiler &) = delete;

  const SessionCache &sessions() const { return *made; }
  std::shared_ptr<runtime::Session>
  session(const std::map<std::string, std::vector<int64_t>> &shapes,
          const std::map<std::string, Tensor> &values, nb::handle show);

private:
  SessionCache::Hooks hooks() const {
    return {[waiting = waiting] { return waiting->isCancelled.load(); },
            [waiting = waiting](const std::string &what, int done, int total) {
              waiting->tell(what, done, total);
            }};
  }

  std::shared_ptr<WaitState> waiting;
  SessionCache *const made;
  const pid_t bornIn;
};

std::shared_ptr<runtime::Session>
Compiler::session(const std::map<std::string, std::vector<int64_t>> &shapes,
                  const std::map<std::string, Tensor> &values, nb::handle show) {
  return runInterruptibly(*waiting, show, [&] { return made->get(shapes, values); });
}

Tensor toTensor(const std::vector<int64_t> &shape, nb::tuple value) {
  Tensor tensor(*parseDType(nb::cast<std::string>(value[0])), shape);
  nb::bytes data = nb::cast<nb::bytes>(value[1]);
  std::memcpy(tensor.raw(), data.data(), std::min(data.size(), tensor.bytes()));
  return tensor;
}

nb::capsule session(Compiler &self, const std::map<std::string, std::vector<int64_t>> &shapes,
                    nb::dict values, nb::handle show) {
  std::map<std::string, Tensor> given;
  for (auto [name, value] : values) {
    std::string input = nb::cast<std::string>(name);
    given.emplace(input, toTensor(shapes.at(input), nb::cast<nb::tuple>(value)));
  }
  auto *held = new std::shared_ptr<runtime::Session>(
      convertErrorsToPython([&] { return self.session(shapes, given, show); }));
  return nb::capsule(held, kSessionCapsule, [](void *pointer) noexcept {
    delete static_cast<std::shared_ptr<runtime::Session> *>(pointer);
  });
}

/// Converts the constants of a graph from a dictionary that maps names to (address, bytes, owner).
std::map<std::string, ConstantMemory> toConstantMemory(nb::dict constants) {
  std::map<std::string, ConstantMemory> result;
  for (auto [name, value] : constants) {
    auto [address, bytes, owner] = nb::cast<std::tuple<uintptr_t, size_t, nb::object>>(value);
    // Compiled programs share the owner of a constant, so any thread may release it last, even
    // after the interpreter has been finalized.
    std::shared_ptr<void> keep(owner.release().ptr(), [](void *object) {
      if (!Py_IsInitialized())
        return;
      nb::gil_scoped_acquire held;
      nb::handle(static_cast<PyObject *>(object)).dec_ref();
    });
    result[nb::cast<std::string>(name)] = {reinterpret_cast<const void *>(address), bytes,
                                           std::move(keep)};
  }
  return result;
}

ModelOptions optionsOf(const std::string &device, int threads, const std::string &precision,
                       const std::string &accuracy) {
  ModelOptions options;
  options.device = device;
  options.threads = threads;
  options.precision = precision;
  options.accuracy = accuracy;
  return options;
}

/// Returns a list of (name, type, shape) for the values. A shape is None, or a list of sizes, names
/// and None.
nb::list toPythonList(const std::vector<ValueInfo> &values) {
  nb::list list;
  for (const ValueInfo &value : values) {
    nb::list shape;
    for (size_t d = 0; d < value.shape.size(); ++d) {
      if (value.shape[d] >= 0)
        shape.append(value.shape[d]);
      else if (d < value.symbols.size() && !value.symbols[d].empty())
        shape.append(value.symbols[d]);
      else
        shape.append(nb::none());
    }
    std::string type = value.dtype ? std::string(dtypeName(*value.dtype)) : value.typeName;
    list.append(nb::make_tuple(value.name, type, value.hasRank ? shape : nb::object(nb::none())));
  }
  return list;
}

} // namespace
} // namespace dlc::python

NB_MODULE(_compiler, module) {
  nanobind::set_leak_warnings(false);
  using namespace dlc::python;
  bindQuantize(module);
  module.def("graph_operators", dlc::graphOperators);
  module.def(
      "examine_graph",
      [](const std::string &graph) {
        return convertErrorsToPython([&] {
          nb::gil_scoped_release released;
          return dlc::findUnsupportedNodes(graph);
        });
      },
      nb::arg("graph"));
  nb::class_<Compiler>(module, "Compiler")
      .def(
          "__init__",
          [](Compiler *self, const std::string &path, const std::string &device, int threads,
             const std::string &precision, const std::string &accuracy, int nchwcBlock) {
            auto options = optionsOf(device, threads, precision, accuracy);
            options.nchwcBlock = nchwcBlock;
            convertErrorsToPython([&] {
              nb::gil_scoped_release released;
              new (self) Compiler(path, options);
            });
          },
          nb::arg("path"), nb::arg("device"), nb::arg("threads"), nb::arg("precision"),
          nb::arg("accuracy"), nb::arg("nchwc_block"))
      .def(
          "__init__",
          [](Compiler *self, const std::string &graph, nb::dict constants,
             const std::string &device, int threads, const std::string &precision,
             const std::string &accuracy) {
            auto options = optionsOf(device, threads, precision, accuracy);
            auto memory = toConstantMemory(constants);
            convertErrorsToPython([&] {
              nb::gil_scoped_release released;
              new (self) Compiler(dlc::graphSource(graph, std::move(memory)), options);
            });
          },
          nb::arg("graph"), nb::arg("constants"), nb::arg("device"), nb::arg("threads"),
          nb::arg("precision"), nb::arg("accuracy"))
      .def(
          "__init__",
          [](Compiler *self, const std::string &graph, nb::dict constants, const std::string &step,
             const std::string &device, int threads, const std::string &precision,
             const std::string &accuracy) {
            auto options = optionsOf(device, threads, precision, accuracy);
            auto memory = toConstantMemory(constants);
            convertErrorsToPython([&] {
              nb::gil_scoped_release released;
              new (self) Compiler(dlc::graphStep(graph, std::move(memory), step), options);
            });
          },
          nb::arg("graph"), nb::arg("constants"), nb::arg("step"), nb::arg("device"),
          nb::arg("threads"), nb::arg("precision"), nb::arg("accuracy"))
      .def_prop_ro("inputs",
                   [](const Compiler &self) { return toPythonList(self.sessions().inputs()); })
      .def_prop_ro("outputs",
                   [](const Compiler &self) { return toPythonList(self.sessions().outputs()); })
      .def_prop_ro("defaults",
                   [](const Compiler &self) { return toPythonList(self.sessions().defaults()); })
      .def("session", session, nb::arg("shapes"), nb::arg("values"), nb::arg("show").none());
}
