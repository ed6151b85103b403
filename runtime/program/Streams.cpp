//===- Streams.cpp - validates the use of streams and events -----------------===//
#include "runtime/program/Streams.h"

#include "runtime/program/Message.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace dlc::runtime {

std::vector<BufferUse> collectBufferUses(const Command &command) {
  std::vector<BufferUse> uses;
  uses.reserve(command.buffers.size());
  for (uint32_t buffer : command.buffers)
    uses.push_back({buffer, false});
  if (command.op == Op::Launch || command.op == Op::Library)
    for (uint32_t position : command.writes)
      uses[position].written = true;
  else if (!uses.empty())
    uses.back().written = true; // copy and fill write their last buffer
  for (int64_t read : {command.trip, command.cond})
    if (read >= 0)
      uses.push_back({static_cast<uint32_t>(read), false});
  for (int64_t written : {command.index, command.count})
    if (written >= 0)
      uses.push_back({static_cast<uint32_t>(written), true});
  return uses;
}

namespace {

using Clock = std::vector<uint32_t>;

/// A top-level command, identified by its stream and its position within this stream (`count`).
struct CommandPosition {
  uint32_t command = UINT32_MAX, stream = 0, count = 0;
  bool isNone() const { return command == UINT32_MAX; }
};

/// A range of bytes with its last writer and the reads since this write, at most one per stream.
struct AccessedRange {
  uint64_t end = 0;
  CommandPosition writer;
  std::vector<CommandPosition> readers;
};

/// Memory that commands share: a space, its device and its index.
using Memory = std::tuple<MemorySpace, uint32_t, uint32_t>;

/// Bytes of a memory that a buffer refers to. In a loop, the address of a buffer with a step may be
/// anywhere within the buffer's range.
struct MemoryRange {
  explicit MemoryRange(const Buffer &buffer)
      : memory(buffer.space, buffer.device, buffer.index),
        start(buffer.step ? buffer.begin : buffer.offset),
        end(buffer.step ? buffer.end : buffer.offset + buffer.bytes) {}
  Memory memory;
  uint64_t start, end;
};

/// Returns whether commands can write the buffer. Buffers without bytes count as constant.
bool isWritable(const Buffer &buffer) {
  return buffer.bytes > 0 && buffer.space != MemorySpace::Constant &&
         buffer.space != MemorySpace::Input;
}

/// Checks a group of concurrent loops: a loop and the concurrent loops that follow it.
class LoopChecker {
public:
  explicit LoopChecker(const Plan &plan) : plan(plan) {}

  void run() {
    for (size_t i = 0; i < plan.commands.size(); ++i) {
      const Command &command = plan.commands[i];
      if (!command.concurrent || i == 0 || plan.commands[i - 1].op != Op::Loop ||
          plan.commands[i - 1].stream != command.stream) {
        if (command.concurrent)
          fail("program manifest: commands[", i,
               "]: a concurrent loop must follow another loop of "
               "its stream");
        uses.clear();
      }
      if (command.op == Op::Loop)
        touchAll(command, i);
    }
  }

private:
  struct Use {
    MemoryRange extent;
    bool written;
    size_t loop;
  };

  void touchAll(const Command &command, size_t loop) {
    for (const BufferUse &use : collectBufferUses(command))
      touch(use, loop);
    // A library call writes its scratch memory.
    if (command.workspace >= 0)
      touch({static_cast<uint32_t>(command.workspace), true}, loop);
    for (const std::vector<Command> *body : {&command.body, &command.orElse})
      for (const Command &inner : *body)
        touchAll(inner, loop);
  }

