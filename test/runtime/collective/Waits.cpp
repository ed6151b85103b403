//===- Waits.cpp - checks that every stream wait of a step on GPUs is necessary ===//
//
//   dlc_step_waits part.dlcx RANKS
//
// Runs a data-parallel step on ranks that are threads with one emulated GPU each. Then the GPU of
// rank 0 skips one wait of its streams after the other. Each skipped wait must be detected in some
// order of the streams, by different results or by an error. The checks of the program loader do
// not contribute, because the program itself keeps all its waits.
//
//===----------------------------------------------------------------------------------===//
#include "StepRanks.h"

#include "dlc/Error.h"
#include "runtime/program/Checker.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Reader.h"

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <map>
#include <unistd.h>

using namespace dlc::runtime;
using namespace dlc::test;

namespace {

/// Disables joining of collectives into buckets, because a bucket needs only one wait.
constexpr double kNotJoined = 0;

/// Makes the emulated GPU skip the given waits.
void drop(const std::string &which) {
  static auto set = [] {
    const char *file = std::getenv("DLC_CUDA_DRIVER");
    void *library = file ? dlopen(file, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void *found = library ? dlsym(library, "dlc_emulated_configure") : nullptr;
    if (!found)
      throw dlc::Error("$DLC_CUDA_DRIVER must name the emulated GPU");
    return reinterpret_cast<int (*)(const char *, const char *)>(found);
  }();
  if (!set("drop", which.c_str()))
    throw dlc::Error("the emulated GPU takes no '" + which + "'");
}

/// A wait of a stream: the stream, the wait's index in it, and the event.
struct Place {
  size_t stream;
  int onDevice; ///< index of the stream among those of its device
  int number;
  uint32_t event;
};

/// Returns the waits that a GPU executes. Waits of the host, and waits for events of the host, are
/// left out.
std::vector<Place> waitsOf(const Plan &plan) {
  std::vector<uint32_t> recorders(plan.events);
  for (const Command &command : plan.commands)
    if (command.op == Op::Record)
      recorders[command.event] = plan.streams[command.stream];
  std::vector<Place> places;
  std::vector<int> counts(plan.streams.size());
  for (const Command &command : plan.commands) {
    if (command.op != Op::Wait || plan.devices[plan.streams[command.stream]].isWalked() ||
        plan.devices[recorders[command.event]].isWalked())
      continue;
    int before = 0;
    for (size_t stream = 0; stream < command.stream; ++stream)
      before += plan.streams[stream] == plan.streams[command.stream];
    places.push_back({command.stream, before, counts[command.stream]++, command.event});
  }
  return places;
}

std::string missed(const std::shared_ptr<const Program> &program, const Plan &plan, size_t ranks,
                   const Batches &batches, const Results &expected, const std::string &dropped) {
  for (size_t stream = 0; stream < plan.streams.size(); ++stream) {
    drop(dropped);
    try {
      for (const Results &one :
           runOnRanks(ranks, program, batches, "first:" + std::to_string(stream), kNotJoined))
        if (!one.isLike(expected))
          return "differs";
    } catch (const dlc::Error &error) {
      std::printf("without wait %s: %s\n", dropped.c_str(), error.what());
      return "fails";
    }
  }
  return "";
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return std::fprintf(stderr, "usage: dlc_step_waits part.dlcx RANKS\n"), 2;
  // Ranks that lost synchronization may wait forever.
  alarm(240);
  try {
    auto program = std::make_shared<const Program>(readProgram(argv[1]));
    const Plan plan = checkProgram(*program);
    const size_t ranks = size_t(std::atoi(argv[2]));
    const Batches batches = someBatches(program, 2, ranks);
    const Results expected = runOnRanks(ranks, program, batches, "", kNotJoined)[0];
    if (std::string how = missed(program, plan, ranks, batches, expected, ""); !how.empty())
      return std::printf("the step with all its waits %s in some order of its streams\n",
                         how.c_str()),
             1;
    const std::vector<Place> waits = waitsOf(plan);
    std::map<std::string, int> found;
    int kept = 0;
    for (const Place &place : waits) {
      int of = 0;
      for (const Place &other : waits)
        of += other.stream == place.stream;
      std::string dropped = "0:" + std::to_string(place.onDevice) + ":" +
                            std::to_string(place.number) + ":" + std::to_string(of);
      std::string how = missed(program, plan, ranks, batches, expected, dropped);
      if (how.empty())
        ++kept, std::printf("not detected: removed wait %d of stream %zu, for event %u\n",
                            place.number, place.stream, place.event);
      else
        ++found[how];
    }
    for (const auto &[how, count] : found)
      std::printf("wait: %d %s\n", count, how.c_str());
    std::printf("%zu waits, %d not missed\n", waits.size(), kept);
    return kept ? 1 : 0;
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "dlc_step_waits: %s\n", error.what()), 1;
  }
}
