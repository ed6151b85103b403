//===- OverlapTest.cpp - joins buckets and measures the overlap of collectives with work ===//
#include "runtime/session/Overlap.h"
#include "runtime/session/Buckets.h"
#include "runtime/session/collectives/Collectives.h"

#include <gtest/gtest.h>

using namespace dlc::runtime;

namespace {

/// A plan with four adjacent gradients of 256 floats. Commands of stream 0 write each gradient, and
/// stream 1 reduces it in place. Updates read the gradients at the end. With `hurries` the first
/// update follows its reduction immediately.
class Step {
public:
  explicit Step(bool hurries = false) {
    plan.devices.push_back({"cpu"});
    plan.streams = {0, 0};
    for (uint32_t i = 0; i < kCount; ++i)
      plan.buffers.push_back({.space = MemorySpace::Arena, .offset = i * kBytes, .bytes = kBytes});
    for (uint32_t i = 0; i < kCount; ++i) {
      add(Op::Fill, 0).buffers = {i};
      order(0, 1);
      reduce(i);
      reduced.push_back(plan.events++);
      add(Op::Record, 1).event = reduced.back();
      if (hurries && i == 0)
        update(i);
    }
    for (uint32_t i = hurries ? 1 : 0; i < kCount; ++i)
      update(i);
  }

  Command &add(Op op, uint32_t stream) {
    Command &command = plan.commands.emplace_back();
    command.op = op;
    command.stream = stream;
    return command;
  }

  static constexpr uint32_t kCount = 4;
  static constexpr uint64_t kBytes = 1024;
  Plan plan;

private:
  void order(uint32_t from, uint32_t to) {
    add(Op::Record, from).event = plan.events;
    add(Op::Wait, to).event = plan.events++;
  }
  void reduce(uint32_t buffer) {
    Command &command = add(Op::Library, 1);
    command.library = kCollectiveLibrary;
    command.desc = {
        {"kind", "all_reduce"}, {"reduction", "sum"}, {"dtype", "f32"}, {"share", kBytes / 4}};
    command.buffers = {buffer, buffer};
    command.writes = {1};
  }
  void update(uint32_t buffer) {
    add(Op::Wait, 0).event = reduced[buffer];
    add(Op::Fill, 0).buffers = {buffer};
  }

  std::vector<uint32_t> reduced; ///< event recorded after each reduction
};

std::vector<uint64_t> sharesOf(const Plan &plan) {
  std::vector<uint64_t> shares;
  for (const Command &command : plan.commands)
    if (isCollective(command)) {
      shares.push_back(command.desc.at("share"));
      EXPECT_EQ(getCollectiveBytes(plan, command), 4.0 * double(shares.back()));
    }
  return shares;
}

/// Durations: 1 s for a write, 2 s for a reduction, 0.5 s for an update.
std::vector<double> secondsOf(const Plan &plan) {
  std::vector<double> seconds;
  size_t writes = 0;
  for (const Command &command : plan.commands)
    seconds.push_back(isCollective(command)     ? 2
                      : command.op != Op::Fill  ? 0
                      : writes++ < Step::kCount ? 1
                                                : 0.5);
  return seconds;
}

TEST(Overlap, SaysWhatIsExposed) {
  Step step;
  Timeline timeline = buildTimeline(step.plan, secondsOf(step.plan));
  // Gradients are written at 1, 2, 3, 4 and reduced at 3, 5, 7, 9. The writes end at 4, and each
  // update takes 0.5.
  Overlap overlap = computeOverlap(step.plan, timeline);
  ASSERT_EQ(overlap.collectives.size(), 4u);
  const CollectiveTimes &second = overlap.collectives[1];
  EXPECT_EQ(second.written, 2);
  EXPECT_EQ(second.start, 3);
  EXPECT_EQ(second.reduced, 5);
  EXPECT_EQ(second.needed, 4.5);
  EXPECT_EQ(second.exposed, 0.5);
  EXPECT_EQ(timeline.end, 9.5);
  EXPECT_EQ(overlap.seconds, 8);
  EXPECT_EQ(overlap.exposed, 0.5 + 1.5 + 1.5);
  EXPECT_EQ(overlap.secondsBefore, 6);
  EXPECT_EQ(overlap.exposedBefore, 2);
}

TEST(Overlap, IsTheSameOfATrace) {
  Step step;
  Timeline wanted = buildTimeline(step.plan, secondsOf(step.plan));
  std::vector<TraceEvent> events;
  for (size_t i = 0; i < step.plan.commands.size(); ++i) {
    auto ns = [](double seconds) { return int64_t(seconds * 1e9) + 77; };
    events.push_back({uint32_t(i), ns(wanted.commands[i].start), ns(wanted.commands[i].end),
                      step.plan.commands[i].stream});
  }
  Overlap overlap = computeOverlap(step.plan, buildTimeline(step.plan, events));
  EXPECT_NEAR(overlap.exposed, 3.5, 1e-6);
  EXPECT_NEAR(overlap.exposedBefore, 2, 1e-6);
}

TEST(Buckets, AreJoinedUntilTheyHaveSoManyBytes) {
  using Shares = std::vector<uint64_t>;
  for (auto [bytes, wanted] : {std::pair<double, Shares>{1024, {256, 256, 256, 256}},
                               {2048, {512, 512}},
                               {2049, {768, 256}},
                               {3072, {768, 256}},
                               {1e9, {1024}}}) {
    Step step;
    joinBuckets(step.plan, bytes);
    EXPECT_EQ(sharesOf(step.plan), wanted) << bytes;
  }
}

TEST(Buckets, StayApartWhereTheFirstIsReadBefore) {
  Step step(/*hurries=*/true);
  joinBuckets(step.plan, 1e9);
  EXPECT_EQ(sharesOf(step.plan), (std::vector<uint64_t>{256, 768}));
}

TEST(Buckets, StayApartWhereTheyDiffer) {
  Step gap, kind;
  gap.plan.buffers[2].offset = gap.plan.buffers[3].offset = 8192;
  gap.plan.buffers[3].offset += Step::kBytes;
  joinBuckets(gap.plan, 1e9);
  EXPECT_EQ(sharesOf(gap.plan), (std::vector<uint64_t>{512, 512}));
  for (Command &command : kind.plan.commands)
    if (isCollective(command) && command.buffers[0] == 3)
      command.desc["reduction"] = "max";
  joinBuckets(kind.plan, 1e9);
  EXPECT_EQ(sharesOf(kind.plan), (std::vector<uint64_t>{768, 256}));
}

} // namespace
