//===- ThreadPoolTest.cpp - the runtime's thread pool -----------------------------===//
#include "runtime/device/cpu/Parallel.h"
#include "runtime/threads/ForeignOpenMp.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <dlfcn.h>
#include <mutex>
#include <numeric>
#include <set>
#include <stdexcept>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace dlc;
using namespace std::chrono_literals;

extern "C" {
void DLCP_parallel_start(void (*)(void *), void *, unsigned);
void DLCP_parallel_end();
void DLCP_barrier();
bool DLCP_loop_static_start(long, long, long, long, long *, long *);
bool DLCP_loop_static_next(long *, long *);
void DLCP_loop_end_nowait();
int dlc_get_thread_num();
int dlc_get_num_threads();
int dlc_in_parallel();
}

namespace {

/// Each index is visited exactly once, for all sizes.
TEST(ThreadPool, RangesCoverALoopOnce) {
  for (int threads : {1, 2, 3, 7, 300})
    for (int64_t extent : {0, 1, 2, 5, 64, 1001})
      for (int64_t grain : {1, 3, 64}) {
        std::vector<std::atomic<int>> seen(static_cast<size_t>(extent));
        std::atomic<int> ranges{0};
        runtime::parallelFor(threads, extent, grain, [&](int64_t begin, int64_t end, int range) {
          EXPECT_EQ(begin % grain, 0);
          EXPECT_LT(range, std::min(threads, 256));
          ++ranges;
          for (int64_t i = begin; i < end; ++i)
            ++seen[static_cast<size_t>(i)];
        });
        EXPECT_LE(ranges, threads);
        for (auto &count : seen)
          EXPECT_EQ(count, 1);
      }
}

/// Loops follow each other immediately. A thread that arrives late must not take part in the next
/// loop.
TEST(ThreadPool, ManyLoopsOfChangingSizes) {
  std::vector<int64_t> numbers(4096);
  std::iota(numbers.begin(), numbers.end(), 0);
  for (int round = 0; round < 20000; ++round) {
    int threads = 2 + round % 3;
    int64_t extent = 1 + round % 97;
    std::atomic<int64_t> sum{0};
    runtime::parallelFor(threads, extent, 1, [&](int64_t begin, int64_t end, int) {
      int64_t own = 0;
      for (int64_t i = begin; i < end; ++i)
        own += numbers[static_cast<size_t>(i)];
      sum += own;
    });
    ASSERT_EQ(sum, extent * (extent - 1) / 2) << round;
  }
}

TEST(ThreadPool, ALoopWithinALoopIsTheCallersAlone) {
  std::atomic<int64_t> sum{0};
  runtime::parallelFor(4, 8, 1, [&](int64_t begin, int64_t end, int) {
    EXPECT_TRUE(threads::isInParallelWork());
    for (int64_t i = begin; i < end; ++i)
      runtime::parallelFor(4, 10, 1, [&](int64_t first, int64_t last, int range) {
        EXPECT_EQ(range, 0);
        EXPECT_EQ(last - first, 10);
        sum += last - first;
      });
  });
  EXPECT_EQ(sum, 80);
  EXPECT_FALSE(threads::isInParallelWork());
}

/// More threads than processors: each range is processed, whichever thread gets a core.
TEST(ThreadPool, MoreThreadsThanProcessors) {
  int many = std::min(4 * threads::defaultThreads(), 128);
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> done{0};
    runtime::parallelFor(many, many, 1,
                         [&](int64_t begin, int64_t end, int) { done += int(end - begin); });
    ASSERT_EQ(done, many);
  }
}

/// The threads of the pool sleep when the loop starts. The caller must not wait for them but
/// process their ranges.
TEST(ThreadPool, ALateThreadsRangeIsTakenByOthers) {
  std::thread::id caller = std::this_thread::get_id();
  int taken = 0;
  for (int round = 0; round < 50 && taken == 0; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int> own{0};
    runtime::parallelFor(2, 2, 1, [&](int64_t, int64_t, int) {
      if (std::this_thread::get_id() == caller)
        ++own;
    });
    taken += own == 2;
  }
  // Waking a thread takes longer than the caller's empty range.
  EXPECT_GT(taken, 0);
}

