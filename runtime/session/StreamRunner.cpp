//===- StreamRunner.cpp - execution of several streams -----------------------===//
#include "runtime/session/StreamRunner.h"

#include "runtime/device/cpu/Parallel.h"
#include "runtime/program/Streams.h"
#include "runtime/session/DeviceExecutor.h"
#include "runtime/session/Events.h"
#include "runtime/session/collectives/Collectives.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <set>
#include <thread>

namespace dlc::runtime {

StreamOrder parseStreamOrder(const std::string &text) {
  if (text.empty())
    return {};
  size_t colon = text.find(':');
  std::string kind = text.substr(0, colon);
  std::string number = colon == std::string::npos ? "0" : text.substr(colon + 1);
  bool digits = !number.empty() && number.size() < 10 &&
                number.find_first_not_of("0123456789") == std::string::npos;
  if (!digits || (kind != "late" && kind != "first" && kind != "random"))
    fail("invalid order of streams; required: late:N, first:N or random:SEED; found: '", text, "'");
  return {kind == "late"    ? StreamOrder::Kind::Late
          : kind == "first" ? StreamOrder::Kind::First
                            : StreamOrder::Kind::Random,
          std::stoull(number)};
}

namespace {

/// A stream of the program: the executor of its commands, for a CPU or for another device, and its
/// events.
struct Stream : EventSink {
  uint32_t number = 0, deviceIndex = 0;
  Events *events = nullptr;
  std::unique_ptr<HostExecutor> executor;
  std::unique_ptr<DeviceExecutor> deviceExecutor;
  std::thread thread;
  std::string error;
  bool failed = false;

  void record(uint32_t event) override {
    if (deviceExecutor)
      events->recordOn(event, deviceExecutor->on(), deviceExecutor->handle());
    else
      events->record(event);
  }
  void wait(uint32_t event) override {
    if (deviceExecutor)
      events->waitOn(event, deviceExecutor->on(), deviceExecutor->handle());
    else
      events->wait(event);
  }
};

/// Returns the number of threads for each stream. The threads are divided among the streams of CPU
/// devices that work concurrently.
std::vector<int> divideThreads(const Plan &plan, int threads) {
  size_t count = plan.streams.size();
  std::vector<bool> computes(count);
  for (const Command &command : plan.commands)
    // Collectives mostly wait for other ranks, so a stream needs no thread for them.
    if (command.op != Op::Copy && command.op != Op::Record && command.op != Op::Wait &&
        !(command.op == Op::Library && command.library == kCollectiveLibrary))
      computes[command.stream] =
          plan.devices[plan.streams[command.stream]].can(DLC_DEVICE_HOST_CODE);
  auto atOnce = findConcurrentStreams(plan);
  std::vector<int> result(count, 1);
  for (size_t s = 0; s < count; ++s) {
    int working = 1;
    for (size_t other = 0; other < count; ++other)
      working += computes[other] && atOnce[s][other];
    if (computes[s])
      result[s] = std::max(1, threads / working);
  }
  return result;
}

} // namespace

struct StreamRunner::Impl {
  const Plan &plan;
  Binder &binder;
  StreamOrder order;
  bool atOnce; ///< one thread per stream
  Events events;
  std::map<uint32_t, std::unique_ptr<Modules>> modules; ///< by device index
  std::vector<std::unique_ptr<Stream>> streams;
  std::atomic<bool> updating = false;

  // State that the worker threads share, protected by `mutex`.
  std::mutex mutex;
  std::condition_variable started, ended;
  uint64_t round = 0;
  size_t working = 0;
  bool stopping = false;

  Impl(const Plan &plan, const Program &program, Binder &binder, const Span &code,
       std::vector<CommandInfo> &infos, int threads, StreamOrder order, bool plainLaunches,
       World *world)
      : plan(plan), binder(binder), order(order), atOnce(order.kind == StreamOrder::Kind::AtOnce),
        events(plan.events) {
    std::vector<std::vector<NumberedCommand>> lists(plan.streams.size());
    uint32_t number = 0;
    for (const Command &command : plan.commands) {
      lists[command.stream].push_back({&command, number});
      number += countCommands(command);
    }
    std::vector<int> share = divideThreads(plan, threads);
    for (uint32_t s = 0; s < lists.size(); ++s) {
      auto stream = std::make_unique<Stream>();
      stream->number = s;
      stream->deviceIndex = plan.streams[s];
      stream->events = &events;
      if (plan.devices[plan.streams[s]].isWalked()) {
        ThreadScope scope(share[s]);
        stream->executor = std::make_unique<HostExecutor>(plan, binder, code, infos, lists[s],
                                                          share[s], world, stream.get());
        stream->executor->stream = s;
      } else {
        requireAtOnce();
        atOnce = true;
        Device &device = *binder.device(plan.streams[s]);
        auto &loaded = modules[plan.streams[s]];
        if (!loaded)
          loaded = std::make_unique<Modules>(plan, program, device);
        stream->deviceExecutor =
            std::make_unique<DeviceExecutor>(plan, binder, device, *loaded, code, infos, lists[s],
                                             share[s], s, stream.get(), plainLaunches, world);
      }
      streams.push_back(std::move(stream));
    }
    // A single stream is executed by the calling thread.
    if (atOnce && streams.size() > 1)
      for (auto &stream : streams)
        stream->thread = std::thread([this, s = stream.get()] { work(*s); });
  }

