//===- Sessions.cpp - runtime sessions as Python objects, with support for fork ---------------===//
#include "tools/python/Sessions.h"

#include "dlc/Error.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/WorldState.h"
#include "tools/dlc/report/Graph.h"
#include "tools/python/Raise.h"
#include "tools/python/Value.h"
#include "tools/python/device/Streams.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <functional>
#include <pthread.h>
#include <span>

namespace nb = nanobind;

namespace dlc::python {

static std::atomic<unsigned> forks{0};

unsigned countForks() {
  static const bool watches = [] {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    return true;
  }();
  static_cast<void>(watches);
  return forks.load(std::memory_order_relaxed);
}

Session::~Session() {
  if (isHere())
    delete session;
}

runtime::Session &Session::here() const {
  if (!isHere())
    raise(PyExc_RuntimeError, "the session belongs to the parent of this forked process; load or "
                              "compile the model in this process");
  return **session;
}

std::shared_ptr<Session> Session::again() const {
  const runtime::Plan &plan = shared()->plan();
  if (!isHere() && !plan.states.empty())
    raise(PyExc_RuntimeError, "program '" + plan.name +
                                  "' has state that the parent process may have been changing when "
                                  "this process was forked; load it in this process");
  nb::gil_scoped_release released;
  auto other = std::make_shared<runtime::Session>(shared()->program(),
                                                  runtime::SessionOptions{shared()->threads()});
  std::vector<char> bytes;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    bytes.resize(plan.states[i].bytes);
    shared()->states().get(i, bytes.data());
    other->states().set(i, bytes.data());
  }
  return std::make_shared<Session>(std::move(other));
}

/// Opens a program as a session. Invalid programs raise ValueError; missing features of the machine
/// raise RuntimeError.
static std::shared_ptr<Session> openSession(const std::function<runtime::Program()> &read,
                                            int threads) {
  std::shared_ptr<runtime::Session> session;
  std::string damaged;
  {
    nb::gil_scoped_release released;
    std::shared_ptr<runtime::Program> program;
    try {
      program = std::make_shared<runtime::Program>(read());
      runtime::checkProgram(*program);
    } catch (const Error &error) {
      damaged = error.what();
    }
    if (damaged.empty())
      session = std::make_shared<runtime::Session>(program, runtime::SessionOptions{threads});
  }
  if (!session)
    raise(PyExc_ValueError, damaged);
  return std::make_shared<Session>(std::move(session));
}

static std::shared_ptr<Session> adoptCapsule(nb::capsule capsule) {
  return std::make_shared<Session>(
      *static_cast<std::shared_ptr<runtime::Session> *>(capsule.data(kSessionCapsule)));
}

static std::vector<Value> valuesOf(const runtime::Plan &plan,
                                   std::span<const runtime::TensorInfo> infos) {
  std::vector<Value> values;
  for (const runtime::TensorInfo &info : infos)
    values.push_back(toValue(plan, info));
  return values;
}

using CommandTuple =
    std::tuple<std::string, std::string, std::string, std::string, std::string, double, double>;

static std::vector<CommandTuple> listCommands(const runtime::Session &session) {
  std::vector<CommandTuple> commands;
  for (const runtime::CommandInfo &c : session.commands())
    commands.emplace_back(c.op, c.name, c.implementation, c.device, c.loc, c.flops, c.bytes);
  return commands;
}

static std::vector<std::tuple<uint32_t, int64_t, int64_t>> takeTrace(runtime::Session &session) {
  std::vector<std::tuple<uint32_t, int64_t, int64_t>> events;
  for (const runtime::TraceEvent &event : session.takeTrace())
    events.emplace_back(event.command, event.startNs, event.endNs);
  return events;
}

static nb::dict getMemorySizes(const runtime::Session &session) {
  runtime::MemoryFigures found = session.memory();
  nb::dict memory;
  memory["arena"] = found.arenaBytes;
  memory["scratch"] = found.scratchBytes;
  memory["constants"] = found.constantBytes;
  memory["code"] = found.codeBytes;
  memory["state"] = found.stateBytes;
  return memory;
}

/// Returns a list of (name, type, shape, whether it is a parameter) for the states.
static nb::list listStates(const Session &self) {
  nb::list list;
  for (const runtime::StateInfo &info : self.shared()->plan().states)
    list.append(nb::make_tuple(info.name, std::string(dtypeName(info.dtype)),
                               nb::tuple(nb::cast(info.shape)), info.parameter));
  return list;
}

static size_t checkStateIndex(const Session &self, size_t index) {
  const runtime::Plan &plan = self.shared()->plan();
  if (index >= plan.states.size())
    raise(PyExc_IndexError, "program '" + plan.name + "' has " +
                                std::to_string(plan.states.size()) +
                                " states; found: state number " + std::to_string(index));
  return index;
}

