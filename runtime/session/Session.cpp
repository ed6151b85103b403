//===- Session.cpp - making a program ready, and walking it -------------------===//
#include "runtime/session/Session.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/KernelContext.h"
#include "runtime/device/cpu/Memory.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/library/Library.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"
#include "runtime/session/State.h"

#include <chrono>
#include <cstring>
#include <mutex>

namespace dlc::runtime {

namespace {

/// One prepared command. Bodies of if and loop follow it in the list.
struct Step {
  Op op;
  uint32_t command;
  uint32_t bodyEnd = 0, elseEnd = 0;
  void **buffers = nullptr;
  // launch
  KernelFn kernel = nullptr;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0;
  // library
  LibraryCall *call = nullptr;
  // copy and fill
  uint64_t bytes = 0;
  int64_t fromStep = 0, toStep = 0, lastIteration = INT64_MAX;
  uint8_t byte = 0;
  // loop: slots of `buffers`, -1 where absent
  int8_t trip = -1, cond = -1, index = -1, count = -1;
  int64_t max = -1;
  bool overflowIsError = false;
};

/// A slot whose address depends on what the caller gives.
struct Patch {
  void **slot;
  uint32_t index;
  uint64_t offset;
};

struct FixedInput {
  uint32_t input;
  const void *value;
  uint64_t bytes;
};

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Scalars may lie in a caller's array of any alignment.
int64_t loadInteger(const void *from) {
  int64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void storeInteger(void *to, int64_t value) { std::memcpy(to, &value, sizeof value); }

const char *opName(Op op) {
  constexpr const char *names[] = {"launch", "library", "copy", "fill", "if", "loop"};
  return names[static_cast<int>(op)];
}

size_t slotCount(const std::vector<Command> &commands) {
  size_t count = 0;
  for (const Command &command : commands)
    count += command.buffers.size() + 4 + slotCount(command.body) + slotCount(command.orElse);
  return count;
}

} // namespace

struct Session::Impl {
  std::shared_ptr<const Program> program;
  Plan plan;
  int threads = 1;
  Span code;
  Block arena, scratch;
  StateSet states;
  /// Steps before this one write no state.
  uint32_t firstUpdate = UINT32_MAX, topLevel = 0;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::vector<void *> slots;
  size_t usedSlots = 0;
  std::vector<Patch> inputPatches, outputPatches;
  std::vector<FixedInput> fixedInputs;
  std::vector<Step> steps;
  std::vector<CommandInfo> infos;
  std::mutex mutex;
  bool tracing = false;
  std::vector<TraceEvent> events;
  std::vector<const void *> lastInputs;
  std::vector<void *> lastOutputs;

  Impl(std::shared_ptr<const Program> given, SessionOptions options)
      : program(std::move(given)), plan(checkProgram(*program)),
        states(plan, *program, options.shareState ? &options.shareState->states() : nullptr) {
    checkTarget();
    int available = hostThreads();
    threads = options.threads > 0 ? options.threads
              : plan.threads > 0  ? std::min(plan.threads, available)
                                  : available;
    ThreadScope scope(threads);
    code = executableCode(*program);
    arena = Block(plan.arenaBytes, "arena");
    slots.resize(slotCount(plan.commands));
    uint64_t scratchBytes = 0;
    for (const Command &command : plan.commands) {
      topLevel = static_cast<uint32_t>(steps.size());
      prepare(command, scratchBytes);
    }
    firstUpdate = std::min(firstUpdate, static_cast<uint32_t>(steps.size()));
    scratch = Block(scratchBytes, "scratch memory");
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (int64_t value = plan.inputs[i].value; value >= 0)
        fixedInputs.push_back(
            {static_cast<uint32_t>(i), program->constants[value].data, plan.constantBytes[value]});
    lastInputs.resize(plan.inputs.size());
    lastOutputs.resize(plan.outputs.size());
  }

  void checkTarget() {
    std::string missing;
    bool tiles = false;
    for (const std::string &feature : plan.features) {
      tiles |= feature == "amx-tile";
      if (!hostHasFeature(feature))
        missing += (missing.empty() ? "" : ", ") + feature +
                   (isKnownFeature(feature) ? "" : " (unknown to this runtime)");
    }
    if (!missing.empty())
      fail("program '", plan.name,
           "' was compiled for a CPU with features that this one lacks: ", missing,
           "; compile the model on this machine");
    if (tiles && !enableTiles())
      fail("program '", plan.name, "' needs AMX tiles, which the operating system refused");
  }

