//===- DeviceExecutor.cpp - submits a stream's commands to a device ----------===//
#include "runtime/session/DeviceExecutor.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Message.h"
#include "runtime/program/Streams.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

namespace dlc::runtime {

namespace {

/// Maximum number of commands that a loop in a captured graph may execute, over all its iterations.
constexpr int64_t kMaxOfLoop = 4096;

} // namespace

Modules::~Modules() {
  for (void *module : loaded)
    if (module)
      device.table.module_unload(device.handle, module);
}

void *Modules::function(const Kernel &kernel) {
  void *&module = loaded[static_cast<size_t>(kernel.module)];
  if (!module) {
    const Span &image = program.constants[plan.modules[static_cast<size_t>(kernel.module)].image];
    device.call(device.table.module_load, image.data, uint64_t(image.bytes), &module);
  }
  void *found = nullptr;
  device.call(device.table.function, module, kernel.function.c_str(), &found);
  return found;
}

DeviceExecutor::DeviceExecutor(const Plan &plan, Binder &binder, Device &device, Modules &modules,
                               const Span &code, std::vector<CommandInfo> &infos,
                               const std::vector<NumberedCommand> &commands, int threads,
                               uint32_t number, EventSink *events, bool plainLaunches, World *world)
    : plan(plan), binder(binder), device(device), modules(modules), code(code), infos(infos),
      threads(threads), streamNumber(number), events(events), world(world) {
  try {
    device.call(device.table.stream_create, &stream);
    for (const NumberedCommand &numbered : commands) {
      uint32_t at = numbered.number;
      steps.push_back(prepare(*numbered.command, at));
    }
    workspace = DeviceMemory(device, workspaceBytes, "the workspace of libraries");
    scratch = Block(scratchWanted, "scratch memory");
    if (!plainLaunches && device.kind.can(DLC_DEVICE_GRAPHS))
      findGraphs();
  } catch (...) {
    release();
    throw;
  }
}

DeviceExecutor::~DeviceExecutor() { release(); }

void DeviceExecutor::destroy(const Timed &one) {
  for (void *event : {one.from, one.to})
    if (event)
      device.table.event_destroy(device.handle, event);
}

void DeviceExecutor::release() {
  for (const Timed &one : timed)
    destroy(one);
  timed.clear();
  captures.clear();
  for (void *call : calls)
    device.table.library_destroy(device.handle, call);
  calls.clear();
  if (stream)
    device.table.stream_destroy(device.handle, stream);
  stream = nullptr;
}

std::unique_ptr<DeviceExecutor::Step> DeviceExecutor::prepare(const Command &command,
                                                              uint32_t &number) {
  auto step = std::make_unique<Step>();
  step->command = &command;
  step->executor = this;
  step->number = number++;
  std::vector<uint32_t> buffers = command.buffers;
  auto slot = [&](int64_t index) {
    if (index < 0)
      return int64_t(-1);
    buffers.push_back(static_cast<uint32_t>(index));
    return static_cast<int64_t>(buffers.size() - 1);
  };
  step->trip = slot(command.trip);
  step->cond = slot(command.cond);
  step->index = slot(command.index);
  step->count = slot(command.count);
  step->buffers.resize(buffers.size());
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (plan.buffers[buffers[i]].step)
      loopAddresses->add(plan, binder, &step->buffers[i], buffers[i]);
    else
      binder.bind(&step->buffers[i], buffers[i]);
    step->arguments.push_back(&step->buffers[i]);
    step->updates |= plan.buffers[buffers[i]].fresh;
  }
  bool isWork = command.op == Op::Launch || command.op == Op::Library;
  if (isWork && device.kind.can(DLC_DEVICE_HOST_CODE)) {
    prepareHostWork(command, *step);
  } else if (command.op == Op::Launch) {
    const Kernel &kernel = plan.kernels[command.kernel];
    step->function = modules.function(kernel);
    infos[step->number].implementation = kernel.name;
  } else if (command.op == Op::Library && command.library == kCollectiveLibrary) {
    prepareCollective(command, *step);
  } else if (command.op == Op::Library && command.library == kShardCopyLibrary) {
    prepareShardCopy(command, *step);
  } else if (command.op == Op::Library) {
    prepareLibrary(command, *step);
  } else if (command.op == Op::Copy) {
    prepareCopy(command, *step);
  }
  LoopAddresses *outer = loopAddresses;
  if (command.op == Op::Loop)
    loopAddresses = &step->loopAddresses;
  for (const Command &inner : command.body) {
    step->body.push_back(prepare(inner, number));
    step->updates |= step->body.back()->updates;
  }
  for (const Command &inner : command.orElse) {
    step->orElse.push_back(prepare(inner, number));
    step->updates |= step->orElse.back()->updates;
  }
  loopAddresses = outer;
  if (command.op == Op::Loop)
    prepareLoop(command, *step);
  return step;
}

