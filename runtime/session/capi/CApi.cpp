//===- CApi.cpp - C interface for programs and sessions ----------------------===//
#include "dlc/dlc.h"

#include "runtime/program/Checker.h"
#include "runtime/program/Message.h"
#include "runtime/program/Reader.h"
#include "runtime/session/Binder.h"
#include "runtime/session/Session.h"
#include "runtime/session/capi/Guarded.h"
#include "runtime/session/capi/Handles.h"
#include "runtime/session/capi/ResultShape.h"
#include "runtime/session/capi/Tensors.h"
#include "runtime/session/state/State.h"
#include "runtime/session/state/WorldState.h"

#include <algorithm>
#include <list>
#include <mutex>
#include <new>

using namespace dlc::runtime;

struct dlc_program {
  std::shared_ptr<const Program> program;
  std::shared_ptr<const Plan> plan;
};

/// Contents of a session handle: the current program with its session, and its predecessors
/// (dlc_session_replace). Predecessors are kept because callers may still hold pointers to their
/// tensor descriptions.
struct dlc_session {
  struct Kept {
    dlc_program program;
    std::shared_ptr<Session> session;
  };
  std::list<Kept> kept;
  SessionOptions options;
  mutable std::mutex mutex;

  /// Returns the current session. The caller's reference keeps it alive even if it is replaced
  /// meanwhile.
  std::shared_ptr<Session> now() const {
    std::lock_guard lock(mutex);
    return kept.front().session;
  }
};

static dlc_program *makeProgram(std::shared_ptr<const Program> program) {
  auto plan = std::make_shared<const Plan>(checkProgram(*program));
  return new dlc_program{std::move(program), std::move(plan)};
}

namespace dlc::runtime {

dlc_program *wrapProgram(std::shared_ptr<const Program> program) {
  return makeProgram(std::move(program));
}

Session &sessionOf(dlc_session *session) { return *session->now(); }

} // namespace dlc::runtime

const char *dlc_version(void) { return DLC_VERSION; }

const char *dlc_error_message(const dlc_error *error) {
  return error ? error->message.c_str() : "";
}
void dlc_error_free(dlc_error *error) { delete error; }

dlc_error *dlc_program_load(const char *path, dlc_program **program) {
  return catchErrors([&] {
    requireArguments("dlc_program_load", {{"path", path}, {"program", program}});
    *program = nullptr;
    *program = makeProgram(std::make_shared<const Program>(readProgram(path)));
  });
}

dlc_error *dlc_program_load_memory(const void *data, size_t size, dlc_program **program) {
  return catchErrors([&] {
    if (size > 0)
      requireArguments("dlc_program_load_memory", {{"data", data}});
    requireArguments("dlc_program_load_memory", {{"program", program}});
    *program = nullptr;
    *program = makeProgram(std::make_shared<const Program>(readProgram(data, size)));
  });
}

void dlc_program_destroy(dlc_program *program) { delete program; }

size_t dlc_program_input_count(const dlc_program *program) { return program->plan->inputs.size(); }
size_t dlc_program_output_count(const dlc_program *program) {
  return program->plan->outputs.size();
}

template <typename Info>
static void describe(const std::vector<Info> &tensors, size_t index, dlc_tensor_info *info,
                     const char *what) {
  if (index >= tensors.size())
    fail(what, " ", index, " does not exist: the program has ", tensors.size(),
         "; give an index below this number");
  const TensorInfo &tensor = tensors[index];
  *info = {tensor.name.c_str(), toDlpackType(tensor.dtype),
           static_cast<int32_t>(tensor.shape.size()), tensor.shape.data(), tensor.bytes};
}

dlc_error *dlc_program_input(const dlc_program *program, size_t index, dlc_tensor_info *info) {
  return catchErrors([&] {
    requireArguments("dlc_program_input", {{"program", program}, {"info", info}});
    describe(program->plan->inputs, index, info, "input");
  });
}
dlc_error *dlc_program_output(const dlc_program *program, size_t index, dlc_tensor_info *info) {
  return catchErrors([&] {
    requireArguments("dlc_program_output", {{"program", program}, {"info", info}});
    describe(program->plan->outputs, index, info, "output");
  });
}