  void prepareAll(const std::vector<Command> &commands, uint64_t &scratchBytes) {
    for (const Command &command : commands)
      prepare(command, scratchBytes);
  }

  void bind(void **slot, uint32_t index) {
    const Buffer &buffer = plan.buffers[index];
    switch (buffer.space) {
    case Space::Arena:
      *slot = arena.data() + buffer.offset;
      break;
    case Space::Constant:
      *slot = static_cast<char *>(const_cast<void *>(program->constants[buffer.index].data)) +
              buffer.offset;
      break;
    case Space::Input:
      inputPatches.push_back({slot, buffer.index, buffer.offset});
      break;
    case Space::Output:
      outputPatches.push_back({slot, buffer.index, buffer.offset});
      break;
    case Space::State:
      *slot = states.data(buffer.index) + buffer.offset;
      if (buffer.fresh)
        firstUpdate = std::min(firstUpdate, topLevel);
      break;
    }
  }

  int8_t bindNext(Step &step, int64_t index, int8_t &next) {
    if (index < 0)
      return -1;
    bind(step.buffers + next, static_cast<uint32_t>(index));
    return next++;
  }

  void prepare(const Command &command, uint64_t &scratchBytes) {
    size_t at = steps.size();
    steps.push_back({command.op, static_cast<uint32_t>(infos.size())});
    infos.push_back(
        {command.name, opName(command.op), "", command.loc, command.flops, command.moved});
    Step step = steps[at];
    step.buffers = slots.data() + usedSlots;
    for (size_t i = 0; i < command.buffers.size(); ++i)
      bind(step.buffers + i, command.buffers[i]);
    usedSlots += command.buffers.size();
    switch (command.op) {
    case Op::Launch:
      prepareLaunch(command, step, scratchBytes);
      break;
    case Op::Library:
      prepareLibrary(command, step, scratchBytes);
      break;
    case Op::Copy:
      prepareCopy(command, step);
      break;
    case Op::Fill:
      step.bytes = command.bytes;
      step.byte = command.byte;
      break;
    case Op::If: {
      int8_t next = 0;
      step.cond = bindNext(step, command.cond, next);
      usedSlots += next;
      prepareAll(command.body, scratchBytes);
      step.bodyEnd = static_cast<uint32_t>(steps.size());
      prepareAll(command.orElse, scratchBytes);
      step.elseEnd = static_cast<uint32_t>(steps.size());
      break;
    }
    case Op::Loop: {
      int8_t next = 0;
      step.trip = bindNext(step, command.trip, next);
      step.cond = bindNext(step, command.cond, next);
      step.index = bindNext(step, command.index, next);
      step.count = bindNext(step, command.count, next);
      step.max = command.max;
      step.overflowIsError = command.overflowIsError;
      usedSlots += next;
      prepareAll(command.body, scratchBytes);
      step.bodyEnd = step.elseEnd = static_cast<uint32_t>(steps.size());
      break;
    }
    }
    if (command.op != Op::If && command.op != Op::Loop)
      step.bodyEnd = step.elseEnd = static_cast<uint32_t>(at + 1);
    steps[at] = step;
  }

  void prepareLaunch(const Command &command, Step &step, uint64_t &scratchBytes) {
    const Kernel &kernel = plan.kernels[command.kernel];
    const char *address = static_cast<const char *>(code.data) + kernel.offset;
    step.kernel = reinterpret_cast<KernelFn>(const_cast<char *>(address));
    step.extent = command.extent;
    step.grain = command.grain;
    step.scratch = format::alignUp(command.scratch, 64);
    scratchBytes = std::max(scratchBytes, step.scratch * threads);
    infos[step.command].implementation = kernel.name;
  }

  void prepareLibrary(const Command &command, Step &step, uint64_t &scratchBytes) {
    std::vector<BufferInfo> buffers;
    for (uint32_t index : command.buffers) {
      const Buffer &buffer = plan.buffers[index];
      buffers.push_back({buffer.bytes, buffer.space == Space::Arena ||
                                           buffer.space == Space::Output ||
                                           (buffer.space == Space::State && buffer.fresh)});
    }
    auto make = command.library == "onednn" ? makeOneDnnCall : makeBuiltinCall;
    try {
      calls.push_back(make(command.desc, buffers, threads));
    } catch (const Error &error) {
      failIn(step.command, error.what());
    }
    step.call = calls.back().get();
    scratchBytes = std::max(scratchBytes, step.call->scratchBytes());
    infos[step.command].implementation = step.call->implementation();
  }

