//===- Team.cpp - the threads that work for the calling one ----------------------===//
#include "runtime/threads/Team.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <ctime>
#include <dlfcn.h>
#include <exception>
#include <fstream>
#include <linux/futex.h>
#include <memory>
#include <pthread.h>
#include <sched.h>
#include <sstream>
#include <string>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace dlc::threads {
namespace {

using Word = std::atomic<uint32_t>;
static_assert(sizeof(Word) == sizeof(uint32_t));

void futexWait(Word &word, uint32_t seen) {
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}
void futexWake(Word &word, int most) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

using Clock = std::chrono::steady_clock;

/// The processors that a thread may run on; empty where nobody can tell.
cpu_set_t allowed(pid_t thread) {
  cpu_set_t set;
  if (sched_getaffinity(thread, sizeof set, &set) != 0)
    CPU_ZERO(&set);
  return set;
}

std::optional<std::chrono::nanoseconds> timeOf(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

int processors() {
  cpu_set_t set = allowed(0);
  return std::max(1, CPU_COUNT(&set));
}

/// How long a thread spins before it sleeps: for long where that was worth while the last time, or
/// would have been, and for a shorter time with each wait that took longer. Where the thread that
/// it waits for has the same core, spinning only keeps that one from its work.
class Patience {
public:
  std::chrono::nanoseconds now() const { return spin; }
  void learn(std::chrono::nanoseconds waited) {
    spin = waited <= kMost ? kMost : std::max(kLeast, spin / 2);
  }

private:
  static constexpr std::chrono::nanoseconds kMost{100'000}, kLeast{2'000};
  std::chrono::nanoseconds spin = kMost;
};
thread_local Patience patience;

/// A number that others wait to see changed.
class Signal {
public:
  uint32_t value() const { return word.load(std::memory_order_acquire); }
  /// Whoever sleeps wakes up.
  void set(uint32_t value) {
    word.store(value, std::memory_order_seq_cst);
    wake();
  }
  uint32_t add() {
    uint32_t now = word.fetch_add(1, std::memory_order_seq_cst) + 1;
    wake();
    return now;
  }
  /// Until isOver(value()); spins first, where `spins`.
  template <typename Over> void wait(bool spins, const Over &isOver) {
    if (isOver(value()))
      return;
    auto start = Clock::now();
    if (spins) {
      auto until = start + patience.now();
      do {
        for (int i = 0; i < 32; ++i) {
          if (isOver(value()))
            return patience.learn({});
          __builtin_ia32_pause();
        }
      } while (Clock::now() < until);
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (uint32_t now = word.load(std::memory_order_seq_cst); !isOver(now); now = value())
      futexWait(word, now);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    // A virtual machine takes longer to wake a processor than spinning may last: until then is no
    // part of what was waited for.
    Clock::time_point woken{Clock::duration(wokenAt.load(std::memory_order_relaxed))};
    patience.learn((woken > start ? woken : Clock::now()) - start);
  }

private:
  void wake() {
    if (sleepers.load(std::memory_order_seq_cst) == 0)
      return;
    wokenAt.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
    futexWake(word, INT_MAX);
  }

  Word word{0};
  std::atomic<int> sleepers{0};
  std::atomic<Clock::rep> wokenAt{0};
};

/// Forked processes have their parent's teams, but none of their threads.
std::atomic<uint32_t> process{0};

constexpr int kMostRanges = 256;

/// Numbers of jobs are multiples of kJob; one with kTogether is done by all threads at the same
/// time, one with kParts in parts that stand alone, and one with kTaken stands where a range or
/// part of it is taken.
constexpr uint32_t kJob = 8, kParts = 4, kTogether = 2, kTaken = 1;

class Team {
public:
  ~Team() {
    dismiss();
    for (auto &worker : workers)
      if (worker->thread.joinable())
        worker->thread.join();
  }

  /// run(data), during which the workers are another's threads.
  void lend(const OpenMp &from, int threads, Body run, void *data);
  void ranges(int count, RangeBody body, void *context);
  /// How many threads there are for it.
  int start(int threads, Body body, void *data, bool standAlone);
  void end(int threads);
  void waitFor(int parts);
  void barrier(int threads);
  /// Processor time of the workers; nothing where one has ended or not begun.
  std::optional<std::chrono::nanoseconds> spent() const;

  const uint32_t bornIn = process.load();

private:
  struct alignas(64) Worker {
    Signal job; ///< another number, another job
    std::thread thread;
    std::atomic<pid_t> id{0};
    std::atomic<clockid_t> clock{0}; ///< of its processor time
  };

  void dismiss() {
    stops.store(true, std::memory_order_relaxed);
    for (auto &worker : workers)
      worker->job.add();
  }
  void crowd(int threads);
  int grow(int threads);
  void set(int parts, void *context);
  void call(int threads, uint32_t job);
  void leaveMyCore(int threads);
  void work(Worker &self, int number);
  void takeRanges(uint32_t job, int first);
  /// Not where there are more threads than processors.
  bool spins() const { return !isCrowded.load(std::memory_order_relaxed); }

  std::vector<std::unique_ptr<Worker>> workers;
  int lent = 0; ///< so many threads of another, the calling one among them
  std::atomic<bool> stops{false}, isCrowded{false};
  int known = 0; ///< threads that isCrowded is about
  int left = -1; ///< the processor that the workers leave to the calling thread
  Clock::time_point leftAt;
  uint32_t jobs = 0;
  bool standsAlone = false; ///< what start() began

  // The job. A thread that comes late to a loop may find the next one here: what it reads counts
  // only when it has claimed a range of the job that it came for.
  std::atomic<int> size{1}; ///< threads, or ranges
  std::atomic<RangeBody> rangeBody{nullptr};
  std::atomic<Body> body{nullptr};
  std::atomic<void *> context{nullptr};
  /// The job that has a range; with kTaken when somebody began with it.
  struct alignas(64) Claim {
    std::atomic<uint32_t> of{kTaken};
  };
  Claim claims[kMostRanges];
  Signal done;
  Signal phase; ///< of the barrier
  std::atomic<int> arrived{0};
};

/// What a thread is at the moment.
struct Place {
  Team *team = nullptr; ///< it works for this one
  int number = 0, count = 1;
};
thread_local Place place;

class Membership {
public:
  explicit Membership(const Place &now) : before(place) { place = now; }
  ~Membership() { place = before; }

private:
  Place before;
};

/// What belongs to a thread.
struct Own {
  int most = 0; ///< as set(); 0: nobody said
  bool partsStandAlone = false;
  Team *team = nullptr, *borrowed = nullptr;
  bool borrows = false;
  uint64_t jobs = 0;
  std::vector<Place> before; ///< what start() found, for end()

  ~Own() {
    for (Team *each : {team, borrowed})
      if (isHere(each))
        delete each;
  }
  /// The threads of another process cannot be ended, nor their team.
  static bool isHere(const Team *team) { return team && team->bornIn == process.load(); }
  /// For a job.
  Team &forJob() {
    ++jobs;
    if (borrows)
      return *borrowed;
    if (!isHere(team))
      team = new Team;
    return *team;
  }
};
thread_local Own own;

void watchForks() {
  static const int watches = pthread_atfork(nullptr, nullptr, [] { process.fetch_add(1); });
  static_cast<void>(watches);
}

/// Whether this process, when it was first asked, was the copy of one: it began with a fork, and no
/// program took its place.
bool wasForked() {
  static const bool was = [] {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    // What comes after the name, which may hold anything: state, parent, group, session, terminal,
    // its group, flags.
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string skipped;
    for (int i = 0; i < 6; ++i)
      fields >> skipped;
    constexpr unsigned long kForkedWithoutExec = 0x40;
    unsigned long flags = 0;
    return (fields >> flags) && (flags & kForkedWithoutExec);
  }();
  return was;
}

/// So many threads, or as many as the system gives.
int Team::grow(int threads) {
  if (lent) {
    crowd(threads);
    return std::min(threads, lent);
  }
  watchForks();
  while (int(workers.size()) < threads - 1) {
    left = -1;
    workers.push_back(std::make_unique<Worker>());
    Worker &worker = *workers.back();
    int number = int(workers.size());
    try {
      worker.thread = std::thread([this, &worker, number] { work(worker, number); });
    } catch (const std::system_error &) {
      workers.pop_back();
      break;
    }
  }
  crowd(threads);
  return std::min(threads, int(workers.size()) + 1);
}

/// There are so many threads.
void Team::crowd(int threads) {
  if (threads != known)
    isCrowded.store(threads > processors(), std::memory_order_relaxed);
  known = threads;
}

void Team::lend(const OpenMp &from, int threads, Body run, void *data) {
  watchForks();
  while (int(workers.size()) < threads - 1)
    workers.push_back(std::make_unique<Worker>());
  for (auto &worker : workers)
    worker->job.set(0);
  stops.store(false, std::memory_order_relaxed);
  struct Call {
    Team &team;
    const OpenMp &from;
    Body run;
    void *data;
    std::thread::id caller = std::this_thread::get_id();
    std::atomic<int> others{0};
    std::exception_ptr error;
  } call{*this, from, run, data};
  from.parallel(
      [](void *with) {
        Call &call = *static_cast<Call *>(with);
        Team &team = call.team;
        if (std::this_thread::get_id() != call.caller) {
          int number = ++call.others;
          return team.work(*team.workers[size_t(number - 1)], number);
        }
        team.lent = call.from.numThreads();
        try {
          call.run(call.data);
        } catch (...) {
          call.error = std::current_exception();
        }
        team.lent = 0;
        team.dismiss();
      },
      &call, unsigned(threads), 0);
  if (call.error)
    std::rethrow_exception(call.error);
}

std::optional<std::chrono::nanoseconds> Team::spent() const {
  std::chrono::nanoseconds sum{0};
  for (const auto &worker : workers) {
    const clockid_t clock = worker->clock.load(std::memory_order_relaxed);
    std::optional<std::chrono::nanoseconds> each = clock ? timeOf(clock) : std::nullopt;
    if (!each)
      return std::nullopt;
    sum += *each;
  }
  return sum;
}

/// The system may wake a worker on the core of the thread that wakes it, where other work is on its
/// own: then each would wait for the other there, while the rest of the team's cores do something
/// else.
void Team::leaveMyCore(int threads) {
  if (lent) // not ours to move
    return;
  const int mine = sched_getcpu();
  if (mine < 0 || mine == left || !spins())
    return;
  // It costs a call of the system for each worker.
  auto now = Clock::now();
  if (left >= 0 && now - leftAt < std::chrono::milliseconds(10))
    return;
  cpu_set_t set = allowed(0);
  if (CPU_COUNT(&set) < threads)
    return;
  CPU_CLR(mine, &set);
  bool all = true;
  for (int i = 0; i + 1 < threads; ++i) {
    pid_t id = workers[size_t(i)]->id.load(std::memory_order_relaxed);
    all &= id && sched_setaffinity(id, sizeof set, &set) == 0;
  }
  if (all) {
    left = mine;
    leftAt = now;
  }
}

/// Tells workers that there is a job for them.
void Team::call(int threads, uint32_t job) {
  leaveMyCore(threads);
  for (int i = 0; i + 1 < threads; ++i)
    workers[size_t(i)]->job.set(job);
}

void Team::work(Worker &self, int number) {
  if (clockid_t clock; pthread_getcpuclockid(pthread_self(), &clock) == 0)
    self.clock.store(clock, std::memory_order_relaxed);
  self.id.store(gettid(), std::memory_order_relaxed);
  for (uint32_t seen = 0;;) {
    self.job.wait(spins(), [&](uint32_t now) { return now != seen; });
    seen = self.job.value();
    if (stops.load(std::memory_order_relaxed))
      return;
    if (!(seen & kTogether)) {
      takeRanges(seen, number);
      continue;
    }
    // Nobody goes on to another job before all are through.
    Membership member({this, number, size.load(std::memory_order_relaxed)});
    body.load(std::memory_order_relaxed)(context.load(std::memory_order_relaxed));
    done.add();
  }
}

void Team::takeRanges(uint32_t job, int first) {
  const int count = size.load(std::memory_order_relaxed);
  RangeBody run = rangeBody.load(std::memory_order_relaxed);
  Body runPart = body.load(std::memory_order_relaxed);
  void *with = context.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) {
    int range = (first + i) % count;
    uint32_t open = job;
    if (!claims[range].of.compare_exchange_strong(open, job | kTaken, std::memory_order_acq_rel))
      continue;
    if (job & kParts) {
      Membership member({this, range, count});
      runPart(with);
    } else {
      Membership member({this, 0, 1});
      run(with, range, count);
    }
    done.add();
  }
}

/// A new job in so many parts.
void Team::set(int parts, void *with) {
  jobs += kJob;
  done.set(0);
  context.store(with, std::memory_order_relaxed);
  size.store(parts, std::memory_order_relaxed);
}

void Team::ranges(int count, RangeBody run, void *with) {
  const int threads = grow(count);
  set(count, with);
  rangeBody.store(run, std::memory_order_relaxed);
  for (int range = 0; range < count; ++range)
    claims[range].of.store(jobs, std::memory_order_release);
  call(threads, jobs);
  takeRanges(jobs, 0);
  waitFor(count);
}

int Team::start(int most, Body run, void *data, bool standAlone) {
  const int threads = grow(std::min(most, kMostRanges));
  set(threads, data);
  body.store(run, std::memory_order_relaxed);
  const uint32_t job = jobs | (standAlone ? kParts : kTogether);
  if (standAlone) // the first is the calling thread's
    for (int part = 0; part < threads; ++part)
      claims[part].of.store(part == 0 ? job | kTaken : job, std::memory_order_release);
  call(threads, job);
  standsAlone = standAlone;
  return threads;
}

void Team::end(int threads) {
  if (standsAlone)
    takeRanges(jobs | kParts, 1);
  waitFor(threads - 1);
}

void Team::waitFor(int parts) {
  done.wait(spins(), [&](uint32_t now) { return now == uint32_t(parts); });
}

void Team::barrier(int threads) {
  uint32_t now = phase.value();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
    arrived.store(0, std::memory_order_relaxed);
    phase.set(now + 1);
    return;
  }
  phase.wait(spins(), [&](uint32_t next) { return next != now; });
}

} // namespace

