//===- Session.cpp - preparation and execution of a program ------------------===//
#include "runtime/session/Session.h"

#include "runtime/device/cpu/Features.h"
#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Message.h"
#include "runtime/session/Binder.h"
#include "runtime/session/Buckets.h"
#include "runtime/session/HostExecutor.h"
#include "runtime/session/Overlap.h"
#include "runtime/session/StreamRunner.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/collectives/RankDevices.h"
#include "runtime/session/state/State.h"
#include "runtime/threads/ForeignOpenMp.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>

namespace dlc::runtime {

namespace {

struct FixedInput {
  uint32_t input;
  const void *value;
  uint64_t bytes;
};

StreamOrder streamOrder(const SessionOptions &options) {
  const char *asked = std::getenv("DLC_STREAM_ORDER");
  return parseStreamOrder(!options.streamOrder.empty() || !asked ? options.streamOrder : asked);
}

/// Returns the plan for execution in the world, in which all-reduces are merged into buckets.
Plan makePlan(const Program &program, const SessionOptions &options) {
  Plan plan = checkProgram(program);
  if (std::none_of(plan.commands.begin(), plan.commands.end(), isCollective))
    return plan;
  World &world = options.world ? *options.world : World::ofProcess();
  if (options.bucketBytes || world.size() > 1)
    joinBuckets(plan,
                options.bucketBytes ? *options.bucketBytes : computeBucketBytes(world.link()));
  return plan;
}

bool usesPlainLaunches(const SessionOptions &options) {
  const char *asked = std::getenv("DLC_PLAIN_LAUNCHES");
  return options.plainLaunches || (asked && *asked && *asked != '0');
}

/// Returns the world for the program's collectives: the one of the options, else the process's.
/// Returns null if there are no collectives and the options have no world.
World *selectWorld(const Plan &plan, const SessionOptions &options) {
  return options.world || !hasCollectives(plan) ? options.world : &World::ofProcess();
}

} // namespace

struct Session::Impl {
  std::shared_ptr<const Program> program;
  Plan plan;
  World *world;
  int threads = 1;
  Span code;
  StateSet states;
  Binder binder;
  std::vector<CommandInfo> infos;
  /// Exactly one of `executor` and `runner` is set: `executor` for a single stream on the host,
  /// otherwise `runner`.
  std::unique_ptr<HostExecutor> executor;
  std::unique_ptr<StreamRunner> runner;
  std::vector<FixedInput> fixedInputs;
  std::mutex mutex;
  bool tracing = false;
  std::atomic<bool> isParallel = true; ///< whether the last run had work for several threads
  std::vector<TraceEvent> events;
  /// Event at the end of the last run that was enqueued in a caller's stream; null if this run is
  /// known to be complete.
  std::shared_ptr<DeviceEvent> lastRun;

  Impl(std::shared_ptr<const Program> given, const SessionOptions &options)
      : program(std::move(given)), plan(makePlan(*program, options)),
        world(selectWorld(plan, options)),
        states(onOwnDevices(), *program,
               options.shareState ? &options.shareState->states() : nullptr, world),
        binder(plan, *program, states) {
    checkTarget();
    int available = hostThreads();
    threads = options.threads > 0 ? options.threads
              : plan.threads > 0  ? std::min(plan.threads, available)
                                  : available;
    ThreadScope scope(threads);
    code = executableCode(*program);
    describeCommands(plan, plan.commands, infos);
    if (plan.isPlain()) {
      std::vector<NumberedCommand> list;
      uint32_t number = 0;
      for (const Command &command : plan.commands) {
        list.push_back({&command, number});
        number += countCommands(command);
      }
      executor = std::make_unique<HostExecutor>(plan, binder, code, infos, list, threads, world);
    } else {
      runner =
          std::make_unique<StreamRunner>(plan, *program, binder, code, infos, threads,
                                         streamOrder(options), usesPlainLaunches(options), world);
    }
    for (size_t i = 0; i < plan.inputs.size(); ++i)
      if (int64_t value = plan.inputs[i].value; value >= 0)
        fixedInputs.push_back(
            {static_cast<uint32_t>(i), program->constants[value].data, plan.constantBytes[value]});
  }

  /// Waits for the enqueued runs, which use the session's memory.
  ~Impl() {
    try {
      settle();
    } catch (const std::exception &) {
      // Ignore the error, because a destructor cannot report it.
    }
  }

  /// Waits for the last enqueued run, which follows all earlier ones.
  void settle() {
    if (lastRun)
      std::exchange(lastRun, nullptr)->synchronize();
  }

  const Plan &onOwnDevices() {
    if (world)
      assignRankDevices(plan, *world);
    return plan;
  }

