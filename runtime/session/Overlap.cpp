//===- Overlap.cpp - overlap of collectives with computation -----------------===//
#include "runtime/session/Overlap.h"

#include "runtime/program/Streams.h"
#include "runtime/session/HostExecutor.h"
#include "runtime/session/collectives/Collectives.h"

#include <algorithm>

namespace dlc::runtime {

namespace {

using Moment = Timeline::Moment;
using Intervals = std::vector<Moment>; ///< sorted and disjoint

bool isSynchronization(const Command &command) {
  return command.op == Op::Record || command.op == Op::Wait;
}

double measureOverlap(const Intervals &intervals, const Moment &within) {
  double sum = 0;
  for (const Moment &each : intervals)
    sum += std::max(0.0, std::min(each.end, within.end) - std::max(each.start, within.start));
  return sum;
}

Intervals intersectIntervals(const Intervals &a, const Intervals &b) {
  Intervals both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    Moment each{std::max(a[i].start, b[j].start), std::min(a[i].end, b[j].end)};
    if (each.start < each.end)
      both.push_back(each);
    ++(a[i].end < b[j].end ? i : j);
  }
  return both;
}

/// Returns the time intervals in which no stream works: each stream waits for an event or has
/// finished.
Intervals findIdleIntervals(const Plan &plan, const Timeline &timeline) {
  std::vector<Intervals> waits(plan.streams.size());
  std::vector<double> through(plan.streams.size());
  std::vector<bool> works(plan.streams.size());
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    const Command &command = plan.commands[i];
    const Moment &moment = timeline.commands[i];
    through[command.stream] = std::max(through[command.stream], moment.end);
    if (command.op == Op::Wait && moment.start < moment.end)
      waits[command.stream].push_back(moment);
    works[command.stream] =
        works[command.stream] || (!isSynchronization(command) && !isCollective(command));
  }
  Intervals idle{{0, timeline.end}};
  for (size_t s = 0; s < works.size(); ++s) {
    if (!works[s])
      continue;
    waits[s].push_back({through[s], timeline.end});
    idle = intersectIntervals(idle, waits[s]);
  }
  return idle;
}

bool buffersOverlap(const Buffer &a, const Buffer &b) {
  auto extent = [](const Buffer &buffer) {
    return buffer.step ? std::pair(buffer.begin, buffer.end)
                       : std::pair(buffer.offset, buffer.offset + buffer.bytes);
  };
  auto [startA, endA] = extent(a);
  auto [startB, endB] = extent(b);
  return a.space == b.space && a.device == b.device && a.index == b.index && startA < endB &&
         startB < endA;
}

bool accessesBuffer(const Plan &plan, const Command &command, const Buffer &buffer,
                    bool mustWrite) {
  for (const BufferUse &use : collectBufferUses(command))
    if ((use.written || !mustWrite) && buffersOverlap(plan.buffers[use.buffer], buffer))
      return true;
  auto inside = [&](const Command &inner) {
    return accessesBuffer(plan, inner, buffer, mustWrite);
  };
  return std::any_of(command.body.begin(), command.body.end(), inside) ||
         std::any_of(command.orElse.begin(), command.orElse.end(), inside);
}

CollectiveTimes computeCollectiveTimes(const Plan &plan, const Timeline &timeline, size_t at) {
  const Command &command = plan.commands[at];
  const Buffer &from = plan.buffers[command.buffers[0]], &to = plan.buffers[command.buffers[1]];
  CollectiveTimes times{at, getCollectiveBytes(plan, command)};
  times.start = timeline.commands[at].start;
  times.reduced = timeline.commands[at].end;
  times.needed = timeline.end;
  // End time of each stream's last command so far, without the event waits that follow it.
  std::vector<double> reached(plan.streams.size());
  bool isNeeded = false;
  for (size_t i = 0; i < plan.commands.size() && !isNeeded; ++i) {
    const Command &other = plan.commands[i];
    if (isSynchronization(other))
      continue;
    if (i < at && accessesBuffer(plan, other, from, /*mustWrite=*/true))
      times.written = std::max(times.written, timeline.commands[i].end);
    isNeeded = i > at && accessesBuffer(plan, other, to, /*mustWrite=*/false);
    if (isNeeded)
      times.needed = reached[other.stream];
    reached[other.stream] = timeline.commands[i].end;
  }
  return times;
}

} // namespace

bool isCollective(const Command &command) {
  return command.op == Op::Library && command.library == kCollectiveLibrary;
}

double getCollectiveBytes(const Plan &plan, const Command &command) {
  return static_cast<double>(
      std::max(plan.buffers[command.buffers[0]].bytes, plan.buffers[command.buffers[1]].bytes));
}

Timeline buildTimeline(const Plan &plan, std::span<const TraceEvent> events) {
  std::vector<size_t> placeOf; // index in Plan::commands by command number
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    placeOf.push_back(i);
    placeOf.resize(placeOf.size() + countCommands(plan.commands[i]) - 1, SIZE_MAX);
  }
  Timeline timeline;
  timeline.commands.resize(plan.commands.size());
  int64_t origin = INT64_MAX;
  for (const TraceEvent &event : events)
    origin = std::min(origin, event.startNs);
  for (const TraceEvent &event : events) {
    double end = static_cast<double>(event.endNs - origin) * 1e-9;
    timeline.end = std::max(timeline.end, end);
    if (size_t place = placeOf.at(event.command); place != SIZE_MAX)
      timeline.commands[place] = {static_cast<double>(event.startNs - origin) * 1e-9, end};
  }
  return timeline;
}

Timeline buildTimeline(const Plan &plan, std::span<const double> seconds) {
  Timeline timeline;
  std::vector<double> now(plan.streams.size()), recorded(plan.events);
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    const Command &command = plan.commands[i];
    double &here = now[command.stream], start = here;
    if (command.op == Op::Record)
      recorded[command.event] = here;
    else if (command.op == Op::Wait)
      here = std::max(here, recorded[command.event]);
    else
      here += seconds[i];
    timeline.commands.push_back({start, here});
    timeline.end = std::max(timeline.end, here);
  }
  return timeline;
}

Overlap computeOverlap(const Plan &plan, const Timeline &timeline) {
  Overlap overlap;
  Intervals idle = findIdleIntervals(plan, timeline);
  for (size_t i = 0; i < plan.commands.size(); ++i) {
    if (!isCollective(plan.commands[i]))
      continue;
    overlap.secondsBefore = overlap.seconds;
    overlap.exposedBefore = overlap.exposed;
    CollectiveTimes times = computeCollectiveTimes(plan, timeline, i);
    times.exposed = measureOverlap(idle, {times.start, times.reduced});
    overlap.seconds += times.reduced - times.start;
    overlap.exposed += times.exposed;
    overlap.collectives.push_back(times);
  }
  return overlap;
}

} // namespace dlc::runtime