int most() {
  if (own.most > 0)
    return own.most;
  static const int asked = [] {
    const char *text = std::getenv("OMP_NUM_THREADS");
    return text ? std::atoi(text) : 0;
  }();
  return asked > 0 ? asked : processors();
}

void set(int threads) { own.most = std::max(1, threads); }
bool setPartsStandAlone(bool doThey) { return std::exchange(own.partsStandAlone, doThey); }
int number() { return place.number; }
int count() { return place.count; }
bool isInTeam() { return place.team != nullptr; }
uint64_t jobs() { return own.jobs; }

void ranges(int count, RangeBody body, void *context) {
  count = std::min(count, kMostRanges);
  if (count <= 1 || isInTeam())
    return body(context, 0, 1);
  own.forJob().ranges(count, body, context);
}

void start(int threads, Body body, void *data) {
  if (threads <= 0)
    threads = most();
  own.before.push_back(place);
  // Who is in a team already is alone in the next.
  if (isInTeam() || threads <= 1) {
    place.number = 0;
    place.count = 1;
    return;
  }
  Team &team = own.forJob();
  place = {&team, 0, team.start(threads, body, data, own.partsStandAlone)};
}

void end() {
  Place before = own.before.back();
  own.before.pop_back();
  if (!before.team && place.team)
    place.team->end(place.count);
  place = before;
}

