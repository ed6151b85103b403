//===- Neighbour.cpp - work beside another OpenMP of the process ------------------===//
#include "runtime/threads/Neighbour.h"

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

constexpr int kBetweenSearches = 16, kBetweenLooks = 8, kFewestBorrowed = 16, kMostBorrowed = 256;
/// Of processor time, before it is compared: the system adds up what a thread spends when it ends a
/// turn or the timer ticks, which may be each ten milliseconds.
constexpr std::chrono::milliseconds kEnough{16};
/// By then a thread that had nothing to do has gone to sleep.
constexpr std::chrono::milliseconds kSleepsAfter{50};

/// The best first: PyTorch's has a name of its own, which only PyTorch knows.
constexpr std::array<std::string_view, 4> kLibraries{"libtorch_cpu.", "libgomp", "libiomp5.",
                                                     "libomp."};

struct Loaded {
  size_t rank = kLibraries.size();
  std::string path;
};

/// How many libraries the process has loaded so far.
unsigned long long loadsSoFar() {
  unsigned long long count = 0;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        *static_cast<unsigned long long *>(to) = info->dlpi_adds;
        return 1;
      },
      &count);
  return count;
}

std::optional<OpenMp> loadedOpenMp() {
  Loaded found;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *to) {
        Loaded &best = *static_cast<Loaded *>(to);
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
  return found.path.empty() ? std::nullopt : openMpOf(found.path.c_str());
}

/// Processor time of the calling thread's team, and of others: of the other OpenMP's threads where
/// they are known, else of all.
struct Spent {
  nanoseconds own = spentByOwn();
  std::optional<nanoseconds> known = spentByBorrowed();
  nanoseconds others = known ? *known : spentByProcess() - own;
};

/// Runs by our own team, and what was spent in them.
struct Looks {
  int runs = 0;
  nanoseconds own{}, others{};

  void add(const Spent &before, const Spent &after) {
    if (after.known.has_value() != before.known.has_value())
      return;
    ++runs;
    own += after.own - before.own;
    others += after.others - before.others;
  }
  bool areEnough() const { return own >= kEnough; }
  /// Whether others took so much of the processors that it was worth while to join them: of two
  /// cores the one that they spin on is shared for as long as they do.
  bool areOthersBusy() const { return 10 * others > own; }
};

class Neighbour {
public:
  constexpr Neighbour() noexcept = default;
  void run(Body work, void *data);

private:
  bool isThere();
  void look(Body work, void *data);
  void judge(const Looks &looks);

  std::optional<OpenMp> other;
  unsigned long long loads = 0;
  int untilSearch = 0, untilLook = 0;
  Looks looks;
  bool isSuspect = false, borrows = false;
  int longest = 0; ///< so many times as many runs as were looked at are with their threads
  Clock::time_point borrowedAt;
};

bool Neighbour::isThere() {
  if (other)
    return true;
  if (untilSearch-- > 0)
    return false;
  untilSearch = kBetweenSearches;
  if (unsigned long long now = loadsSoFar(); now != loads) {
    loads = now;
    other = loadedOpenMp();
  }
  return other.has_value();
}

void Neighbour::run(Body work, void *data) {
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
  // They may spin since they worked for us.
  if (borrows && Clock::now() - borrowedAt < kSleepsAfter)
    return work(data);
  look(work, data);
}

/// A run by our own team, with a look at the others.
void Neighbour::look(Body work, void *data) {
  const Spent before;
  work(data);
  looks.add(before, Spent());
  if (looks.areEnough())
    judge(std::exchange(looks, {}));
}

/// Short runs are looked at several times; as many times more go by until the next look.
void Neighbour::judge(const Looks &looks) {
  if (!looks.areOthersBusy()) {
    isSuspect = borrows = false;
    untilLook = kBetweenLooks * looks.runs;
  } else if (!isSuspect) {
    isSuspect = true; // once may be chance
  } else {
    longest = borrows ? std::min(2 * longest, kMostBorrowed) : kFewestBorrowed;
    untilLook = longest * looks.runs;
    borrows = true;
  }
}

constinit thread_local Neighbour neighbour;

} // namespace

void runBeside(Body run, void *data) {
  if (most() <= 1 || borrows() || isInTeam())
    return run(data);
  neighbour.run(run, data);
}

} // namespace dlc::threads
