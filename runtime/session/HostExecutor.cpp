//===- HostExecutor.cpp - preparation and execution of commands on the CPU ---===//
#include "runtime/session/HostExecutor.h"

#include "runtime/collective/World.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <chrono>
#include <cstring>

namespace dlc::runtime {

int64_t getNowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void failInCommand(const CommandInfo &info, uint32_t number, const std::string &what) {
  fail(info.loc.empty() ? "" : info.loc + ": ", "command ", number, " '", info.name, "' (", info.op,
       "): ", what);
}

namespace {

/// Loads an i64 scalar, which may be unaligned because it may be stored in a caller's array.
int64_t loadInteger(const void *from) {
  int64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void storeInteger(void *to, int64_t value) { std::memcpy(to, &value, sizeof value); }

const char *opName(Op op) {
  constexpr const char *names[] = {"launch", "library", "copy",   "fill",
                                   "if",     "loop",    "record", "wait"};
  return names[static_cast<int>(op)];
}

size_t countAddressSlots(const Command &command) {
  size_t count = command.buffers.size() + 4;
  for (const std::vector<Command> *body : {&command.body, &command.orElse})
    for (const Command &inner : *body)
      count += countAddressSlots(inner);
  return count;
}

} // namespace

uint32_t countCommands(const Command &command) {
  uint32_t count = 1;
  for (const std::vector<Command> *body : {&command.body, &command.orElse})
    for (const Command &inner : *body)
      count += countCommands(inner);
  return count;
}

void describeCommands(const Plan &plan, const std::vector<Command> &commands,
                      std::vector<CommandInfo> &infos) {
  for (const Command &command : commands) {
    infos.push_back({command.name, opName(command.op), "", command.loc, command.flops,
                     command.moved, plan.devices[plan.streams[command.stream]].name,
                     command.stream});
    describeCommands(plan, command.body, infos);
    describeCommands(plan, command.orElse, infos);
  }
}

HostExecutor::HostExecutor(const Plan &plan, Binder &binder, const Span &code,
                           std::vector<CommandInfo> &infos,
                           const std::vector<NumberedCommand> &commands, int threads, World *world,
                           EventSink *events)
    : plan(plan), binder(binder), code(code), infos(infos), threadCount(threads), world(world),
      eventSink(events), stepThreads(threads) {
  size_t count = 0;
  for (const NumberedCommand &numbered : commands)
    count += countAddressSlots(*numbered.command);
  slots.resize(count);
  uint64_t scratchBytes = 0;
  for (const NumberedCommand *at = commands.data(), *last = at + commands.size(); at != last;) {
    const NumberedCommand *next = at + 1;
    while (next != last && next->command->concurrent)
      ++next;
    topLevel = end();
    if (next - at > 1 && threads > 1)
      prepareGroup(at, next, scratchBytes);
    else
      for (; at != next; ++at) {
        topLevel = end();
        uint32_t number = at->number;
        prepare(*at->command, number, scratchBytes);
      }
    at = next;
  }
  update = std::min(update, end());
  scratch = Block(scratchBytes, "scratch memory");
}

void HostExecutor::bind(void **slot, uint32_t index) {
  if (plan.buffers[index].step)
    loopAddresses->add(plan, binder, slot, index);
  else
    binder.bind(slot, index);
  if (plan.buffers[index].fresh)
    update = std::min(update, topLevel);
}

void HostExecutor::prepareAll(const std::vector<Command> &commands, uint32_t &number,
                              uint64_t &scratchBytes) {
  for (const Command &command : commands)
    prepare(command, number, scratchBytes);
}

int8_t HostExecutor::bindNext(Step &step, int64_t index, int8_t &next) {
  if (index < 0)
    return -1;
  bind(step.buffers + next, static_cast<uint32_t>(index));
  return next++;
}

void HostExecutor::prepare(const Command &command, uint32_t &number, uint64_t &scratchBytes) {
  size_t at = steps.size();
  steps.push_back({command.op, number++});
  Step step = steps[at];
  step.buffers = slots.data() + usedSlots;
  for (size_t i = 0; i < command.buffers.size(); ++i)
    bind(step.buffers + i, command.buffers[i]);
  usedSlots += command.buffers.size();
  switch (command.op) {
  case Op::Launch:
  case Op::Library:
    prepareWork(command, step, scratchBytes);
    break;
  case Op::Copy:
    step.bytes = command.bytes;
    break;
  case Op::Fill:
    step.bytes = command.bytes;
    step.byte = command.byte;
    break;
  case Op::If:
  case Op::Loop:
    prepareBodies(command, at, step, number, scratchBytes);
    break;
  case Op::Record:
  case Op::Wait:
    step.bytes = command.event;
    break;
  }
  if (command.op != Op::If && command.op != Op::Loop)
    step.bodyEnd = step.elseEnd = static_cast<uint32_t>(at + 1);
  steps[at] = step;
}

void HostExecutor::prepareBodies(const Command &command, size_t at, Step &step, uint32_t &number,
                                 uint64_t &scratchBytes) {
  int8_t next = 0;
  step.trip = bindNext(step, command.trip, next);
  step.cond = bindNext(step, command.cond, next);
  step.index = bindNext(step, command.index, next);
  step.count = bindNext(step, command.count, next);
  step.max = command.max;
  step.overflowIsError = command.overflowIsError;
  usedSlots += static_cast<size_t>(next);
  LoopAddresses *outer = loopAddresses;
  if (command.op == Op::Loop)
    loopAddresses = step.loopAddresses = &loops.emplace_back();
  steps[at] = step;
  prepareAll(command.body, number, scratchBytes);
  step.bodyEnd = end();
  prepareAll(command.orElse, number, scratchBytes);
  step.elseEnd = end();
  loopAddresses = outer;
}

void HostExecutor::prepareGroup(const NumberedCommand *first, const NumberedCommand *last,
                                uint64_t &scratchBytes) {
  uint32_t begin = end();
  uint64_t offset = 0;
  ThreadScope scope(1);
  stepThreads = 1;
  for (const NumberedCommand *loop = first; loop != last; ++loop) {
    uint32_t at = end(), number = loop->number;
    uint64_t bytes = 0;
    prepare(*loop->command, number, bytes);
    for (uint32_t step = at; step < end(); ++step)
      steps[step].scratchOffset = offset;
    offset += format::alignUp(bytes, 64);
    groups[begin].push_back({at, {}, {}});
  }
  stepThreads = threadCount;
  steps[begin].groupEnd = end();
  scratchBytes = std::max(scratchBytes, offset);
}

void HostExecutor::prepareWork(const Command &command, Step &step, uint64_t &scratchBytes) {
  CommandInfo &info = infos[step.command];
  if (command.op == Op::Launch) {
    step.work = makeHostLaunch(plan, command, code);
    info.implementation = plan.kernels[command.kernel].name;
  } else {
    try {
      calls.push_back(hostCall(plan, command, stepThreads, world));
    } catch (const Error &error) {
      failInCommand(info, step.command, error.what());
    }
    step.work.call = calls.back().get();
    info.implementation = step.work.call->implementation();
  }
  step.threads = stepThreads;
  uint64_t bytes = step.work.scratchBytes(stepThreads);
  if (command.workspace >= 0 && bytes <= plan.buffers[static_cast<size_t>(command.workspace)].bytes)
    binder.bind(&step.workspace, static_cast<uint32_t>(command.workspace));
  else
    scratchBytes = std::max(scratchBytes, bytes);
}

void HostExecutor::runLoop(uint32_t at, std::vector<TraceEvent> &trace) {
  const Step &step = steps[at];
  int64_t iteration = 0;
  auto wanted = [&] {
    return (step.trip < 0 || iteration < loadInteger(step.buffers[step.trip])) &&
           (step.cond < 0 || *static_cast<const uint8_t *>(step.buffers[step.cond]) != 0);
  };
  for (; wanted(); ++iteration) {
    if (step.max >= 0 && iteration >= step.max) {
      if (step.overflowIsError)
        failInCommand(infos[step.command], step.command,
                      message("the loop exceeds its maximum of ", step.max, " iterations"));
      break;
    }
    if (step.index >= 0)
      storeInteger(step.buffers[step.index], iteration);
    try {
      step.loopAddresses->moveTo(iteration);
    } catch (const Error &error) {
      failInCommand(infos[step.command], step.command, error.what());
    }
    runRange(at + 1, step.bodyEnd, trace);
  }
  if (step.count >= 0)
    storeInteger(step.buffers[step.count], iteration);
}

void HostExecutor::runGroup(uint32_t at, std::vector<TraceEvent> &trace) {
  std::vector<ConcurrentLoop> &loops = groups.at(at);
  parallelFor(threadCount, int64_t(loops.size()), 1, [&](int64_t begin, int64_t end, int) {
    ThreadScope scope(1);
    for (int64_t i = begin; i < end; ++i) {
      ConcurrentLoop &loop = loops[size_t(i)];
      int64_t start = tracing ? getNowNs() : 0;
      try {
        runLoop(loop.at, loop.events);
      } catch (...) {
        loop.error = std::current_exception();
      }
      if (tracing)
        loop.events.push_back({steps[loop.at].command, start, getNowNs(), stream});
    }
  });
  std::exception_ptr error;
  for (ConcurrentLoop &loop : loops) {
    trace.insert(trace.end(), loop.events.begin(), loop.events.end());
    loop.events.clear();
    if (std::exception_ptr own = std::exchange(loop.error, nullptr); own && !error)
      error = own;
  }
  if (error)
    std::rethrow_exception(error);
}

void HostExecutor::runRange(uint32_t begin, uint32_t end, std::vector<TraceEvent> &trace) {
  for (uint32_t at = begin; at < end; at = steps[at].end()) {
    if (steps[at].groupEnd) {
      runGroup(at, trace);
      continue;
    }
    const Step &step = steps[at];
    int64_t start = tracing ? getNowNs() : 0;
    // Report a sign of life, because other ranks may wait for this rank.
    if (world)
      world->alive();
    switch (step.op) {
    case Op::Launch:
    case Op::Library:
      runWork(step);
      break;
    case Op::Copy:
      if (step.bytes)
        std::memmove(step.buffers[1], step.buffers[0], step.bytes);
      break;
    case Op::Fill:
      std::memset(step.buffers[0], step.byte, step.bytes);
      break;
    case Op::If:
      if (*static_cast<const uint8_t *>(step.buffers[step.cond]))
        runRange(at + 1, step.bodyEnd, trace);
      else
        runRange(step.bodyEnd, step.elseEnd, trace);
      break;
    case Op::Loop:
      runLoop(at, trace);
      break;
    case Op::Record:
      if (eventSink)
        eventSink->record(static_cast<uint32_t>(step.bytes));
      break;
    case Op::Wait:
      if (eventSink)
        eventSink->wait(static_cast<uint32_t>(step.bytes));
      break;
    }
    if (tracing)
      trace.push_back({step.command, start, getNowNs(), stream});
  }
}

void HostExecutor::runWork(const Step &step) {
  char *memory =
      step.workspace ? static_cast<char *>(step.workspace) : scratch.data() + step.scratchOffset;
  try {
    step.work.run(step.buffers, memory, step.threads);
  } catch (const Error &error) {
    failInCommand(infos[step.command], step.command, error.what());
  }
}

} // namespace dlc::runtime