  /// The last iteration in which the moving address still lies in what the buffer lies in.
  int64_t lastInside(uint32_t index, int64_t step, uint64_t bytes) const {
    const Buffer &buffer = plan.buffers[index];
    uint64_t limit = buffer.space == Space::Arena      ? plan.arenaBytes
                     : buffer.space == Space::Constant ? plan.constantBytes[buffer.index]
                     : buffer.space == Space::Input    ? plan.inputs[buffer.index].bytes
                     : buffer.space == Space::State    ? plan.states[buffer.index].bytes
                                                       : plan.outputs[buffer.index].bytes;
    if (step == 0)
      return INT64_MAX;
    if (step < 0)
      return static_cast<int64_t>(buffer.offset) / -step;
    return static_cast<int64_t>(limit - buffer.offset - bytes) / step;
  }

  void prepareCopy(const Command &command, Step &step) {
    step.bytes = command.bytes;
    step.fromStep = command.fromStep;
    step.toStep = command.toStep;
    step.lastIteration = std::min(lastInside(command.buffers[0], command.fromStep, command.bytes),
                                  lastInside(command.buffers[1], command.toStep, command.bytes));
  }

  [[noreturn]] void failIn(uint32_t command, const std::string &what) const {
    const CommandInfo &info = infos[command];
    fail(info.loc.empty() ? "" : info.loc + ": ", "command ", command, " '", info.name, "' (",
         info.op, "): ", what);
  }

  void runCopy(const Step &step, int64_t iteration) const {
    if (iteration > step.lastIteration)
      failIn(step.command, message("iteration ", iteration, " copies outside its buffers; at most ",
                                   step.lastIteration + 1, " iterations fit"));
    const char *from = static_cast<const char *>(step.buffers[0]) + iteration * step.fromStep;
    char *to = static_cast<char *>(step.buffers[1]) + iteration * step.toStep;
    if (step.bytes)
      std::memmove(to, from, step.bytes);
  }

  void runLaunch(const Step &step) const {
    const void *const *context = kernelContext();
    char *memory = step.scratch ? scratch.data() : nullptr;
    if (step.extent <= step.grain || threads == 1) {
      if (step.extent > 0)
        step.kernel(step.buffers, 0, step.extent, memory, context);
      return;
    }
    parallelFor(threads, step.extent, step.grain, [&](int64_t begin, int64_t end, int thread) {
      step.kernel(step.buffers, begin, end, memory ? memory + thread * step.scratch : nullptr,
                  context);
    });
  }

  void runLoop(uint32_t at) {
    const Step &step = steps[at];
    int64_t iteration = 0;
    auto wanted = [&] {
      return (step.trip < 0 || iteration < loadInteger(step.buffers[step.trip])) &&
             (step.cond < 0 || *static_cast<const uint8_t *>(step.buffers[step.cond]) != 0);
    };
    for (; wanted(); ++iteration) {
      if (step.max >= 0 && iteration >= step.max) {
        if (step.overflowIsError)
          failIn(step.command, message("the loop asks for more than ", step.max,
                                       " iterations, for which the program has room"));
        break;
      }
      if (step.index >= 0)
        storeInteger(step.buffers[step.index], iteration);
      runRange(at + 1, step.bodyEnd, iteration);
    }
    if (step.count >= 0)
      storeInteger(step.buffers[step.count], iteration);
  }

  void runRange(uint32_t begin, uint32_t end, int64_t iteration) {
    for (uint32_t at = begin; at < end; at = steps[at].elseEnd) {
      const Step &step = steps[at];
      int64_t start = tracing ? nowNs() : 0;
      switch (step.op) {
      case Op::Launch:
        runLaunch(step);
        break;
      case Op::Library:
        runLibrary(step);
        break;
      case Op::Copy:
        runCopy(step, iteration);
        break;
      case Op::Fill:
        std::memset(step.buffers[0], step.byte, step.bytes);
        break;
      case Op::If:
        if (*static_cast<const uint8_t *>(step.buffers[step.cond]))
          runRange(at + 1, step.bodyEnd, iteration);
        else
          runRange(step.bodyEnd, step.elseEnd, iteration);
        break;
      case Op::Loop:
        runLoop(at);
        break;
      }
      if (tracing)
        events.push_back({step.command, start, nowNs()});
    }
  }