  void touch(const BufferUse &use, size_t loop) {
    if (!isWritable(plan.buffers[use.buffer]))
      return;
    Use now{MemoryRange(plan.buffers[use.buffer]), use.written, loop};
    for (const Use &other : uses)
      if (other.loop != loop && (other.written || now.written) &&
          other.extent.memory == now.extent.memory && other.extent.start < now.extent.end &&
          now.extent.start < other.extent.end)
        fail("program manifest: commands[", loop, "]: ", use.written ? "writes" : "reads",
             " buffer ", use.buffer, ", whose bytes the concurrent loop commands[", other.loop,
             "] ", other.written ? "writes" : "reads");
    uses.push_back(now);
  }

  const Plan &plan;
  std::vector<Use> uses; ///< buffers that the loops of the current group read or write
};

class StreamChecker {
public:
  explicit StreamChecker(const Plan &plan)
      : plan(plan), known(plan.streams.size(), Clock(plan.streams.size())), recorded(plan.events),
        recorders(plan.events, UINT32_MAX) {}

  void run() {
    for (const Command &command : plan.commands) {
      switch (command.op) {
      case Op::Record:
        record(command);
        break;
      case Op::Wait:
        wait(command);
        break;
      default:
        touch(command);
      }
      ++at;
    }
  }

private:
  template <typename... Parts> [[noreturn]] void failHere(const Parts &...parts) const {
    const std::string &loc = plan.commands[at].loc;
    fail("program manifest: commands[", at, "]", inside, loc.empty() ? "" : " (" + loc + ")", ": ",
         parts...);
  }

  const std::string &deviceOf(uint32_t stream) const {
    return plan.devices[plan.streams[stream]].name;
  }

  void record(const Command &command) {
    if (recorders[command.event] != UINT32_MAX)
      failHere("event ", command.event, " was recorded by commands[", recorders[command.event],
               "] already; each event must be recorded once");
    recorders[command.event] = at;
    recorded[command.event] = known[command.stream];
  }

  void wait(const Command &command) {
    if (recorders[command.event] == UINT32_MAX) {
      bool later = std::any_of(plan.commands.begin() + at, plan.commands.end(), [&](auto &other) {
        return other.op == Op::Record && other.event == command.event;
      });
      failHere("waits for event ", command.event, ", which ",
               later ? "is recorded by a later command, so that streams would deadlock"
                     : "no command records");
    }
    Clock &mine = known[command.stream];
    const Clock &theirs = recorded[command.event];
    for (size_t s = 0; s < mine.size(); ++s)
      mine[s] = std::max(mine[s], theirs[s]);
  }

  void touch(const Command &command) {
    CommandPosition now{at, command.stream, ++known[command.stream][command.stream]};
    touchAll(command, now);
  }

  void touchAll(const Command &command, const CommandPosition &now) {
    if (command.stream != now.stream)
      failHere("is on stream ", command.stream, ", but the enclosing command is on stream ",
               now.stream);
    checkDevices(command);
    std::vector<BufferUse> uses = collectBufferUses(command);
    for (const BufferUse &use : uses)
      mark(use, now);
    bodies(command.body, command.op == Op::If ? "then" : "body", now);
    bodies(command.orElse, "else", now);
  }

  void bodies(const std::vector<Command> &list, const char *name, const CommandPosition &now) {
    std::string before = inside;
    for (size_t i = 0; i < list.size(); ++i) {
      inside = message(before, ".", name, "[", i, "]");
      if (list[i].op == Op::Record || list[i].op == Op::Wait)
        failHere("events are not allowed inside if and loop");
      if (list[i].op == Op::Copy && crosses(list[i]) &&
          plan.devices[plan.streams[now.stream]].isWalked())
        failHere("copies between devices are not allowed inside if and loop");
      touchAll(list[i], now);
    }
    inside = before;
  }

  bool crosses(const Command &copy) const {
    return plan.buffers[copy.buffers[0]].device != plan.buffers[copy.buffers[1]].device;
  }