int dlc_program_output_counter(const dlc_program *program, size_t index, int32_t *dimension,
                               size_t *counter) {
  const std::vector<TensorInfo> &outputs = program->plan->outputs;
  if (index >= outputs.size() || outputs[index].counter < 0)
    return 0;
  if (dimension)
    *dimension = static_cast<int32_t>(outputs[index].countedDim);
  if (counter)
    *counter = static_cast<size_t>(outputs[index].counter);
  return 1;
}

size_t dlc_program_state_count(const dlc_program *program) { return program->plan->states.size(); }
dlc_error *dlc_program_state(const dlc_program *program, size_t index, dlc_tensor_info *info) {
  return catchErrors([&] {
    requireArguments("dlc_program_state", {{"program", program}, {"info", info}});
    describe(program->plan->states, index, info, "state");
  });
}
int dlc_program_state_is_parameter(const dlc_program *program, size_t index) {
  return index < program->plan->states.size() && program->plan->states[index].parameter;
}

dlc_error *dlc_session_create(const dlc_program *program, const dlc_session_options *options,
                              dlc_session **session) {
  return catchErrors([&] {
    requireArguments("dlc_session_create", {{"program", program}, {"session", session}});
    *session = nullptr;
    SessionOptions converted;
    std::shared_ptr<Session> lender;
    if (options) {
      if (options->share_state)
        lender = options->share_state->now();
      converted = {options->threads, lender.get(), {}};
    }
    auto made = std::make_unique<dlc_session>();
    made->kept.push_back({*program, std::make_shared<Session>(program->program, converted)});
    converted.shareState = nullptr;
    made->options = converted;
    *session = made.release();
  });
}

static std::pair<int64_t, uint32_t> getDynamicDimension(const TensorInfo &info) {
  return {info.counter, info.countedDim};
}

/// Throws dlc::Error unless two programs have the same inputs, outputs or states in the same order,
/// so that the replacement of a program is transparent to callers.
template <typename Info>
static void requireAlike(const std::vector<Info> &now, const std::vector<Info> &then,
                         const char *what) {
  if (now.size() != then.size())
    fail("a program with ", then.size(), " ", what, "s cannot replace one with ", now.size());
  for (size_t i = 0; i < now.size(); ++i)
    if (now[i].name != then[i].name || now[i].dtype != then[i].dtype ||
        now[i].shape != then[i].shape ||
        getDynamicDimension(now[i]) != getDynamicDimension(then[i]))
      fail(what, " ", i, " is '", then[i].name, "' (", dtypeName(then[i].dtype), " ",
           formatList(then[i].shape), ") in the new program and '", now[i].name, "' (",
           dtypeName(now[i].dtype), " ", formatList(now[i].shape),
           ") in the running program; required: another compilation of the same model");
}

dlc_error *dlc_session_replace(dlc_session *session, const dlc_program *program) {
  return catchErrors([&] {
    requireArguments("dlc_session_replace", {{"session", session}, {"program", program}});
    std::shared_ptr<Session> now = session->now();
    requireAlike(now->plan().inputs, program->plan->inputs, "input");
    requireAlike(now->plan().outputs, program->plan->outputs, "output");
    requireAlike(now->plan().states, program->plan->states, "state");
    SessionOptions options = session->options;
    options.shareState = now.get();
    auto made = std::make_shared<Session>(program->program, options);
    std::lock_guard lock(session->mutex);
    if (session->kept.front().session != now)
      fail("another thread has replaced the program; call dlc_session_replace again");
    session->kept.front().session = nullptr;
    session->kept.push_front({*program, std::move(made)});
  });
}

void dlc_session_destroy(dlc_session *session) { delete session; }
const dlc_program *dlc_session_program(const dlc_session *session) {
  std::lock_guard lock(session->mutex);
  return &session->kept.front().program;
}

void dlc_session_memory(const dlc_session *session, dlc_memory_figures *figures) {
  MemoryFigures found = session->now()->memory();
  *figures = {found.arenaBytes, found.scratchBytes, found.constantBytes, found.codeBytes,
              found.stateBytes};
}