void barrier() {
  if (place.team && place.count > 1)
    place.team->barrier(place.count);
}

std::optional<OpenMp> openMpOf(const char *library) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle)
    return std::nullopt;
  OpenMp found;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(handle, name));
    return function != nullptr;
  };
  const bool whole =
      find(found.parallel, "GOMP_parallel") && find(found.maxThreads, "omp_get_max_threads") &&
      find(found.numThreads, "omp_get_num_threads") && find(found.inParallel, "omp_in_parallel");
  if (whole)
    return found;
  dlclose(handle);
  return std::nullopt;
}

bool borrows() { return own.borrows; }

std::chrono::nanoseconds spentByOwn() {
  std::chrono::nanoseconds sum =
      timeOf(CLOCK_THREAD_CPUTIME_ID).value_or(std::chrono::nanoseconds(0));
  if (Own::isHere(own.team))
    sum += own.team->spent().value_or(std::chrono::nanoseconds(0));
  return sum;
}

std::chrono::nanoseconds spentByProcess() {
  return timeOf(CLOCK_PROCESS_CPUTIME_ID).value_or(std::chrono::nanoseconds(0));
}

std::optional<std::chrono::nanoseconds> spentByBorrowed() {
  return Own::isHere(own.borrowed) ? own.borrowed->spent() : std::nullopt;
}

void borrow(const OpenMp &from, Body run, void *data) {
  const int threads = most();
  if (threads <= 1 || own.borrows || isInTeam() || from.inParallel() ||
      from.maxThreads() != threads || process.load() != 0 || wasForked())
    return run(data);
  if (!own.borrowed)
    own.borrowed = new Team;
  own.borrows = true;
  struct Return {
    ~Return() { own.borrows = false; }
  } back;
  own.borrowed->lend(from, threads, run, data);
}

} // namespace dlc::threads