struct Parts {
  std::atomic<int> own{0}, done{0}, wrong{0};
  std::thread::id caller = std::this_thread::get_id();
};

void countPart(void *data) {
  auto &parts = *static_cast<Parts *>(data);
  parts.own += std::this_thread::get_id() == parts.caller;
  parts.wrong += dlc_get_num_threads() != 3 || dlc_get_thread_num() > 2 || !dlc_in_parallel();
  parts.done += 1 << 8 * dlc_get_thread_num();
}

/// Each part is processed exactly once. The caller processes parts that no other thread has
/// started.
TEST(ThreadPool, PartsThatStandAloneAreTakenByOthers) {
  bool before = threads::setPartsIndependent(true);
  auto round = [] {
    Parts parts;
    DLCP_parallel_start(countPart, &parts, 3);
    countPart(&parts);
    DLCP_parallel_end();
    EXPECT_EQ(parts.done, 0x010101);
    EXPECT_EQ(parts.wrong, 0);
    return parts.own > 1;
  };
  for (int i = 0; i < 2000; ++i)
    round();
  // Waking a thread takes longer than the caller's part.
  bool tookOthers = false;
  auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!tookOthers && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    tookOthers = round();
  }
  threads::setPartsIndependent(before);
  EXPECT_TRUE(tookOthers);
  EXPECT_FALSE(threads::isInParallelWork());
}

struct Together {
  std::atomic<int> before{0}, after{0}, wrong{0};
  std::vector<long> owner = std::vector<long>(103, -1);
};

/// Body of a parallel region with a barrier and a loop, as GCC compiles `#pragma omp parallel`.
void together(void *data) {
  auto &t = *static_cast<Together *>(data);
  int team = dlc_get_num_threads();
  ++t.before;
  DLCP_barrier();
  if (t.before != team || dlc_in_parallel() != (team > 1) || dlc_get_thread_num() >= team)
    ++t.wrong;
  for (long chunk : {0L, 7L}) {
    long from, to;
    if (DLCP_loop_static_start(0, 103, 1, chunk, &from, &to))
      do {
        for (long i = from; i < to; ++i)
          t.owner[static_cast<size_t>(i)] = dlc_get_thread_num();
      } while (DLCP_loop_static_next(&from, &to));
    DLCP_loop_end_nowait();
    DLCP_barrier();
    if (dlc_get_thread_num() == 0)
      for (long &owner : t.owner) {
        if (owner < 0)
          ++t.wrong;
        owner = -1;
      }
    DLCP_barrier();
  }
  ++t.after;
}

TEST(ThreadPool, OneBodyByAllAtTheSameTime) {
  for (int round = 0; round < 500; ++round) {
    int threads = 1 + round % 4;
    Together t;
    DLCP_parallel_start(together, &t, static_cast<unsigned>(threads));
    together(&t);
    DLCP_parallel_end();
    ASSERT_EQ(t.after, threads);
    ASSERT_EQ(t.wrong, 0);
    ASSERT_EQ(dlc_get_num_threads(), 1);
    // Loops between parallel regions.
    std::atomic<int> done{0};
    runtime::parallelFor(3, 3, 1,
                         [&](int64_t begin, int64_t end, int) { done += int(end - begin); });
    ASSERT_EQ(done, 3);
  }
}

TEST(ThreadPool, CallersHaveSeparatePools) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> sum{0};
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round)
        runtime::parallelFor(3, 30, 1,
                             [&](int64_t begin, int64_t end, int) { sum += end - begin; });
    });
  for (auto &caller : callers)
    caller.join();
  EXPECT_EQ(sum, 4 * 500 * 30);
}

/// A forked process has none of its parent's threads and creates its own.
TEST(ThreadPool, AForkedProcessHasASeparatePool) {
  std::atomic<int> done{0};
  auto loop = [&] {
    done = 0;
    runtime::parallelFor(4, 4, 1,
                         [&](int64_t begin, int64_t end, int) { done += int(end - begin); });
    return done == 4;
  };
  ASSERT_TRUE(loop());
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    bool good = loop();
    // Exits normally instead of with _exit, so that thread-local objects are destroyed.
    std::exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_TRUE(loop());
}