namespace {

/// Array of the addresses of inputs or outputs, stored on the stack for usual numbers of tensors.
template <typename T> class Addresses {
public:
  explicit Addresses(size_t count) : count(count) {
    if (count > kInline)
      many.resize(count);
  }
  T *data() { return count > kInline ? many.data() : few; }
  std::span<T> all() { return {data(), count}; }

private:
  static constexpr size_t kInline = 16;
  size_t count;
  T few[kInline] = {};
  std::vector<T> many;
};

using Copies = std::vector<std::vector<uint8_t>>;

void collectInputs(const Plan &plan, const DLTensor *inputs, size_t count, BoundArray *arguments,
                   Copies &copies) {
  if (count != plan.inputs.size())
    fail("required: ", plan.inputs.size(), " inputs of the program; found: ", count,
         "; pass one tensor for each, in the order of dlc_program_input");
  if (count > 0 && !inputs)
    fail("argument 'inputs' is NULL; required: ", count, " tensors");
  std::vector<uint8_t> copy;
  for (size_t i = 0; i < count; ++i) {
    const void *data = inputData(inputs[i], plan.inputs[i], copy);
    arguments[i] = {const_cast<void *>(data), copy.empty() ? deviceOf(inputs[i]) : nullptr};
    if (!copy.empty())
      copies.push_back(std::exchange(copy, {}));
  }
}

void checkOutputs(const Plan &plan, const void *outputs, size_t count) {
  if (count != plan.outputs.size())
    fail("required: ", plan.outputs.size(), " outputs of the program; found: ", count,
         "; pass one tensor for each, in the order of dlc_program_output");
  if (count > 0 && !outputs)
    fail("argument 'outputs' is NULL; required: ", count, " tensors");
}

/// Runs the session on arrays on any device; skips all device handling if all arrays are on the
/// host.
void runArguments(Session &session, std::span<const BoundArray> inputs,
                  std::span<const BoundArray> outputs) {
  auto isElsewhere = [](const BoundArray &argument) { return argument.device != nullptr; };
  if (std::any_of(inputs.begin(), inputs.end(), isElsewhere) ||
      std::any_of(outputs.begin(), outputs.end(), isElsewhere))
    return session.runOn(inputs, outputs);
  Addresses<const void *> from(inputs.size());
  Addresses<void *> to(outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    from.data()[i] = inputs[i].data;
  for (size_t i = 0; i < outputs.size(); ++i)
    to.data()[i] = outputs[i].data;
  session.run(from.all(), to.all());
}

} // namespace

dlc_error *dlc_session_run(dlc_session *session, const DLTensor *inputs, size_t input_count,
                           const DLTensor *outputs, size_t output_count) {
  return catchErrors([&] {
    requireArguments("dlc_session_run", {{"session", session}});
    std::shared_ptr<Session> now = session->now();
    const Plan &plan = now->plan();
    Addresses<BoundArray> from(input_count), to(output_count);
    Copies copies;
    collectInputs(plan, inputs, input_count, from.data(), copies);
    checkOutputs(plan, outputs, output_count);
    for (size_t i = 0; i < output_count; ++i) {
      void *data = outputData(outputs[i], plan.outputs[i]);
      to.data()[i] = {data, deviceOf(outputs[i])};
    }
    runArguments(*now, from.all(), to.all());
  });
}

dlc_error *dlc_session_run_alloc(dlc_session *session, const DLTensor *inputs, size_t input_count,
                                 DLManagedTensor **outputs, size_t output_count) {
  return catchErrors([&] {
    requireArguments("dlc_session_run_alloc", {{"session", session}});
    std::shared_ptr<Session> now = session->now();
    const Plan &plan = now->plan();
    Addresses<BoundArray> from(input_count), to(output_count);
    Copies copies;
    collectInputs(plan, inputs, input_count, from.data(), copies);
    checkOutputs(plan, outputs, output_count);
    struct Release {
      void operator()(DLManagedTensor *tensor) const { tensor->deleter(tensor); }
    };
    std::vector<std::unique_ptr<DLManagedTensor, Release>> made;
    for (size_t i = 0; i < output_count; ++i) {
      outputs[i] = nullptr;
      made.emplace_back(allocateTensor(plan.outputs[i]));
      to.data()[i] = {made[i]->dl_tensor.data, nullptr};
    }
    runArguments(*now, from.all(), to.all());
    for (size_t i = 0; i < output_count; ++i) {
      const TensorInfo &info = plan.outputs[i];
      if (info.counter >= 0) {
        const void *count = to.data()[info.counter].data;
        made[i]->dl_tensor.shape[info.countedDim] =
            resultShape(info, *static_cast<const int64_t *>(count))[info.countedDim];
      }
    }
    for (size_t i = 0; i < output_count; ++i)
      outputs[i] = made[i].release();
  });
}

dlc_error *dlc_session_get_state(const dlc_session *session, const char *name,
                                 const DLTensor *value) {
  return catchErrors([&] {
    requireArguments("dlc_session_get_state",
                     {{"session", session}, {"name", name}, {"value", value}});
    std::shared_ptr<Session> now = session->now();
    const StateSet &states = now->states();
    size_t index = states.indexOf(name);
    const StateInfo &info = now->plan().states[index];
    void *to = outputData(*value, info, "state");
    Device *device = deviceOf(*value);
    if (!device)
      return states.get(index, to);
    std::vector<uint8_t> copy(info.bytes);
    states.get(index, copy.data());
    copyBytes(to, *device, copy.data(), hostDevice(), info.bytes);
  });
}

dlc_error *dlc_session_set_state(dlc_session *session, const char *name, const DLTensor *value) {
  return catchErrors([&] {
    requireArguments("dlc_session_set_state",
                     {{"session", session}, {"name", name}, {"value", value}});
    std::shared_ptr<Session> now = session->now();
    StateSet &states = now->states();
    size_t index = states.indexOf(name);
    const StateInfo &info = now->plan().states[index];
    std::vector<uint8_t> copy;
    const void *from = inputData(*value, info, copy, "state");
    if (Device *device = deviceOf(*value)) {
      copy.resize(info.bytes);
      copyBytes(copy.data(), hostDevice(), from, *device, info.bytes);
      from = copy.data();
    }
    states.set(index, from);
  });
}

dlc_error *dlc_session_reset_state(dlc_session *session) {
  return catchErrors([&] { session->now()->states().reset(); });
}

dlc_error *dlc_session_save_state(const dlc_session *session, const char *path) {
  return catchErrors([&] {
    requireArguments("dlc_session_save_state", {{"session", session}, {"path", path}});
    session->now()->states().save(path);
  });
}

dlc_error *dlc_session_load_state(dlc_session *session, const char *path, unsigned flags) {
  return catchErrors([&] {
    requireArguments("dlc_session_load_state", {{"session", session}, {"path", path}});
    session->now()->states().load(path, flags & DLC_STATE_ALLOW_MISSING,
                                  flags & DLC_STATE_ALLOW_EXTRA);
  });
}

static void setPlace(const World &world, dlc_engine_place *place) {
  *place = {world.rank(), world.size(), world.localRank(), world.localSize()};
}

dlc_error *dlc_world(dlc_engine_place *place) {
  return catchErrors([&] {
    requireArguments("dlc_world", {{"place", place}});
    setPlace(World::ofProcess(), place);
  });
}

dlc_error *dlc_world_form(const dlc_engine_table *engine, const void *argument,
                          dlc_engine_place *place) {
  return catchErrors([&] {
    requireArguments("dlc_world_form", {{"engine", engine}, {"place", place}});
    setPlace(World::formOfProcess(*engine, argument), place);
  });
}

dlc_error *dlc_world_abort(const char *message) {
  return catchErrors([&] {
    requireArguments("dlc_world_abort", {{"message", message}});
    World::ofProcess().abort(message);
  });
}

dlc_error *dlc_session_join_world(dlc_session *session) {
  return catchErrors([&] {
    requireArguments("dlc_session_join_world", {{"session", session}});
    std::shared_ptr<Session> now = session->now();
    World *world = now->world();
    if (!world)
      return;
    world->agree("program", describeProgram(*now->program(), now->plan()));
    broadcastStates(*world, now->states(), now->plan());
  });
}

void dlc_session_set_trace(dlc_session *session, int enabled) {
  session->now()->setTrace(enabled != 0);
}

dlc_error *dlc_session_write_trace(dlc_session *session, const char *path) {
  return catchErrors([&] { session->now()->writeTrace(path); });
}
