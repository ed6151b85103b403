//===- Ranks.cpp - one rank's process in the scenarios that mpi.py starts -----===//
//
// dlc_ranks SCENARIO [RANK], where RANK is the rank that misbehaves.
//
//===---------------------------------------------------------------------------===//
#include "EngineTests.h"
#include "dlc/Error.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <sched.h>
#include <string>
#include <thread>
#include <unistd.h>

using namespace dlc::runtime;

namespace {

int wrong = 0;

double processorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void correct(World &world) {
  dlc::test::eachCollective(world);
  dlc::test::eachType(world);
  dlc::test::manyAtOnce(world);
  const WorldLink &link = world.link();
  if (world.rank() == 0)
    std::printf("%d ranks of %s: latency %.1f us, %.2f GB/s\n", world.size(),
                std::string(world.engine()).c_str(), link.latency * 1e6,
                1e-9 / link.secondsPerByte);
}

void ordered(World &world) {
  uint64_t bits = dlc::test::orderedSum(world);
  if (world.rank() == 0)
    std::printf("bits %016llx\n", static_cast<unsigned long long>(bits));
}

/// Operands that are larger than one message.
void large(World &world) {
  const uint64_t share = (uint64_t(1) << 20) + 5, size = static_cast<uint64_t>(world.size());
  std::vector<uint8_t> all(share * size, 1), part(share, static_cast<uint8_t>(world.rank() + 1));
  world.run({.collective = Collective::ReduceScatter,
             .type = dlc::DType::U8,
             .from = all.data(),
             .to = part.data(),
             .share = share});
  for (uint8_t value : part)
    if (value != size)
      throw dlc::Error("reduce_scatter in pieces is wrong");
  part.assign(share, static_cast<uint8_t>(world.rank() + 1));
  world.run({.collective = Collective::AllGather,
             .type = dlc::DType::U8,
             .from = part.data(),
             .to = all.data(),
             .share = share});
  for (uint64_t i = 0; i < all.size(); ++i)
    if (all[i] != i / share + 1)
      throw dlc::Error("all_gather in pieces is wrong");
  if (world.rank() == 0)
    std::printf("in pieces: right\n");
}

void differs(World &world) {
  std::vector<std::string> lines{"hash 1", "all_reduce f32 10"};
  if (world.rank() == wrong)
    lines[1] = "all_reduce f32 11";
  world.agree("program", lines);
}

/// Runs `count` steps. In step 3 the misbehaving rank calls `act`.
template <typename Act> void steps(World &world, const Act &act, int count = 200) {
  float value = 1;
  for (int step = 1; step <= count; ++step) {
    world.setStep(step);
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    if (step == 3 && world.rank() == wrong)
      act();
    world.run({.from = &value, .to = &value, .share = 1});
  }
}

void dies(World &world) {
  steps(world, [] { kill(getpid(), SIGKILL); });
}
void stops(World &world) {
  steps(world, [] { raise(SIGSTOP); });
}
void hangs(World &world) {
  steps(world, [] { std::this_thread::sleep_for(std::chrono::minutes(2)); });
}
/// A long command without signs of life.
void works(World &world) {
  steps(
      world,
      [] {
        for (double end = processorSeconds() + 3; processorSeconds() < end;)
          ;
      },
      4);
  if (world.rank() != wrong)
    std::printf("a long command: waited for\n");
}
void throws(World &world) {
  steps(world, [] { throw dlc::Error("no memory is left"); });
}
void leaves(World &world) {
  float value = 1;
  for (int step = 1; step <= (world.rank() == wrong ? 2 : 3); ++step) {
    world.setStep(step);
    world.run({.from = &value, .to = &value, .share = 1});
  }
}

/// Other ranks wait for a slow rank that sends signs of life, and use little processor time.
void slow(World &world) {
  float value = 1;
  world.barrier();
  double before = processorSeconds();
  for (int i = 0; i < 30 && world.rank() == wrong; ++i) {
    world.alive();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  world.run({.from = &value, .to = &value, .share = 1});
  double took = processorSeconds() - before;
  if (world.rank() != wrong)
    std::printf("3 s of waiting took %s\n", took < 0.6 ? "little" : std::to_string(took).c_str());
}

void shares(World &world) {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::printf("rank %d: %d processors\n", world.rank(), CPU_COUNT(&set));
}

} // namespace

int main(int argc, char **argv) {
  const std::map<std::string, void (*)(World &)> scenarios = {
      {"correct", correct}, {"ordered", ordered}, {"large", large},   {"differs", differs},
      {"dies", dies},       {"stops", stops},     {"hangs", hangs},   {"throws", throws},
      {"leaves", leaves},   {"slow", slow},       {"shares", shares}, {"works", works}};
  auto scenario = argc > 1 ? scenarios.find(argv[1]) : scenarios.end();
  if (scenario == scenarios.end())
    return std::fprintf(stderr, "usage: dlc_ranks SCENARIO [RANK]\n"), 2;
  wrong = argc > 2 ? std::atoi(argv[2]) : 0;
  try {
    World &world = World::ofProcess();
    try {
      scenario->second(world);
    } catch (const dlc::Error &error) {
      world.abort(error.what());
    }
  } catch (const dlc::Error &error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
  return 0;
}