/// Returns whether any of the commands, including those in their bodies, accesses bytes of the
/// buffer.
static bool accessesBuffer(const Plan &plan, const std::vector<Command> &commands, uint32_t index) {
  const Buffer &buffer = plan.buffers[index];
  return std::any_of(commands.begin(), commands.end(), [&](const Command &command) {
    for (const BufferUse &use : collectBufferUses(command)) {
      const Buffer &other = plan.buffers[use.buffer];
      const uint64_t begin = other.step ? other.begin : other.offset;
      const uint64_t end = other.step ? other.end : other.offset + other.bytes;
      if (other.space == buffer.space && other.index == buffer.index &&
          other.device == buffer.device && begin < buffer.offset + buffer.bytes &&
          buffer.offset < end)
        return true;
    }
    return accessesBuffer(plan, command.body, index) || accessesBuffer(plan, command.orElse, index);
  });
}

void DeviceExecutor::prepareLoop(const Command &command, Step &step) {
  if (command.trip >= 0)
    if (const void *value = binder.constantValue(static_cast<uint32_t>(command.trip)))
      std::memcpy(&step.trips, value, sizeof step.trips);
  // Do not write the loop index to memory if no command of the body reads it.
  if (command.index >= 0 &&
      !accessesBuffer(plan, command.body, static_cast<uint32_t>(command.index)))
    step.index = -1;
}

void DeviceExecutor::prepareLibrary(const Command &command, Step &step) {
  std::vector<uint64_t> bytes;
  bytes.reserve(command.buffers.size());
  std::vector<uint8_t> writable(command.buffers.size());
  for (uint32_t index : command.buffers)
    bytes.push_back(plan.buffers[index].bytes);
  for (uint32_t position : command.writes)
    writable[position] = 1;
  uint64_t wanted = 0;
  try {
    device.call(device.table.library_make, command.library.c_str(), command.desc.dump().c_str(),
                bytes.data(), writable.data(), bytes.size(), &step.call, &wanted);
  } catch (const Error &error) {
    failInCommand(infos[step.number], step.number, error.what());
  }
  calls.push_back(step.call);
  workspaceBytes = std::max(workspaceBytes, wanted);
  infos[step.number].implementation = command.library;
}

void DeviceExecutor::prepareCollective(const Command &command, Step &step) {
  CommandInfo &info = infos[step.number];
  try {
    step.collective = std::make_unique<CollectiveDesc>(
        readCollective(command.desc, bufferInfos(plan, command), *world));
    info.implementation = "collective:" + step.collective->kind;
    if (world->engine().empty())
      return; // In a world of one rank, the collective is a copy.
    if (!device.kind.can(DLC_DEVICE_COLLECTIVES))
      fail("devices of kind ", device.name.kind, " do not support collectives; place '",
           command.name, "' on ", kHostName);
    needsGroup = true;
  } catch (const Error &error) {
    failInCommand(info, step.number, error.what());
  }
  info.implementation += "/" + device.name.kind;
}

void DeviceExecutor::prepareShardCopy(const Command &command, Step &step) {
  try {
    step.own = shardPieces(command.desc, bufferInfos(plan, command), world);
  } catch (const Error &error) {
    failInCommand(infos[step.number], step.number, error.what());
  }
  infos[step.number].implementation = command.library;
}

void DeviceExecutor::formGroup() {
  if (needsGroup && !group)
    group = DeviceGroup::of(*world, device);
}

void DeviceExecutor::runCollective(const Step &step) {
  const CollectiveCall &call = step.collective->call;
  const uint64_t bytes = call.share * dtypeBytes(call.type);
  if (bytes == 0)
    return;
  if (group)
    group->run(*step.collective, step.buffers.data(), target);
  else if (step.buffers[0] != step.buffers[1])
    device.call(device.table.copy, target, step.buffers[1],
                static_cast<const void *>(step.buffers[0]), bytes, int(DLC_COPY_WITHIN),
                static_cast<void *>(nullptr));
  if (step.collective->onlyTo >= 0 && step.collective->onlyTo != world->rank())
    device.call(device.table.fill, target, step.buffers[1], uint8_t(0), bytes);
}

void DeviceExecutor::prepareHostWork(const Command &command, Step &step) {
  CommandInfo &info = infos[step.number];
  if (command.op == Op::Launch) {
    step.work = makeHostLaunch(plan, command, code);
    info.implementation = plan.kernels[command.kernel].name;
  } else {
    try {
      hostCalls.push_back(hostCall(plan, command, threads, world));
    } catch (const Error &error) {
      failInCommand(info, step.number, error.what());
    }
    step.work.call = hostCalls.back().get();
    info.implementation = step.work.call->implementation();
  }
  scratchWanted = std::max(scratchWanted, step.work.scratchBytes(threads));
}

