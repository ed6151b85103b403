//===- ThreadPool.cpp - thread pools -----------------------------------------===//
#include "runtime/threads/ThreadPool.h"

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

/// Returns the CPUs on which a thread may run; an empty set on failure.
cpu_set_t getAffinity(pid_t thread) {
  cpu_set_t set;
  if (sched_getaffinity(thread, sizeof set, &set) != 0)
    CPU_ZERO(&set);
  return set;
}

std::optional<std::chrono::nanoseconds> readClock(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0)
    return std::nullopt;
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

int countProcessors() {
  cpu_set_t set = getAffinity(0);
  return std::max(1, CPU_COUNT(&set));
}

/// Adaptive time for which a waiting thread spins before it sleeps. It is the maximum if the last
/// wait was shorter than the maximum, and is halved after each longer wait: if the awaited thread
/// needs the same core, spinning only delays it.
class SpinTime {
public:
  std::chrono::nanoseconds now() const { return spin; }
  void learn(std::chrono::nanoseconds waited) {
    spin = waited <= kMax ? kMax : std::max(kMin, spin / 2);
  }

private:
  static constexpr std::chrono::nanoseconds kMax{100'000}, kMin{2'000};
  std::chrono::nanoseconds spin = kMax;
};
thread_local SpinTime spinTime;

