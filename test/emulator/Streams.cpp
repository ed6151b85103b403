//===- Streams.cpp - streams of the emulated GPU and the order of their commands -===//
#include "test/emulator/Streams.h"

#include <algorithm>

namespace dlc_emulated {

namespace {

enum : Result {
  IllegalState = 401,
  CaptureUnsupported = 900,
  CaptureUnjoined = 904,
  CaptureIsolation = 905
};

void enqueueInCapture(const std::shared_ptr<StreamState> &stream, Command command) {
  CaptureState &capture = *stream->capture;
  if (command.arrived) {
    capture.broken = CaptureUnsupported;
  } else if (command.record) {
    command.record->capture = stream->capture;
    command.record->nodes = stream->last;
  } else if (command.wait) {
    if (command.wait->capture != stream->capture) {
      // A graph node cannot wait for an event that was recorded outside of the graph's capture.
      capture.broken = CaptureIsolation;
      return;
    }
    stream->last.insert(stream->last.end(), command.wait->nodes.begin(), command.wait->nodes.end());
  } else {
    capture.graph->nodes.push_back({std::move(command.work), stream->last});
    stream->last = {static_cast<int>(capture.graph->nodes.size()) - 1};
  }
}

} // namespace

std::shared_ptr<StreamState> Scheduler::create(int device) {
  auto stream = createDefault(device);
  stream->number = made[device]++;
  return stream;
}

std::shared_ptr<StreamState> Scheduler::createDefault(int device) {
  auto stream = std::make_shared<StreamState>();
  stream->device = device;
  stream->number = -1;
  streams.push_back(stream);
  return stream;
}

void Scheduler::destroy(const std::shared_ptr<StreamState> &stream) {
  finish(*stream);
  streams.erase(std::remove(streams.begin(), streams.end(), stream), streams.end());
}

void Scheduler::enqueue(const std::shared_ptr<StreamState> &stream, Command command) {
  if (!stream->capture && command.wait && command.wait->capture) {
    // A wait for an event of a capture forks the capture: this stream joins it.
    stream->capture = command.wait->capture;
    stream->capture->members.push_back(stream);
  }
  if (stream->capture)
    return enqueueInCapture(stream, std::move(command));
  stream->queue.push_back(std::move(command));
  if (order == Order::Eager)
    finish(*stream);
  if (order == Order::Random)
    // Commands are run late in two of three cases, because running them immediately would hide
    // missing synchronization.
    for (uint64_t steps = draw(3) ? 0 : 1 + draw(3); steps > 0 && step(); --steps)
      ;
}

void Scheduler::drop(const Dropped &which) {
  dropped = which;
  made.clear();
}

bool Scheduler::drops(StreamState &stream) const {
  if (stream.device != dropped.device || stream.number != dropped.stream)
    return false;
  return stream.waits++ % dropped.of == dropped.wait;
}

bool Scheduler::ready(const StreamState &stream) const {
  if (stream.queue.empty())
    return false;
  const Command &first = stream.queue.front();
  return (!first.wait || first.wait->passed) && (!first.arrived || first.arrived());
}

void Scheduler::advance(StreamState &stream) {
  if (ready(stream))
    return runFirst(stream);
  // Another thread may run the first command while this one waits.
  if (std::shared_ptr<Moment> needed = stream.queue.front().wait)
    finish(*needed);
  else
    pause();
}

void Scheduler::runFirst(StreamState &stream) {
  Command command = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (command.record) {
    command.record->passed = true;
    command.record->time = std::chrono::steady_clock::now();
  }
  if (command.work)
    if (Result result = command.work())
      failed(stream.device, result);
}

bool Scheduler::step() {
  std::vector<StreamState *> able;
  for (auto &stream : streams)
    if (ready(*stream))
      able.push_back(stream.get());
  if (able.empty())
    return false;
  runFirst(*able[draw(able.size())]);
  return true;
}

void Scheduler::finish(StreamState &stream) {
  while (!stream.queue.empty()) {
    if (order != Order::Random)
      advance(stream);
    else if (!step())
      pause();
  }
}

void Scheduler::finish(Moment &moment) {
  while (!moment.passed) {
    if (order != Order::Random)
      advance(*moment.stream);
    else if (!step())
      pause();
  }
}

void Scheduler::finishDevice(int device) {
  for (auto &stream : std::vector<std::shared_ptr<StreamState>>(streams))
    if (stream->device == device)
      finish(*stream);
}

Result Scheduler::run(const GraphState &graph) {
  size_t count = graph.nodes.size();
  std::vector<char> done(count);
  for (size_t ran = 0; ran < count; ++ran) {
    std::vector<size_t> able;
    for (size_t i = 0; i < count; ++i)
      if (!done[i] && std::all_of(graph.nodes[i].after.begin(), graph.nodes[i].after.end(),
                                  [&](int before) { return done[before]; })) {
        able.push_back(i);
        if (order == Order::Eager)
          break;
      }
    size_t next = order == Order::Random ? able[draw(able.size())] : able.back();
    done[next] = 1;
    if (Result result = graph.nodes[next].work())
      return result;
  }
  return 0;
}

Result beginCapture(const std::shared_ptr<StreamState> &stream) {
  if (stream->capture)
    return IllegalState;
  stream->capture = std::make_shared<CaptureState>();
  stream->capture->origin = stream;
  stream->last.clear();
  return 0;
}

Result endCapture(const std::shared_ptr<StreamState> &stream, std::shared_ptr<GraphState> &graph) {
  std::shared_ptr<CaptureState> capture = stream->capture;
  if (!capture || capture->origin != stream)
    return IllegalState;
  graph = capture->graph;
  // Nodes that do not precede the end of the origin stream would still run after the graph is
  // reported as complete.
  std::vector<char> before(graph->nodes.size());
  std::vector<int> open = stream->last;
  while (!open.empty()) {
    int node = open.back();
    open.pop_back();
    if (before[node])
      continue;
    before[node] = 1;
    open.insert(open.end(), graph->nodes[node].after.begin(), graph->nodes[node].after.end());
  }
  Result result = capture->broken;
  if (!result && std::count(before.begin(), before.end(), 0))
    result = CaptureUnjoined;
  for (auto &member : capture->members)
    if (auto joined = member.lock()) {
      joined->capture.reset();
      joined->last.clear();
    }
  stream->capture.reset();
  stream->last.clear();
  capture->origin.reset();
  return result;
}

} // namespace dlc_emulated