  void checkTarget() {
    std::string missing;
    bool tiles = false;
    for (const std::string &feature : plan.features) {
      tiles |= feature == getFeatureName(Feature::AmxTile);
      if (!hostHasFeature(feature))
        missing += (missing.empty() ? "" : ", ") + feature +
                   (isKnownFeature(feature) ? "" : " (unknown to this runtime)");
    }
    if (!missing.empty())
      fail("program '", plan.name,
           "' was compiled for CPU features that this processor lacks: ", missing,
           "; compile the model on this machine");
    if (tiles && !requestTilePermission())
      fail("program '", plan.name, "' needs AMX tiles, which the operating system does not permit");
  }

  void checkCounts(size_t inputs, size_t outputs) const {
    if (inputs != plan.inputs.size())
      fail("program '", plan.name, "' has ", plan.inputs.size(), " inputs; found: ", inputs);
    if (outputs != plan.outputs.size())
      fail("program '", plan.name, "' has ", plan.outputs.size(), " outputs; found: ", outputs);
  }

  void checkInput(size_t i, const void *data) const {
    if (!data && plan.inputs[i].bytes > 0)
      fail("input '", plan.inputs[i].name, "' has no data");
  }

  void checkOutput(size_t i, const void *data) const {
    if (!data && plan.outputs[i].bytes > 0)
      fail("output '", plan.outputs[i].name, "' has no memory");
  }

  void checkFixed(const FixedInput &fixed, const void *data) const {
    if (fixed.bytes && std::memcmp(data, fixed.value, fixed.bytes) != 0)
      fail("input '", plan.inputs[fixed.input].name,
           "' differs from the value that the program was compiled for; compile it again with the "
           "new value, or without a value for that input");
  }