static nb::bytes readStateBytes(const Session &self, size_t index) {
  std::vector<char> copy(self.shared()->plan().states[checkStateIndex(self, index)].bytes);
  runtime::Session &session = self.here();
  {
    // A run may need the GIL, for an allocator or collectives of Python, while it locks the states.
    nb::gil_scoped_release released;
    session.states().get(index, copy.data());
  }
  return nb::bytes(copy.data(), copy.size());
}

/// Writes the program with the current state as its initial state, and the text `training` as
/// metadata in its manifest.
static void saveWithState(const Session &self, const std::string &path,
                          const std::string &training) {
  runtime::Session &session = self.here();
  nb::gil_scoped_release released;
  runtime::Program program = session.states().started();
  program.manifest["training"] = nlohmann::json::parse(training);
  runtime::writeProgram(program, path);
}

static void bindState(const Session &self, size_t index, uintptr_t address, uint64_t bytes,
                      const std::string &device) {
  const runtime::Device &on = openNamedDevice(device);
  runtime::Session &session = self.here();
  const size_t state = checkStateIndex(self, index);
  nb::gil_scoped_release released;
  session.bindState(state, reinterpret_cast<void *>(address), bytes,
                    on.name.isHost() ? nullptr : &on);
}

/// Broadcasts the states of rank 0's session to all ranks, in place.
static void broadcastStates(const Session &self) {
  runtime::Session &session = self.here();
  nb::gil_scoped_release released;
  if (runtime::World *world = session.world())
    runtime::broadcastStates(*world, session.states(), session.plan());
}

/// Binds the Python functions that read and write states.
static void bindStates(nb::class_<Session> &session) {
  session.def_prop_ro("states", listStates)
      .def("state_bytes", readStateBytes, nb::arg("index"))
      .def("bind_state", bindState, nb::arg("index"), nb::arg("address"), nb::arg("bytes"),
           nb::arg("device") = "cpu")
      .def("share_states", broadcastStates)
      .def_prop_ro(
          "meaning",
          [](const Session &self) { return runtime::describeInterface(self.shared()->plan()); })
      .def("save_started", saveWithState, nb::arg("path"), nb::arg("training"));
}

void bindSession(nb::module_ &module) {
  countForks(); // registers the fork handler at import
  nb::class_<Session> session(module, "Session", "A program ready to run; see dlc.Model.");
  bindStates(session);
  session
      .def_static(
          "load",
          [](const std::string &path, int threads) {
            return openSession([&] { return runtime::readProgram(path); }, threads);
          },
          nb::arg("path"), nb::arg("threads") = 0)
      .def_static(
          "from_bytes",
          [](nb::bytes data, int threads) {
            return openSession([&] { return runtime::readProgram(data.data(), data.size()); },
                               threads);
          },
          nb::arg("data"), nb::arg("threads") = 0)
      .def_static("adopt", adoptCapsule, nb::arg("capsule"))
      .def("again", &Session::again)
      .def(
          "save",
          [](Session &self, const std::string &path) {
            const runtime::Program &program = *self.shared()->program();
            nb::gil_scoped_release released;
            runtime::writeProgram(program, path);
          },
          nb::arg("path"))
      .def_prop_ro("is_here", &Session::isHere)
      .def_prop_ro("name", [](const Session &self) { return self.shared()->plan().name; })
      .def_prop_ro("inputs",
                   [](const Session &self) {
                     const runtime::Plan &plan = self.shared()->plan();
                     return valuesOf(plan, plan.inputs);
                   })
      .def_prop_ro("outputs",
                   [](const Session &self) {
                     const runtime::Plan &plan = self.shared()->plan();
                     return valuesOf(plan, std::span(plan.outputs).first(plan.results()));
                   })
      .def_prop_ro("has_state",
                   [](const Session &self) { return !self.shared()->plan().states.empty(); })
      .def_prop_ro("threads", [](const Session &self) { return self.shared()->threads(); })
      .def_prop_ro("graph_launches",
                   [](const Session &self) {
                     nb::gil_scoped_release released; // waits for a run that may need the GIL
                     return self.shared()->graphLaunches();
                   })
      .def_prop_ro("commands", [](const Session &self) { return listCommands(*self.shared()); })
      .def_prop_ro("edges",
                   [](const Session &self) { return cli::buildGraph(*self.shared()).edges; })
      .def_prop_ro("memory", [](const Session &self) { return getMemorySizes(*self.shared()); })
      .def(
          "set_trace",
          [](Session &self, bool enabled) {
            runtime::Session &session = self.here();
            nb::gil_scoped_release released; // waits without the GIL for a run that holds the lock
            session.setTrace(enabled);
          },
          nb::arg("enabled"))
      .def("take_trace", [](Session &self) {
        runtime::Session &session = self.here();
        nb::gil_scoped_release released;
        return takeTrace(session);
      });
}

} // namespace dlc::python