  ~Impl() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
      started.notify_all();
    }
    for (auto &stream : streams)
      if (stream->thread.joinable())
        stream->thread.join();
    // Destroy the streams first: their work may still use kernels of the modules.
    streams.clear();
  }

  void requireAtOnce() const {
    if (order.kind != StreamOrder::Kind::AtOnce && order.kind != StreamOrder::Kind::First)
      fail("the stream orders late and random require streams that the host executes; the program "
           "uses ",
           plan.devices.back().name);
  }

  /// Main loop of the worker thread of a stream.
  void work(Stream &stream) {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex);
        started.wait(lock, [&] { return round != seen || stopping; });
        if (stopping)
          return;
        seen = round;
      }
      attempt(stream, [&] { runWhole(stream); });
      std::lock_guard lock(mutex);
      if (--working == 0)
        ended.notify_all();
    }
  }

  template <typename Body> void attempt(Stream &stream, const Body &body) {
    try {
      body();
    } catch (const Abandoned &) {
    } catch (const std::bad_alloc &) {
      giveUp(stream, "out of memory");
    } catch (const std::exception &error) {
      giveUp(stream, error.what());
    }
  }

  void giveUp(Stream &stream, const std::string &why) {
    stream.error = why;
    stream.failed = true;
    events.abandon();
  }
  /// Executes all commands of a CPU stream, or submits those of another device's stream.
  void runWhole(Stream &stream) {
    if (HostExecutor *executor = stream.executor.get()) {
      ThreadScope scope(executor->threads());
      executor->run(0, executor->firstUpdate());
      if (executor->firstUpdate() < executor->end())
        updating = true;
      executor->run(executor->firstUpdate(), executor->end());
      return;
    }
    stream.deviceExecutor->run([](void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; },
                               &updating);
  }

  /// Waits for all streams of devices other than CPUs after their work was submitted, also if one
  /// of them failed: memory must not be freed while a device uses it.
  void finishDevices() {
    std::vector<Stream *> waited;
    for (auto &stream : streams)
      if (stream->deviceExecutor)
        waited.push_back(stream.get());
    auto first = std::find_if(waited.begin(), waited.end(), [&](Stream *stream) {
      return order.kind == StreamOrder::Kind::First && stream->number == order.number;
    });
    if (first != waited.end())
      std::rotate(waited.begin(), first, first + 1);
    for (Stream *stream : waited)
      try {
        stream->deviceExecutor->synchronize();
      } catch (const Error &error) {
        if (!stream->failed)
          giveUp(*stream, error.what());
      }
  }

  /// Executes one command of all streams at a time, in the order specified by `order`, for tests.
  void runInOrder() {
    std::mt19937_64 random(order.number);
    std::vector<uint32_t> at(streams.size());
    Guard guard(*this);
    for (;;) {
      std::vector<size_t> ready;
      bool left = false;
      for (size_t s = 0; s < streams.size(); ++s) {
        HostExecutor &executor = *streams[s]->executor;
        if (at[s] == executor.end())
          continue;
        left = true;
        if (executor.opAt(at[s]) != Op::Wait || events.isRecorded(executor.eventAt(at[s])))
          ready.push_back(s);
      }
      if (!left)
        return;
      if (ready.empty())
        fail("deadlock: streams wait for each other");
      size_t chosen = ready.front();
      if (order.kind == StreamOrder::Kind::Random) {
        chosen = ready[random() % ready.size()];
      } else if (order.kind == StreamOrder::Kind::First) {
        if (std::find(ready.begin(), ready.end(), order.number) != ready.end())
          chosen = order.number;
      } else if (chosen == order.number % streams.size() && ready.size() > 1) {
        chosen = ready[1];
      }
      HostExecutor &executor = *streams[chosen]->executor;
      uint32_t next = executor.after(at[chosen]);
      if (at[chosen] >= executor.firstUpdate())
        updating = true;
      guard.open(*streams[chosen], executor.opAt(at[chosen]) == Op::Copy);
      ThreadScope scope(executor.threads());
      executor.run(at[chosen], next);
      at[chosen] = next;
    }
  }

  /// Makes the session's memory on all devices except the current command's inaccessible.
  class Guard {
  public:
    explicit Guard(Impl &impl) : impl(impl) {}
    ~Guard() { set(true, UINT32_MAX); }
    void open(const Stream &stream, bool isCopy) {
      // Make the memory of all devices accessible for a copy: its second buffer may be on any
      // device.
      uint32_t wanted = isCopy ? UINT32_MAX : stream.deviceIndex;
      if (wanted == now)
        return;
      set(false, wanted);
      set(true, wanted);
      now = wanted;
    }

  private:
    /// If `accessible`, makes the memory blocks of `device` accessible. Otherwise makes the blocks
    /// of all other devices inaccessible. UINT32_MAX selects all devices.
    void set(bool accessible, uint32_t device) {
      for (const auto &[index, blocks] : impl.binder.blocks())
        if ((index == device || device == UINT32_MAX) == accessible)
          for (char *block : blocks)
            if (const Device &owner = *impl.binder.device(index); owner.table.protect)
              owner.table.protect(owner.handle, block, accessible);
    }
    Impl &impl;
    uint32_t now = UINT32_MAX;
  };

  void run(bool tracing, std::vector<TraceEvent> &trace) {
    events.reset();
    updating = false;
    std::map<Device *, std::pair<void *, int64_t>> bases;
    for (auto &stream : streams) {
      stream->failed = false;
      if (stream->executor) {
        stream->executor->tracing = tracing;
        continue;
      }
      stream->deviceExecutor->tracing = tracing;
      stream->deviceExecutor->formGroup();
      Device &device = stream->deviceExecutor->on();
      if (!tracing || bases.count(&device))
        continue;
      auto &[base, ns] = bases[&device];
      device.call(device.table.event_create, &base);
      device.call(device.table.event_record, base, stream->deviceExecutor->handle());
      device.call(device.table.event_synchronize, base);
      ns = getNowNs();
    }
    if (atOnce && streams.size() == 1) {
      attempt(*streams.front(), [&] { runWhole(*streams.front()); });
    } else if (atOnce) {
      std::unique_lock lock(mutex);
      working = streams.size();
      ++round;
      started.notify_all();
      ended.wait(lock, [&] { return working == 0; });
    } else {
      attempt(*streams.front(), [&] { runInOrder(); });
    }
    finishDevices();
    if (tracing)
      collect(trace, bases);
    for (auto &stream : streams)
      if (stream->failed)
        fail(stream->error);
  }

  void collect(std::vector<TraceEvent> &trace,
               const std::map<Device *, std::pair<void *, int64_t>> &bases) {
    for (auto &stream : streams) {
      std::vector<TraceEvent> got;
      if (stream->executor) {
        got = std::exchange(stream->executor->events, {});
      } else {
        auto [base, ns] = bases.at(&stream->deviceExecutor->on());
        got = stream->deviceExecutor->takeTrace(base, ns);
      }
      trace.insert(trace.end(), got.begin(), got.end());
    }
    for (auto &[device, base] : bases)
      device->table.event_destroy(device->handle, base.first);
  }
};