using Threads = std::set<std::thread::id>;

/// Returns the threads that run loops with three ranges, each of which waits for the others.
/// Returns fewer than three if one thread processes two ranges.
Threads whoWorks(int most) {
  Threads who;
  std::mutex mutex;
  for (int round = 0; round < 200 && int(who.size()) < most; ++round) {
    std::atomic<int> arrived{0};
    runtime::parallelFor(3, 3, 1, [&](int64_t, int64_t, int) {
      ++arrived;
      auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
      while (arrived < 3 && std::chrono::steady_clock::now() < until)
        std::this_thread::yield();
      std::lock_guard lock(mutex);
      who.insert(std::this_thread::get_id());
    });
  }
  return who;
}

/// Tests that run dlc's loops on the threads of GNU OpenMP, which is set to three threads.
class Borrowed : public testing::Test {
protected:
  void SetUp() override {
    setenv("GOMP_SPINCOUNT", "5000000", 0); // about 100 milliseconds
    handle = dlopen("libgomp.so.1", RTLD_NOW);
    if (!handle)
      GTEST_SKIP() << dlerror();
    theirs = threads::loadOpenMp("libgomp.so.1");
    ASSERT_TRUE(theirs);
    give(3);
    theirs->parallel([](void *) {}, nullptr, 3, 0);
  }
  void give(int threads) const {
    reinterpret_cast<void (*)(int)>(dlsym(handle, "omp_set_num_threads"))(threads);
  }
  Threads threadsOfTheirs() const {
    struct Found {
      Threads who;
      std::mutex mutex;
    } found;
    theirs->parallel(
        [](void *data) {
          auto &found = *static_cast<Found *>(data);
          std::lock_guard lock(found.mutex);
          found.who.insert(std::this_thread::get_id());
        },
        &found, 3, 0);
    return found.who;
  }
  template <typename Work> void borrow(const Work &work) const {
    runtime::ThreadScope scope(3);
    threads::borrow(
        *theirs, [](void *data) { (*static_cast<const Work *>(data))(); },
        const_cast<Work *>(&work));
  }

  void *handle = nullptr;
  std::optional<threads::OpenMp> theirs;
};

TEST_F(Borrowed, WorkIsDoneByAnothersThreads) {
  const Threads known = threadsOfTheirs();
  ASSERT_EQ(known.size(), 3U);
  for (int call = 0; call < 50; ++call) {
    Threads who;
    borrow([&] { who = whoWorks(call < 3 ? 3 : 1); });
    if (call < 3)
      EXPECT_EQ(who, known);
    EXPECT_EQ(threadsOfTheirs(), known);
  }
  // After `borrow` has returned, loops use the pool's own threads.
  Threads own = whoWorks(3);
  EXPECT_EQ(own.size(), 3U);
  own.erase(std::this_thread::get_id());
  for (std::thread::id each : own)
    EXPECT_FALSE(known.contains(each));
}

TEST_F(Borrowed, AllThatATeamCan) {
  for (int call = 0; call < 100; ++call) {
    const uint64_t before = threads::jobs();
    borrow([&] {
      EXPECT_FALSE(threads::isInParallelWork());
      for (int round = 0; round < 20; ++round) {
        Together t;
        // Up to four threads are requested, but OpenMP has only three, which do all the work.
        int threads = 2 + round % 3;
        DLCP_parallel_start(together, &t, unsigned(threads));
        together(&t);
        DLCP_parallel_end();
        ASSERT_EQ(t.after, std::min(threads, 3));
        ASSERT_EQ(t.wrong, 0);
        std::atomic<int> done{0};
        runtime::parallelFor(4, 4, 1,
                             [&](int64_t begin, int64_t end, int) { done += int(end - begin); });
        ASSERT_EQ(done, 4);
      }
    });
    ASSERT_EQ(threads::jobs() - before, 40U);
  }
}

TEST_F(Borrowed, AnErrorComesThrough) {
  EXPECT_THROW(borrow([&] {
                 whoWorks(1);
                 throw std::runtime_error("no");
               }),
               std::runtime_error);
  Threads who;
  borrow([&] { who = whoWorks(3); });
  EXPECT_EQ(who, threadsOfTheirs());
}