  void checkDevices(const Command &command) const {
    uint32_t device = plan.streams[command.stream];
    bool isCopy = command.op == Op::Copy, any = false;
    for (const BufferUse &use : collectBufferUses(command)) {
      const Buffer &buffer = plan.buffers[use.buffer];
      any |= buffer.device == device;
      if (!isCopy && buffer.device != device)
        failHere("runs on ", deviceOf(command.stream), " but uses buffer ", use.buffer, " on ",
                 plan.devices[buffer.device].name);
    }
    if (isCopy && !any)
      failHere("copies on ", deviceOf(command.stream),
               ", but neither of its buffers is on that device");
  }

  void mark(const BufferUse &use, const CommandPosition &now) {
    const Buffer &buffer = plan.buffers[use.buffer];
    if (plan.streams.size() == 1 || !isWritable(buffer))
      return;
    auto [memory, start, end] = MemoryRange(buffer);
    auto &runs = memories[memory];
    cut(runs, start);
    cut(runs, end);
    while (start < end) {
      auto run = runs.lower_bound(start);
      if (run == runs.end() || run->first > start) {
        uint64_t next = run == runs.end() ? end : std::min(end, run->first);
        run = runs.emplace(start, AccessedRange{next, {}, {}}).first;
      }
      touchRun(run->second, use, now);
      start = run->second.end;
    }
  }

  void touchRun(AccessedRange &run, const BufferUse &use, const CommandPosition &now) {
    requireAfter(run.writer, now, use, "written");
    if (use.written) {
      for (const CommandPosition &reader : run.readers)
        requireAfter(reader, now, use, "read");
      run.readers.clear();
      run.writer = now;
      return;
    }
    for (CommandPosition &reader : run.readers)
      if (reader.stream == now.stream) {
        reader = now;
        return;
      }
    run.readers.push_back(now);
  }

  static void cut(std::map<uint64_t, AccessedRange> &runs, uint64_t at) {
    auto run = runs.lower_bound(at);
    if (run == runs.begin() || (run != runs.end() && run->first == at))
      return;
    --run;
    if (run->second.end <= at)
      return;
    AccessedRange rest = run->second;
    run->second.end = at;
    runs.emplace(at, std::move(rest));
  }

  void requireAfter(const CommandPosition &first, const CommandPosition &then, const BufferUse &use,
                    const char *done) const {
    if (first.isNone() || first.stream == then.stream ||
        known[then.stream][first.stream] >= first.count)
      return;
    failHere(use.written ? "writes" : "reads", " buffer ", use.buffer, " on stream ", then.stream,
             " while it may still be ", done, " by commands[", first.command, "] on stream ",
             first.stream, ", and no event orders the two commands");
  }

  const Plan &plan;
  uint32_t at = 0;
  std::string inside; ///< position within the bodies of the top-level command, for messages
  std::vector<Clock> known, recorded;
  std::vector<uint32_t> recorders;
  std::map<Memory, std::map<uint64_t, AccessedRange>> memories;
};

} // namespace

void checkStreams(const Plan &plan) {
  StreamChecker(plan).run();
  LoopChecker(plan).run();
}

std::vector<std::vector<bool>> findConcurrentStreams(const Plan &plan) {
  size_t count = plan.streams.size();
  std::vector<std::vector<bool>> result(count, std::vector<bool>(count));
  std::vector<Clock> known(count, Clock(count)), recorded(plan.events);
  std::vector<uint32_t> done(count);
  for (const Command &command : plan.commands) {
    Clock &mine = known[command.stream];
    if (command.op == Op::Record) {
      recorded[command.event] = mine;
    } else if (command.op == Op::Wait) {
      for (size_t s = 0; s < count; ++s)
        mine[s] = std::max(mine[s], recorded[command.event][s]);
    } else {
      mine[command.stream] = ++done[command.stream];
      for (size_t s = 0; s < count; ++s)
        if (s != command.stream && mine[s] < done[s])
          result[s][command.stream] = result[command.stream][s] = true;
    }
  }
  return result;
}

} // namespace dlc::runtime