StreamRunner::StreamRunner(const Plan &plan, const Program &program, Binder &binder,
                           const Span &code, std::vector<CommandInfo> &infos, int threads,
                           StreamOrder order, bool plainLaunches, World *world)
    : impl(std::make_unique<Impl>(plan, program, binder, code, infos, threads, order, plainLaunches,
                                  world)) {}
StreamRunner::~StreamRunner() = default;

void StreamRunner::run(bool tracing, std::vector<TraceEvent> &events) {
  impl->run(tracing, events);
}

Device *StreamRunner::enqueueDevice() const {
  const DeviceExecutor *executor = impl->streams.front()->deviceExecutor.get();
  return impl->streams.size() == 1 && executor && !executor->hasGroup() ? &executor->on() : nullptr;
}

void StreamRunner::enqueue(void *stream) {
  impl->updating = false;
  DeviceExecutor &executor = *impl->streams.front()->deviceExecutor;
  executor.tracing = false;
  executor.run([](void *flag) { *static_cast<std::atomic<bool> *>(flag) = true; }, &impl->updating,
               stream);
}

bool StreamRunner::hasWrittenState() const { return impl->updating; }

uint64_t StreamRunner::graphLaunches() const {
  uint64_t count = 0;
  for (const auto &stream : impl->streams)
    if (stream->deviceExecutor)
      count += stream->deviceExecutor->graphLaunches();
  return count;
}

uint64_t StreamRunner::scratchBytes() const {
  uint64_t bytes = 0;
  for (const auto &stream : impl->streams)
    bytes += stream->executor ? stream->executor->scratchBytes()
                              : stream->deviceExecutor->scratchBytes();
  return bytes;
}

} // namespace dlc::runtime
