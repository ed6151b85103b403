//===- ForeignOpenMp.cpp - cooperation with another OpenMP runtime in the process -===//
#include "runtime/threads/ForeignOpenMp.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <link.h>
#include <string>
#include <string_view>
#include <utility>

namespace dlc::threads {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

constexpr int kBetweenSearches = 16, kBetweenLooks = 8, kMinBorrowed = 16, kMaxBorrowed = 256;
/// CPU time to accumulate before a decision. The system updates a thread's CPU time only at context
/// switches and timer ticks, which may be 10 ms apart.
constexpr std::chrono::milliseconds kEnough{16};
/// Time after which idle threads of another OpenMP runtime have stopped spinning and sleep.
constexpr std::chrono::milliseconds kSleepsAfter{50};

/// Name prefixes of libraries with an OpenMP runtime, in order of preference. PyTorch's own copy of
/// a runtime has a unique name, which is known only through libtorch_cpu.
constexpr std::array<std::string_view, 4> kLibraries{"libtorch_cpu.", "libgomp", "libiomp5.",
                                                     "libomp."};

struct FoundLibrary {
  size_t rank = kLibraries.size();
  std::string path;
};

/// Returns the number of libraries that the process has loaded so far.
unsigned long long countLoadedLibraries() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        *static_cast<unsigned long long *>(to) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

std::optional<OpenMp> findLoadedOpenMp() {
  FoundLibrary found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        FoundLibrary &best = *static_cast<FoundLibrary *>(to);
        const char *slash = std::strrchr(info->dlpi_name, '/');
        std::string_view name = slash ? slash + 1 : info->dlpi_name;
        for (size_t rank = 0; rank < best.rank; ++rank)
          if (name.starts_with(kLibraries[rank])) {
            best.rank = rank;
            best.path = info->dlpi_name;
          }
        return 0;
      },
      &found);
  return found.path.empty() ? std::nullopt : loadOpenMp(found.path.c_str());
}

/// CPU time of the calling thread's pool and of other threads: the threads borrowed from the other
/// OpenMP runtime if they are known, otherwise all other threads of the process.
struct CpuTimes {
  nanoseconds own = getPoolCpuTime();
  std::optional<nanoseconds> known = getBorrowedCpuTime();
  nanoseconds others = known ? *known : getProcessCpuTime() - own;
};

/// CPU times accumulated over runs that our own pool executed.
struct AccumulatedTimes {
  int runs = 0;
  nanoseconds own{}, others{};

  void add(const CpuTimes &before, const CpuTimes &after) {
    if (after.known.has_value() != before.known.has_value())
      return;
    ++runs;
    own += after.own - before.own;
    others += after.others - before.others;
  }
  bool areEnough() const { return own >= kEnough; }
  /// Returns whether the other OpenMP threads used more than a tenth of the CPU time of the own
  /// pool. They then spin between calls, and running work on them costs less than competing with
  /// them.
  bool areOthersBusy() const { return 10 * others > own; }
};

class ForeignThreads {
public:
  constexpr ForeignThreads() noexcept = default;
  void run(Body work, void *data);

private:
  bool isThere();
  void look(Body work, void *data);
  void compare(const AccumulatedTimes &looks);

  std::optional<OpenMp> other;
  unsigned long long loads = 0;
  int untilSearch = 0, untilLook = 0;
  AccumulatedTimes looks;
  bool isSuspect = false, borrows = false;
  int longest = 0; ///< borrowed runs per measured run until the next measurement
  Clock::time_point borrowedAt;
};

bool ForeignThreads::isThere() {
  if (other)
    return true;
  if (untilSearch-- > 0)
    return false;
  untilSearch = kBetweenSearches;
  if (unsigned long long now = countLoadedLibraries(); now != loads) {
    loads = now;
    other = findLoadedOpenMp();
  }
  return other.has_value();
}

void ForeignThreads::run(Body work, void *data) {
  if (!isThere())
    return work(data);
  if (untilLook-- > 0) {
    if (!borrows)
      return work(data);
    borrow(*other, work, data);
    borrowedAt = Clock::now();
    return;
  }
  untilLook = 0;
  // Do not measure yet: the other runtime's threads may still spin because of our last borrowed
  // run.
  if (borrows && Clock::now() - borrowedAt < kSleepsAfter)
    return work(data);
  look(work, data);
}

/// Runs the work with our own pool and measures the CPU time that the other threads use meanwhile.
void ForeignThreads::look(Body work, void *data) {
  const CpuTimes before;
  work(data);
  looks.add(before, CpuTimes());
  if (looks.areEnough())
    compare(std::exchange(looks, {}));
}

/// Decides from measured CPU times whether to borrow the other runtime's threads. Short runs need
/// several measurements; the number of runs until the next measurement is proportional to this
/// number.
void ForeignThreads::compare(const AccumulatedTimes &looks) {
  if (!looks.areOthersBusy()) {
    isSuspect = borrows = false;
    untilLook = kBetweenLooks * looks.runs;
  } else if (!isSuspect) {
    isSuspect = true; // require a second measurement, because one alone may be noise
  } else {
    longest = borrows ? std::min(2 * longest, kMaxBorrowed) : kMinBorrowed;
    untilLook = longest * looks.runs;
    borrows = true;
  }
}

constinit thread_local ForeignThreads foreign;

} // namespace

void runWithForeignThreads(Body run, void *data) {
  if (defaultThreads() <= 1 || borrows() || isInParallelWork())
    return run(data);
  foreign.run(run, data);
}

} // namespace dlc::threads