/// If the number of threads differs, OpenMP would end some of its threads or create new ones, so
/// they are not used.
TEST_F(Borrowed, NotWhereTheyAreMoreOrFewer) {
  const Threads known = threadsOfTheirs();
  give(2);
  Threads who;
  borrow([&] { who = whoWorks(3); });
  who.erase(std::this_thread::get_id());
  for (std::thread::id each : who)
    EXPECT_FALSE(known.contains(each));
}

/// GNU OpenMP waits forever for threads that do not exist in a forked process.
TEST_F(Borrowed, NotInAForkedProcess) {
  borrow([] { whoWorks(3); });
  pid_t child = fork();
  if (child == 0) {
    alarm(20);
    size_t threads = 0;
    borrow([&] { threads = whoWorks(3).size(); });
    std::exit(threads == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// OpenMP's threads do the work while they spin on the processors that the pool would use. The
/// pool's own threads do it after OpenMP's have gone to sleep.
TEST_F(Borrowed, WhileTheySpin) {
  if (std::thread::hardware_concurrency() < 2)
    GTEST_SKIP() << "one processor: nobody spins";
  constexpr int kMax = 1000;
  runtime::ThreadScope scope(2);
  give(2);
  auto nothing = [](void *) {};
  theirs->parallel(nothing, nullptr, 2, 0);
  struct Run {
    std::atomic<bool> borrowed{false};
    static void work(void *data) {
      auto &run = *static_cast<Run *>(data);
      run.borrowed = threads::borrows();
      runtime::parallelFor(8, 2, 1, [](int64_t begin, int64_t end, int) {
        auto until = std::chrono::steady_clock::now() + (end - begin) * 1ms;
        while (std::chrono::steady_clock::now() < until)
          ;
      });
    }
    static bool isBorrowed() {
      Run run;
      threads::runWithForeignThreads(work, &run);
      return run.borrowed;
    }
  };
  // A sleeping OpenMP thread is not used.
  std::this_thread::sleep_for(1s);
  for (int i = 0; i < 40; ++i)
    ASSERT_FALSE(Run::isBorrowed());
  // GNU OpenMP does not let its threads spin while it counts more threads than processors, for
  // example those that another test has just released.
  std::clock_t before = std::clock();
  theirs->parallel(nothing, nullptr, 2, 0);
  std::this_thread::sleep_for(20ms);
  if (double(std::clock() - before) / CLOCKS_PER_SEC < 5e-4)
    GTEST_SKIP() << "they do not spin";
  int calls = 0;
  const auto start = std::chrono::steady_clock::now();
  const std::clock_t worked = std::clock();
  for (bool borrowed = false; !borrowed && calls < kMax; ++calls) {
    theirs->parallel(nothing, nullptr, 2, 0);
    borrowed = Run::isBorrowed();
  }
  // If other processes use the processors, the pool's threads cannot spin.
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  if (double(std::clock() - worked) / CLOCKS_PER_SEC < 1.8 * passed.count() && calls == kMax)
    GTEST_SKIP() << "the processors are busy with other work";
  EXPECT_LT(calls, kMax);
  // Now only the work from the pool keeps OpenMP's threads awake.
  for (calls = 0; Run::isBorrowed() && calls < kMax; ++calls)
    ;
  std::this_thread::sleep_for(1s);
  for (int i = 0; i < 40; ++i)
    ASSERT_FALSE(Run::isBorrowed());
}

TEST(OpenMp, OfALibraryThatIsNotLoaded) {
  EXPECT_FALSE(threads::loadOpenMp("libnobody-has-this.so"));
  EXPECT_FALSE(threads::loadOpenMp("libm.so.6"));
}

TEST(ThreadPool, DefaultIsAllThreads) {
  int all = threads::defaultThreads();
  {
    runtime::ThreadScope scope(all + 3);
    EXPECT_EQ(threads::defaultThreads(), all + 3);
  }
  EXPECT_EQ(threads::defaultThreads(), all);
}

} // namespace