int DeviceExecutor::runHostWork(void *context, void *const *addresses, char *error, size_t size) {
  const Step &step = *static_cast<Step *>(context);
  DeviceExecutor &executor = *step.executor;
  try {
    ThreadScope scope(executor.threads);
    step.work.run(addresses, executor.scratch.data(), executor.threads);
    return 0;
  } catch (const std::exception &exception) {
    std::snprintf(error, size, "%s", exception.what());
    return 1;
  }
}

void DeviceExecutor::prepareCopy(const Command &command, Step &step) {
  Device *from = binder.device(plan.buffers[command.buffers[0]].device);
  Device *to = binder.device(plan.buffers[command.buffers[1]].device);
  if (!canCopyDirectly(*to, *from))
    failInCommand(infos[step.number], step.number,
                  message("copies from ", from->name.text(), " to ", to->name.text(),
                          " are not supported; copy through ", kHostName));
  step.direction = copyDirection(*to, *from);
  step.peer = step.direction == DLC_COPY_FROM_PEER ? from : nullptr;
}

template <typename T> T DeviceExecutor::read(const void *address) {
  T value{};
  device.call(device.table.copy, target, static_cast<void *>(&value), address, sizeof value,
              int(DLC_COPY_DEVICE_TO_HOST), static_cast<void *>(nullptr));
  device.call(device.table.stream_synchronize, target);
  return value;
}

void DeviceExecutor::writeInteger(void *address, int64_t value) {
  pending.push_back(std::make_unique<int64_t>(value));
  device.call(device.table.copy, target, address, static_cast<const void *>(pending.back().get()),
              sizeof value, int(DLC_COPY_HOST_TO_DEVICE), static_cast<void *>(nullptr));
}

void DeviceExecutor::runLoop(Step &step) {
  const Command &command = *step.command;
  int64_t trip = step.trip < 0     ? INT64_MAX
                 : step.trips >= 0 ? step.trips
                                   : read<int64_t>(step.buffers[size_t(step.trip)]);
  int64_t iteration = 0;
  for (; iteration < trip && (step.cond < 0 || read<uint8_t>(step.buffers[size_t(step.cond)]) != 0);
       ++iteration) {
    if (command.max >= 0 && iteration >= command.max) {
      if (command.overflowIsError)
        fail("the loop exceeds its maximum of ", command.max, " iterations");
      break;
    }
    if (step.index >= 0)
      writeInteger(step.buffers[size_t(step.index)], iteration);
    step.loopAddresses.moveTo(iteration);
    for (auto &inner : step.body)
      runTimed(*inner);
  }
  if (step.count >= 0)
    writeInteger(step.buffers[size_t(step.count)], iteration);
}

void DeviceExecutor::runStep(Step &step) {
  const Command &command = *step.command;
  const dlc_device_table &table = device.table;
  // Report a sign of life, because other ranks may wait for this rank.
  if (world)
    world->alive();
  if (step.collective)
    return runCollective(step);
  if (step.work.kernel || step.work.call)
    return device.call(table.run, target, &DeviceExecutor::runHostWork, static_cast<void *>(&step),
                       static_cast<void *const *>(step.buffers.data()), step.buffers.size());
  if (step.own) {
    for (const ShardPiece &piece : *step.own)
      device.call(
          table.copy, target,
          static_cast<void *>(static_cast<char *>(step.buffers[piece.target]) + piece.to),
          static_cast<const void *>(static_cast<char *>(step.buffers[piece.buffer]) + piece.from),
          piece.bytes, int(DLC_COPY_WITHIN), static_cast<void *>(nullptr));
    return;
  }
  switch (command.op) {
  case Op::Launch:
    device.call(table.launch, target, step.function, command.grid.data(), command.block.data(),
                command.shared, step.arguments.data());
    break;
  case Op::Library:
    device.call(table.library_run, target, step.call, step.buffers.data(),
                static_cast<void *>(workspace.data()));
    break;
  case Op::Copy:
    if (command.bytes)
      device.call(table.copy, target, step.buffers[1], static_cast<const void *>(step.buffers[0]),
                  command.bytes, step.direction, step.peer ? step.peer->handle : nullptr);
    break;
  case Op::Fill:
    if (command.bytes)
      device.call(table.fill, target, step.buffers[0], command.byte, command.bytes);
    break;
  case Op::If: {
    bool taken = read<uint8_t>(step.buffers[size_t(step.cond)]) != 0;
    for (auto &inner : taken ? step.body : step.orElse)
      runTimed(*inner);
    break;
  }
  case Op::Loop:
    runLoop(step);
    break;
  case Op::Record:
    events->record(command.event);
    break;
  case Op::Wait:
    events->wait(command.event);
    break;
  }
}