  void runLibrary(const Step &step) {
    try {
      step.call->execute(step.buffers, {scratch.data(), threads});
    } catch (const Error &error) {
      failIn(step.command, error.what());
    }
  }

  /// Rebinds what changed since the last run; most callers give the same arrays every time.
  void bindInputs(std::span<const void *const> inputs) {
    if (std::equal(inputs.begin(), inputs.end(), lastInputs.begin(), lastInputs.end()))
      return;
    std::copy(inputs.begin(), inputs.end(), lastInputs.begin());
    for (const Patch &patch : inputPatches)
      *patch.slot = static_cast<char *>(const_cast<void *>(inputs[patch.index])) + patch.offset;
  }

  void bindOutputs(std::span<void *const> outputs) {
    if (std::equal(outputs.begin(), outputs.end(), lastOutputs.begin(), lastOutputs.end()))
      return;
    std::copy(outputs.begin(), outputs.end(), lastOutputs.begin());
    for (const Patch &patch : outputPatches)
      *patch.slot = static_cast<char *>(outputs[patch.index]) + patch.offset;
  }

  void checkArguments(std::span<const void *const> inputs, std::span<void *const> outputs) const {
    if (inputs.size() != plan.inputs.size())
      fail("program '", plan.name, "' takes ", plan.inputs.size(), " inputs, ", inputs.size(),
           " given");
    if (outputs.size() != plan.outputs.size())
      fail("program '", plan.name, "' has ", plan.outputs.size(), " outputs, ", outputs.size(),
           " given");
    for (size_t i = 0; i < inputs.size(); ++i)
      if (!inputs[i] && plan.inputs[i].bytes > 0)
        fail("input '", plan.inputs[i].name, "' has no data");
    for (size_t i = 0; i < outputs.size(); ++i)
      if (!outputs[i] && plan.outputs[i].bytes > 0)
        fail("output '", plan.outputs[i].name, "' has no memory");
    for (const FixedInput &fixed : fixedInputs)
      if (fixed.bytes && std::memcmp(inputs[fixed.input], fixed.value, fixed.bytes) != 0)
        fail(
            "input '", plan.inputs[fixed.input].name,
            "' differs from the value that the program was compiled for; compile it again with the "
            "new value, or leave that input unspecialised");
  }
};

Session::Session(std::shared_ptr<const Program> program, SessionOptions options)
    : impl(std::make_unique<Impl>(std::move(program), options)) {}
Session::~Session() = default;

const Plan &Session::plan() const { return impl->plan; }
const std::shared_ptr<const Program> &Session::program() const { return impl->program; }
int Session::threads() const { return impl->threads; }

MemoryFigures Session::memory() const {
  MemoryFigures figures{impl->arena.size(), impl->scratch.size(), 0, impl->code.bytes,
                        impl->states.ownBytes()};
  for (uint64_t bytes : impl->plan.constantBytes)
    figures.constantBytes += bytes;
  return figures;
}

void Session::run(std::span<const void *const> inputs, std::span<void *const> outputs) {
  std::lock_guard lock(impl->mutex);
  impl->checkArguments(inputs, outputs);
  impl->bindInputs(inputs);
  impl->bindOutputs(outputs);
  StateSet::Lock stateLock(impl->states);
  impl->states.requireWhole("run");
  ThreadScope scope(impl->threads);
  impl->runRange(0, impl->firstUpdate, 0);
  try {
    impl->runRange(impl->firstUpdate, static_cast<uint32_t>(impl->steps.size()), 0);
  } catch (const std::exception &error) {
    impl->states.tear(error.what());
    fail(error.what(), "; some of the program's state was updated before and some was not: load a "
                       "checkpoint or reset the state");
  }
}

StateSet &Session::states() const { return impl->states; }

std::vector<CommandInfo> Session::commands() const { return impl->infos; }

void Session::setTrace(bool enabled) {
  std::lock_guard lock(impl->mutex);
  impl->tracing = enabled;
}

std::vector<TraceEvent> Session::takeTrace() {
  std::lock_guard lock(impl->mutex);
  return std::exchange(impl->events, {});
}

} // namespace dlc::runtime
