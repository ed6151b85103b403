//===- CarrierTest.cpp - collectives that a library carries out instead of the engine ===//
#include "dlc/Error.h"
#include "runtime/collective/World.h"

#include <gmock/gmock.h>

#include <condition_variable>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <thread>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

/// A carrier that records what the world reports.
class Recorder : public CollectiveExecutor {
public:
  explicit Recorder(World &world) : world(world) { world.watch(*this); }
  ~Recorder() override { world.forget(*this); }

  void fails(const std::string &text) {
    std::lock_guard lock(mutex);
    wrong = text;
  }
  /// Waits until the world has ended and returns the reason.
  std::string untilEnd() {
    std::unique_lock lock(mutex);
    told.wait(lock, [&] { return !why.empty(); });
    return why;
  }
  bool hasEnded() {
    std::lock_guard lock(mutex);
    return !why.empty();
  }

private:
  std::string fault() override {
    std::lock_guard lock(mutex);
    return wrong;
  }
  void end(const std::string &given) override {
    std::lock_guard lock(mutex);
    why = given;
    told.notify_all();
  }

  World &world;
  std::mutex mutex;
  std::condition_variable told;
  std::string wrong, why;
};

void onRanks(int size, const std::function<void(World &)> &body) {
  auto worlds = createLoopbackWorlds(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      body(*worlds[size_t(rank)]);
      worlds[size_t(rank)].reset();
    });
  for (std::thread &thread : threads)
    thread.join();
}

/// Sets the time after which a rank without a sign of life is reported, for the lifetime of the
/// object.
class Seconds {
public:
  explicit Seconds(const char *text) { setenv("DLC_WORLD_TIMEOUT", text, 1); }
  ~Seconds() { unsetenv("DLC_WORLD_TIMEOUT"); }
};

} // namespace

TEST(CollectiveExecutor, ItsFaultEndsAllRanks) {
  onRanks(3, [](World &world) {
    Recorder carrier(world);
    world.setStep(4);
    if (world.rank() == 1)
      carrier.fails("the cable is broken");
    EXPECT_THAT(carrier.untilEnd(), HasSubstr("rank 1 of 3, step 4: the cable is broken"));
    // A carrier that is registered after the end is notified, too.
    Recorder late(world);
    EXPECT_TRUE(late.hasEnded());
    float value = 0;
    EXPECT_THROW(world.run({.from = &value, .to = &value, .share = 1}), Error);
  });
}

TEST(CollectiveExecutor, ARankThatOthersWaitForIsFoundHanging) {
  Seconds timeout("1");
  onRanks(2, [](World &world) {
    Recorder carrier(world);
    world.setStep(2);
    world.barrier();
    // Both ranks complete the first collective. Rank 1 never starts the second.
    uint64_t first = world.carriedStarts();
    world.carriedEnds(first);
    if (world.rank() == 0)
      world.carriedStarts();
    EXPECT_THAT(carrier.untilEnd(), HasSubstr("rank 1 hangs in step 2"));
  });
}

TEST(CollectiveExecutor, WhoHasStartedAllIsNotBlamed) {
  Seconds timeout("1");
  onRanks(2, [](World &world) {
    Recorder carrier(world);
    uint64_t number = world.carriedStarts();
    // Long work on a device, without signs of life. No rank has started fewer collectives than the
    // other, so none is reported.
    std::this_thread::sleep_for(std::chrono::milliseconds(1600));
    world.carriedEnds(number);
    EXPECT_FALSE(carrier.hasEnded());
    world.barrier();
  });
}