  /// Checks the arguments of runOn(), whose arrays may be on any device.
  void checkArguments(std::span<const BoundArray> inputs,
                      std::span<const BoundArray> outputs) const {
    checkCounts(inputs.size(), outputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      checkInput(i, inputs[i].data);
    for (size_t i = 0; i < outputs.size(); ++i)
      checkOutput(i, outputs[i].data);
    for (const FixedInput &fixed : fixedInputs) {
      const BoundArray &given = inputs[fixed.input];
      if (!given.device || given.device->hasHostMemory()) {
        checkFixed(fixed, given.data);
        continue;
      }
      std::vector<char> copy(fixed.bytes);
      copyBytes(copy.data(), hostDevice(), given.data, *given.device, fixed.bytes);
      checkFixed(fixed, copy.data());
    }
  }

  /// Enqueues the copies of arguments on other devices, and the commands. Returns whether the host
  /// must wait for the stream.
  bool submit(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs,
              void *stream) {
    bool waits = binder.bindInStream(inputs, outputs, stream);
    try {
      runner->enqueue(stream);
    } catch (const std::exception &error) {
      if (!runner->hasWrittenState())
        throw;
      markTorn(error);
    }
    return binder.collectInStream(outputs, stream) || waits;
  }

  std::shared_ptr<DeviceEvent> enqueue(std::span<const BoundArray> inputs,
                                       std::span<const BoundArray> outputs, void *stream) {
    Device &device = *runner->enqueueDevice();
    StateSet::Lock stateLock(states, true);
    states.requireWhole("run");
    // The last run that used the states, which may be another session's, follows the last run of
    // this session. So the stream need not wait for both.
    if (!plan.states.empty())
      states.makeWait(stream);
    else if (lastRun)
      lastRun->makeWait(stream);
    bool waits = true;
    std::exception_ptr error;
    try {
      waits = submit(inputs, outputs, stream);
    } catch (...) {
      error = std::current_exception();
    }
    // The event is recorded after an error, too, because submitted commands use the session's
    // memory.
    lastRun = DeviceEvent::recordOn(device, stream);
    states.setLastRun(lastRun);
    if (waits)
      lastRun->synchronize();
    if (error)
      std::rethrow_exception(error);
    return lastRun;
  }

  void run() {
    try {
      settle();
      runCommands();
    } catch (const std::exception &error) {
      // Abort the world, because the other ranks wait for collectives that this rank will not
      // start.
      if (world && world->size() > 1 && hasCollectives(plan))
        world->abort(error.what());
      throw;
    }
  }

  void runCommands() {
    StateSet::Lock stateLock(states);
    states.requireWhole("run");
    if (runner)
      return runStreams();
    ThreadScope scope(threads);
    const uint64_t before = threads::jobs();
    if (isParallel)
      threads::runWithForeignThreads([](void *self) { static_cast<Impl *>(self)->runOnHost(); },
                                     this);
    else
      runOnHost();
    isParallel = threads::jobs() != before;
  }

  void runOnHost() {
    executor->tracing = tracing;
    executor->run(0, executor->firstUpdate());
    try {
      executor->run(executor->firstUpdate(), executor->end());
    } catch (const std::exception &error) {
      markTorn(error);
    }
  }

  void runStreams() {
    try {
      runner->run(tracing, events);
    } catch (const std::exception &error) {
      if (!runner->hasWrittenState())
        throw;
      markTorn(error);
    }
  }

  [[noreturn]] void markTorn(const std::exception &error) {
    states.markTorn(error.what());
    fail(error.what(), "; the failed run has updated only a part of the program's state: load a "
                       "checkpoint or reset the state");
  }
};

Session::Session(std::shared_ptr<const Program> program, const SessionOptions &options)
    : impl(std::make_unique<Impl>(std::move(program), options)) {}
Session::~Session() = default;

const Plan &Session::plan() const { return impl->plan; }
const std::shared_ptr<const Program> &Session::program() const { return impl->program; }
int Session::threads() const { return impl->threads; }
bool Session::isParallel() const { return impl->isParallel; }
World *Session::world() const { return impl->world; }

MemoryFigures Session::memory() const {
  uint64_t scratch = impl->executor ? impl->executor->scratchBytes() : impl->runner->scratchBytes();
  MemoryFigures figures{impl->binder.arenaBytes(), scratch, 0, impl->code.bytes,
                        impl->states.ownBytes()};
  for (uint64_t bytes : impl->plan.constantBytes)
    figures.constantBytes += bytes;
  return figures;
}

void Session::run(std::span<const void *const> inputs, std::span<void *const> outputs) {
  if (impl->plan.devices.size() > 1)
    return runOnHost(inputs, outputs);
  std::lock_guard lock(impl->mutex);
  impl->checkCounts(inputs.size(), outputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    impl->checkInput(i, inputs[i]);
  for (size_t i = 0; i < outputs.size(); ++i)
    impl->checkOutput(i, outputs[i]);
  for (const FixedInput &fixed : impl->fixedInputs)
    impl->checkFixed(fixed, inputs[fixed.input]);
  impl->binder.bindInputs(inputs);
  impl->binder.bindOutputs(outputs);
  impl->run();
}

void Session::runOnHost(std::span<const void *const> inputs, std::span<void *const> outputs) {
  std::vector<BoundArray> from, to;
  for (const void *input : inputs)
    from.push_back({const_cast<void *>(input), nullptr});
  for (void *output : outputs)
    to.push_back({output, nullptr});
  runOn(from, to);
}

void Session::runOn(std::span<const BoundArray> inputs, std::span<const BoundArray> outputs) {
  std::lock_guard lock(impl->mutex);
  impl->settle();
  impl->checkArguments(inputs, outputs);
  impl->binder.bindArguments(inputs, outputs);
  impl->run();
  impl->binder.collectOutputs(outputs);
}

Device *Session::enqueueDevice() const {
  return impl->runner ? impl->runner->enqueueDevice() : nullptr;
}

std::shared_ptr<DeviceEvent> Session::enqueue(std::span<const BoundArray> inputs,
                                              std::span<const BoundArray> outputs, void *stream) {
  std::lock_guard lock(impl->mutex);
  Device *device = enqueueDevice();
  if (!device)
    fail("program '", impl->plan.name,
         "' cannot be enqueued in a stream; required: a program with "
         "a single stream on a GPU; call run instead");
  if (!impl->fixedInputs.empty() || impl->tracing)
    device->call(device->table.stream_synchronize, stream);
  impl->checkArguments(inputs, outputs);
  if (!impl->tracing)
    return impl->enqueue(inputs, outputs, stream);
  impl->settle();
  impl->binder.bindArguments(inputs, outputs);
  impl->run();
  impl->binder.collectOutputs(outputs);
  return DeviceEvent::recordOn(*device, stream);
}

StateSet &Session::states() const { return impl->states; }

void Session::bindState(size_t index, void *memory, uint64_t bytes, const Device *device) {
  const Plan &plan = impl->plan;
  if (index >= plan.states.size())
    fail("program '", plan.name, "' has ", plan.states.size(), " states; found: state number ",
         index);
  const StateInfo &info = plan.states[index];
  if (plan.devices.size() > 1 && info.device == 0)
    fail("program '", plan.name, "' runs on ", plan.devices.size(),
         " devices; required to bind state '", info.name,
         "' to the host's memory: a program that uses only the host");
  if (memory && bytes != info.bytes)
    fail("state '", info.name, "' of program '", plan.name, "' has ", info.bytes,
         " bytes; found: memory of ", bytes);
  std::lock_guard lock(impl->mutex);
  impl->states.bind(index, memory, device);
  impl->binder.bindState(static_cast<uint32_t>(index));
}

std::vector<CommandInfo> Session::commands() const { return impl->infos; }

uint64_t Session::graphLaunches() const {
  std::lock_guard lock(impl->mutex);
  return impl->runner ? impl->runner->graphLaunches() : 0;
}

void Session::setTrace(bool enabled) {
  std::lock_guard lock(impl->mutex);
  impl->tracing = enabled;
}

std::vector<TraceEvent> Session::takeTrace() {
  std::lock_guard lock(impl->mutex);
  return impl->executor ? std::exchange(impl->executor->events, {})
                        : std::exchange(impl->events, {});
}

} // namespace dlc::runtime