void DeviceExecutor::runTimed(Step &step) {
  size_t at = timed.size();
  if (tracing) {
    Timed &one = timed.emplace_back(Timed{step.number, nullptr, nullptr});
    device.call(device.table.event_create, &one.from);
    device.call(device.table.event_create, &one.to);
    device.call(device.table.event_record, one.from, target);
  }
  try {
    runStep(step);
  } catch (const Error &error) {
    bool named = std::string(error.what()).find("command ") != std::string::npos;
    if (named || step.command->op == Op::Wait)
      throw;
    failInCommand(infos[step.number], step.number, error.what());
  }
  if (tracing)
    device.call(device.table.event_record, timed[at].to, target);
}

/// Returns whether the step always does the same work on the device, without the host, so that a
/// graph can contain it.
bool DeviceExecutor::isCapturable(const Step &step) const {
  switch (step.command->op) {
  case Op::Launch:
  case Op::Fill:
    return true;
  case Op::Library:
    return !step.collective;
  case Op::Copy:
    return step.direction == DLC_COPY_WITHIN;
  case Op::Loop:
    return step.trips >= 0 && step.cond < 0 && step.index < 0 && step.count < 0 &&
           step.trips * int64_t(step.body.size()) <= kMaxOfLoop &&
           std::all_of(step.body.begin(), step.body.end(),
                       [&](const auto &inner) { return isCapturable(*inner); });
  default:
    return false;
  }
}

void DeviceExecutor::findGraphs() {
  for (size_t first = 0; first < steps.size();) {
    size_t last = first;
    while (last < steps.size() && isCapturable(*steps[last]))
      ++last;
    if (last - first > 1 || (last > first && steps[first]->command->op == Op::Loop))
      captures.push_back(std::make_unique<GraphCapture>(device, first, last));
    first = last + 1;
  }
}

/// Appends the buffer addresses of a step and its body. For a loop, those of the first iteration
/// determine those of all others.
void DeviceExecutor::addAddresses(Step &step) {
  if (step.trips > 0)
    step.loopAddresses.moveTo(0);
  addresses.insert(addresses.end(), step.buffers.begin(), step.buffers.end());
  for (const auto &inner : step.body)
    addAddresses(*inner);
}

void DeviceExecutor::runCapture(GraphCapture &range) {
  addresses.clear();
  for (size_t i = range.first; i < range.last; ++i)
    addAddresses(*steps[i]);
  range.run(target, stream, addresses, [&](void *to) {
    void *outer = std::exchange(target, to);
    try {
      for (size_t i = range.first; i < range.last; ++i)
        runTimed(*steps[i]);
    } catch (...) {
      target = outer;
      throw;
    }
    target = outer;
  });
}

uint64_t DeviceExecutor::graphLaunches() const {
  uint64_t count = 0;
  for (const auto &range : captures)
    count += range->launches();
  return count;
}

void DeviceExecutor::run(void (*updating)(void *), void *context) {
  run(updating, context, stream);
}

void DeviceExecutor::run(void (*updating)(void *), void *context, void *on) {
  target = on;
  auto range = captures.begin();
  for (size_t i = 0; i < steps.size();) {
    // When tracing, commands are submitted individually to measure each one's time.
    bool together = !tracing && range != captures.end() && (*range)->first == i;
    size_t end = together ? (*range)->last : i + 1;
    for (size_t each = i; each < end; ++each)
      if (steps[each]->updates)
        updating(context);
    if (together)
      runCapture(**range++);
    else
      runTimed(*steps[i]);
    i = end;
  }
  // The host waits for a caller's stream only if a copy in it may still read `pending`.
  if (on == stream || pending.empty())
    return;
  device.call(device.table.stream_synchronize, on);
  pending.clear();
}

void DeviceExecutor::synchronize() {
  try {
    device.call(device.table.stream_synchronize, stream);
  } catch (const Error &) {
    // If the world has ended, streams fail as a consequence: report the reason for which the world
    // ended.
    if (std::string why = group ? group->whyEnded() : ""; !why.empty())
      throw Error(why);
    throw;
  }
  pending.clear();
  if (group)
    group->settle();
}

std::vector<TraceEvent> DeviceExecutor::takeTrace(void *base, int64_t baseNs) {
  std::vector<TraceEvent> result;
  for (const Timed &one : timed) {
    float from = 0, to = 0;
    char error[256];
    // Skip events that a failed run did not record: they have no times.
    auto elapsed = device.table.event_elapsed;
    if (elapsed(device.handle, base, one.from, &from, error, sizeof error) == 0 &&
        elapsed(device.handle, base, one.to, &to, error, sizeof error) == 0)
      result.push_back({one.number, baseNs + int64_t(double(from) * 1e6),
                        baseNs + int64_t(double(to) * 1e6), streamNumber});
    destroy(one);
  }
  timed.clear();
  return result;
}

} // namespace dlc::runtime
