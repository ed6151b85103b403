//===- Buckets.cpp - merges all-reduces into buckets -------------------------===//
#include "runtime/session/Buckets.h"

#include "runtime/library/schema/Schema.h"
#include "runtime/program/Streams.h"
#include "runtime/session/Overlap.h"

#include <algorithm>
#include <map>
#include <set>

namespace dlc::runtime {

namespace {

/// Ratio of the time of a full bucket's all-reduce to the network latency.
constexpr double kParts = 10;

class BucketMerger {
public:
  BucketMerger(Plan &plan, double enough) : plan(plan), enough(enough) {}

  void run() {
    std::vector<size_t> members;
    for (size_t at = 0; at < plan.commands.size(); ++at) {
      if (!isCollective(plan.commands[at]))
        continue;
      if (!members.empty() && !mayFollow(members, at)) {
        join(members);
        members.clear();
      }
      members.push_back(at);
    }
    join(members);
    std::vector<Command> commands;
    for (size_t at = 0; at < plan.commands.size(); ++at) {
      if (!moves.count(at))
        commands.push_back(std::move(plan.commands[at]));
      auto [from, to] = later.equal_range(at);
      for (; from != to; ++from)
        commands.push_back(std::move(plan.commands[from->second]));
    }
    plan.commands = std::move(commands);
    checkStreams(plan);
  }

private:
  const Buffer &bufferOf(size_t at) const { return plan.buffers[plan.commands[at].buffers[0]]; }

  static bool isSame(const Buffer &a, const Buffer &b) {
    return a.space == b.space && a.device == b.device && a.offset == b.offset && a.bytes == b.bytes;
  }

  /// Returns whether the command is an all-reduce that may be merged with others.
  bool isPart(size_t at) const {
    const Command &command = plan.commands[at];
    const Buffer &from = plan.buffers[command.buffers[0]], &to = plan.buffers[command.buffers[1]];
    const schema::Collective fields = describe(command);
    return fields.kind == schema::CollectiveKind::AllReduce && !fields.root &&
           from.space == MemorySpace::Arena && from.step == 0 && isSame(from, to) && from.bytes > 0;
  }

  static schema::Collective describe(const Command &command) {
    return schema::Collective::read(command.desc, command.library);
  }
  /// Returns a collective's description without its number of elements. Collectives can be merged
  /// only if this is equal.
  static schema::Collective kindOf(const Command &command) {
    schema::Collective fields = describe(command);
    fields.share = 0;
    return fields;
  }

  bool mayFollow(const std::vector<size_t> &members, size_t at) const {
    const size_t first = members.front(), before = members.back();
    const Buffer &start = bufferOf(first), &last = bufferOf(before), &next = bufferOf(at);
    return isPart(before) && isPart(at) && last.device == next.device &&
           last.offset + last.bytes == next.offset &&
           static_cast<double>(next.offset - start.offset) < enough &&
           plan.commands[before].stream == plan.commands[at].stream &&
           kindOf(plan.commands[before]) == kindOf(plan.commands[at]) && mayWait(first, at);
  }

  /// Returns whether the all-reduce `first` can be delayed until command `at`: no command in
  /// between depends on its result.
  bool mayWait(size_t first, size_t at) const {
    const uint32_t stream = plan.commands[first].stream;
    std::set<uint32_t> events;
    for (size_t i = first + 1; i < at; ++i) {
      const Command &command = plan.commands[i];
      if (command.op == Op::Wait && events.count(command.event))
        return false;
      if (command.stream != stream)
        continue;
      if (command.op == Op::Record)
        events.insert(command.event);
      else if (command.op != Op::Wait && !isCollective(command))
        return false;
    }
    return true;
  }

  void join(const std::vector<size_t> &members) {
    if (members.size() < 2)
      return;
    const size_t first = members.front(), last = members.back();
    Command &whole = plan.commands[last];
    Buffer buffer = bufferOf(first);
    buffer.bytes = bufferOf(last).offset + bufferOf(last).bytes - buffer.offset;
    schema::Collective fields = describe(whole);
    for (size_t member : members) {
      if (member == last)
        continue;
      const Command &part = plan.commands[member];
      fields.share.value += describe(part).share;
      whole.flops += part.flops;
      whole.moved += part.moved;
      moves.insert(member);
    }
    whole.desc = fields.toJson();
    whole.buffers.assign(2, static_cast<uint32_t>(plan.buffers.size()));
    plan.buffers.push_back(buffer);
    for (size_t i = first + 1; i < last; ++i)
      if (const Command &command = plan.commands[i];
          command.op == Op::Record && command.stream == whole.stream) {
        moves.insert(i);
        later.emplace(last, i);
      }
  }

  Plan &plan;
  const double enough;
  std::set<size_t> moves;              ///< commands that are removed or moved to another position
  std::multimap<size_t, size_t> later; ///< moved records, by the command they now follow
};

} // namespace

double computeBucketBytes(const WorldLink &link) {
  // Maximum bucket size. 512 MiB is larger than any group of adjacent gradients in practice.
  constexpr double kMax = 1 << 29;
  return link.secondsPerByte > 0 ? std::min(kMax, (kParts - 1) * link.latency / link.secondsPerByte)
                                 : kMax;
}

void joinBuckets(Plan &plan, double bytes) { BucketMerger(plan, bytes).run(); }

} // namespace dlc::runtime