/// A number whose changes other threads can wait for, by spinning and then sleeping.
class Signal {
public:
  uint32_t value() const { return word.load(std::memory_order_acquire); }
  /// Sets the value and wakes all sleeping threads.
  void set(uint32_t value) {
    word.store(value, std::memory_order_seq_cst);
    wake();
  }
  uint32_t add() {
    uint32_t now = word.fetch_add(1, std::memory_order_seq_cst) + 1;
    wake();
    return now;
  }
  /// Waits until isOver(value()) is true. If `spins`, the thread spins first and then sleeps.
  template <typename Over> void wait(bool spins, const Over &isOver) {
    if (isOver(value()))
      return;
    auto start = Clock::now();
    if (spins) {
      auto until = start + spinTime.now();
      do {
        for (int i = 0; i < 32; ++i) {
          if (isOver(value()))
            return spinTime.learn({});
          __builtin_ia32_pause();
        }
      } while (Clock::now() < until);
    }
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    for (uint32_t now = word.load(std::memory_order_seq_cst); !isOver(now); now = value())
      futexWait(word, now);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
    // Do not count the time to wake up as waiting time: waking a CPU of a virtual machine takes
    // longer than the maximum spin time.
    Clock::time_point woken{Clock::duration(wokenAt.load(std::memory_order_relaxed))};
    spinTime.learn((woken > start ? woken : Clock::now()) - start);
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

/// Fork counter, incremented in each forked child. A child has copies of its parent's pools, but
/// none of their threads.
std::atomic<uint32_t> process{0};

constexpr int kMaxRanges = 256;

/// Job numbers are multiples of kJob, combined with flags. kTogether: all threads execute the body
/// concurrently. kParts: the body consists of independent parts. kTaken, in a claim: the range or
/// part has been claimed.
constexpr uint32_t kJob = 8, kParts = 4, kTogether = 2, kTaken = 1;

class ThreadPool {
public:
  ~ThreadPool() {
    dismiss();
    for (auto &worker : workers)
      if (worker->thread.joinable())
        worker->thread.join();
  }

  /// Calls run(data) with the threads of another OpenMP runtime as workers.
  void lend(const OpenMp &from, int threads, Body run, void *data);
  void ranges(int count, RangeBody body, void *context);
  /// Starts a job and returns the number of threads that execute the body.
  int start(int threads, Body body, void *data, bool independent);
  void end(int threads);
  void waitFor(int parts);
  void barrier(int threads);
  /// Returns the CPU time of the workers; std::nullopt if one has terminated or not started.
  std::optional<std::chrono::nanoseconds> spent() const;

  const uint32_t bornIn = process.load();

private:
  struct alignas(64) Worker {
    Signal job; ///< a change of the number signals a new job
    std::thread thread;
    std::atomic<pid_t> id{0};
    std::atomic<clockid_t> clock{0}; ///< CPU-time clock of the thread
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
  /// Returns whether waiting threads spin: false if there are more threads than CPUs.
  bool spins() const { return !isCrowded.load(std::memory_order_relaxed); }

  std::vector<std::unique_ptr<Worker>> workers;
  int lent = 0; ///< number of borrowed threads, including the calling one
  std::atomic<bool> stops{false}, isCrowded{false};
  int known = 0; ///< thread count for which isCrowded was computed
  int left = -1; ///< CPU that the workers avoid, because the calling thread uses it
  Clock::time_point leftAt;
  uint32_t jobs = 0;
  bool standsAlone = false; ///< whether the job of start() has independent parts

  // State of the current job. A thread that is late for a loop may read the values of the next job;
  // it uses them only after it has claimed a range of the job that it was called for.
  std::atomic<int> size{1}; ///< number of threads or ranges
  std::atomic<RangeBody> rangeBody{nullptr};
  std::atomic<Body> body{nullptr};
  std::atomic<void *> context{nullptr};
  /// Number of the job to which a range or part belongs, with kTaken set after a thread has claimed
  /// it.
  struct alignas(64) Claim {
    std::atomic<uint32_t> of{kTaken};
  };
  Claim claims[kMaxRanges];
  Signal done;
  Signal phase; ///< counts the completed barriers
  std::atomic<int> arrived{0};
};

/// Pool, index and thread count of the parallel work that a thread is executing.
struct ParallelPosition {
  ThreadPool *pool = nullptr; ///< pool for which it works
  int number = 0, count = 1;
};
thread_local ParallelPosition place;

class ParallelScope {
public:
  explicit ParallelScope(const ParallelPosition &now) : before(place) { place = now; }
  ~ParallelScope() { place = before; }

private:
  ParallelPosition before;
};

/// Per-thread state of a thread that requests parallel work.
struct CallerState {
  int most = 0; ///< thread count of set(); 0 if not set
  bool partsAreIndependent = false;
  ThreadPool *pool = nullptr, *borrowed = nullptr;
  bool borrows = false;
  uint64_t jobs = 0;
  std::vector<ParallelPosition> before; ///< places that start() has replaced, restored by end()

  ~CallerState() {
    for (ThreadPool *each : {pool, borrowed})
      if (isHere(each))
        delete each;
  }
  /// Returns whether the pool was created in this process. After a fork, a pool of the parent
  /// process can be neither used nor destroyed.
  static bool isHere(const ThreadPool *pool) { return pool && pool->bornIn == process.load(); }
  /// Returns the pool for a new job of the calling thread: the borrowed threads, or its own pool.
  ThreadPool &forJob() {
    ++jobs;
    if (borrows)
      return *borrowed;
    if (!isHere(pool))
      pool = new ThreadPool;
    return *pool;
  }
};
thread_local CallerState caller;

void registerForkHandler() {
  static const int watches = pthread_atfork(nullptr, nullptr, [] { process.fetch_add(1); });
  static_cast<void>(watches);
}

/// Returns whether this process is a fork of another one without a subsequent exec. Determined at
/// the first call.
bool wasForked() {
  static const bool was = [] {
    std::ifstream file("/proc/self/stat");
    std::string text;
    std::getline(file, text);
    // In /proc/self/stat, the process name may contain any characters. It is followed by: state,
    // parent, process group, session, terminal, terminal's process group, flags.
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

/// Creates workers until there are `threads` threads. Returns the available number, which may be
/// lower if the system refuses.
int ThreadPool::grow(int threads) {
  if (lent) {
    crowd(threads);
    return std::min(threads, lent);
  }
  registerForkHandler();
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

/// Updates isCrowded (more threads than CPUs) for this number of threads.
void ThreadPool::crowd(int threads) {
  if (threads != known)
    isCrowded.store(threads > countProcessors(), std::memory_order_relaxed);
  known = threads;
}

void ThreadPool::lend(const OpenMp &from, int threads, Body run, void *data) {
  registerForkHandler();
  while (int(workers.size()) < threads - 1)
    workers.push_back(std::make_unique<Worker>());
  for (auto &worker : workers)
    worker->job.set(0);
  stops.store(false, std::memory_order_relaxed);
  struct Call {
    ThreadPool &pool;
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
        ThreadPool &pool = call.pool;
        if (std::this_thread::get_id() != call.caller) {
          int number = ++call.others;
          return pool.work(*pool.workers[size_t(number - 1)], number);
        }
        pool.lent = call.from.numThreads();
        try {
          call.run(call.data);
        } catch (...) {
          call.error = std::current_exception();
        }
        pool.lent = 0;
        pool.dismiss();
      },
      &call, unsigned(threads), 0);
  if (call.error)
    std::rethrow_exception(call.error);
}

std::optional<std::chrono::nanoseconds> ThreadPool::spent() const {
  std::chrono::nanoseconds sum{0};
  for (const auto &worker : workers) {
    const clockid_t clock = worker->clock.load(std::memory_order_relaxed);
    std::optional<std::chrono::nanoseconds> each = clock ? readClock(clock) : std::nullopt;
    if (!each)
      return std::nullopt;
    sum += *each;
  }
  return sum;
}

/// Excludes the calling thread's core from the workers' affinity masks. The system may wake a
/// worker on the core of the thread that wakes it, if other work runs on the worker's own core;
/// both would then share this core while other cores are idle.
void ThreadPool::leaveMyCore(int threads) {
  if (lent) // must not change the affinity of borrowed threads
    return;
  const int mine = sched_getcpu();
  if (mine < 0 || mine == left || !spins())
    return;
  // Change the affinity at most once in 10 ms, because it costs a system call per worker.
  auto now = Clock::now();
  if (left >= 0 && now - leftAt < std::chrono::milliseconds(10))
    return;
  cpu_set_t set = getAffinity(0);
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

/// Signals a new job to the workers.
void ThreadPool::call(int threads, uint32_t job) {
  leaveMyCore(threads);
  for (int i = 0; i + 1 < threads; ++i)
    workers[size_t(i)]->job.set(job);
}

void ThreadPool::work(Worker &self, int number) {
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
    // Each thread executes the body exactly once: no new job starts before all threads are done.
    ParallelScope member({this, number, size.load(std::memory_order_relaxed)});
    body.load(std::memory_order_relaxed)(context.load(std::memory_order_relaxed));
    done.add();
  }
}

void ThreadPool::takeRanges(uint32_t job, int first) {
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
      ParallelScope member({this, range, count});
      runPart(with);
    } else {
      ParallelScope member({this, 0, 1});
      run(with, range, count);
    }
    done.add();
  }
}

/// Initializes a new job with `parts` ranges or parts.
void ThreadPool::set(int parts, void *with) {
  jobs += kJob;
  done.set(0);
  context.store(with, std::memory_order_relaxed);
  size.store(parts, std::memory_order_relaxed);
}

void ThreadPool::ranges(int count, RangeBody run, void *with) {
  const int threads = grow(count);
  set(count, with);
  rangeBody.store(run, std::memory_order_relaxed);
  for (int range = 0; range < count; ++range)
    claims[range].of.store(jobs, std::memory_order_release);
  call(threads, jobs);
  takeRanges(jobs, 0);
  waitFor(count);
}

int ThreadPool::start(int most, Body run, void *data, bool independent) {
  const int threads = grow(std::min(most, kMaxRanges));
  set(threads, data);
  body.store(run, std::memory_order_relaxed);
  const uint32_t job = jobs | (independent ? kParts : kTogether);
  if (independent) // the first part belongs to the calling thread
    for (int part = 0; part < threads; ++part)
      claims[part].of.store(part == 0 ? job | kTaken : job, std::memory_order_release);
  call(threads, job);
  standsAlone = independent;
  return threads;
}

void ThreadPool::end(int threads) {
  if (standsAlone)
    takeRanges(jobs | kParts, 1);
  waitFor(threads - 1);
}

void ThreadPool::waitFor(int parts) {
  done.wait(spins(), [&](uint32_t now) { return now == uint32_t(parts); });
}

void ThreadPool::barrier(int threads) {
  uint32_t now = phase.value();
  if (arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == threads) {
    arrived.store(0, std::memory_order_relaxed);
    phase.set(now + 1);
    return;
  }
  phase.wait(spins(), [&](uint32_t next) { return next != now; });
}

} // namespace

int defaultThreads() {
  if (caller.most > 0)
    return caller.most;
  static const int asked = [] {
    const char *text = std::getenv("OMP_NUM_THREADS");
    return text ? std::atoi(text) : 0;
  }();
  return asked > 0 ? asked : countProcessors();
}

void set(int threads) { caller.most = std::max(1, threads); }
bool setPartsIndependent(bool independent) {
  return std::exchange(caller.partsAreIndependent, independent);
}
int number() { return place.number; }
int count() { return place.count; }
bool isInParallelWork() { return place.pool != nullptr; }
uint64_t jobs() { return caller.jobs; }

void ranges(int count, RangeBody body, void *context) {
  count = std::min(count, kMaxRanges);
  if (count <= 1 || isInParallelWork())
    return body(context, 0, 1);
  caller.forJob().ranges(count, body, context);
}

void start(int threads, Body body, void *data) {
  if (threads <= 0)
    threads = defaultThreads();
  caller.before.push_back(place);
  // A nested call is executed by the calling thread only.
  if (isInParallelWork() || threads <= 1) {
    place.number = 0;
    place.count = 1;
    return;
  }
  ThreadPool &pool = caller.forJob();
  place = {&pool, 0, pool.start(threads, body, data, caller.partsAreIndependent)};
}

void end() {
  ParallelPosition before = caller.before.back();
  caller.before.pop_back();
  if (!before.pool && place.pool)
    place.pool->end(place.count);
  place = before;
}

void barrier() {
  if (place.pool && place.count > 1)
    place.pool->barrier(place.count);
}

std::optional<OpenMp> loadOpenMp(const char *library) {
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

bool borrows() { return caller.borrows; }

std::chrono::nanoseconds getPoolCpuTime() {
  std::chrono::nanoseconds sum =
      readClock(CLOCK_THREAD_CPUTIME_ID).value_or(std::chrono::nanoseconds(0));
  if (CallerState::isHere(caller.pool))
    sum += caller.pool->spent().value_or(std::chrono::nanoseconds(0));
  return sum;
}

std::chrono::nanoseconds getProcessCpuTime() {
  return readClock(CLOCK_PROCESS_CPUTIME_ID).value_or(std::chrono::nanoseconds(0));
}

std::optional<std::chrono::nanoseconds> getBorrowedCpuTime() {
  return CallerState::isHere(caller.borrowed) ? caller.borrowed->spent() : std::nullopt;
}

void borrow(const OpenMp &from, Body run, void *data) {
  const int threads = defaultThreads();
  if (threads <= 1 || caller.borrows || isInParallelWork() || from.inParallel() ||
      from.maxThreads() != threads || process.load() != 0 || wasForked())
    return run(data);
  if (!caller.borrowed)
    caller.borrowed = new ThreadPool;
  caller.borrows = true;
  struct Return {
    ~Return() { caller.borrows = false; }
  } back;
  caller.borrowed->lend(from, threads, run, data);
}

} // namespace dlc::threads
