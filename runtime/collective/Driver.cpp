//===- Driver.cpp - the thread of a world that drives its engine -------------===//
#include "runtime/collective/Driver.h"

#include "runtime/collective/Process.h"
#include "runtime/program/Message.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sys/prctl.h>
#include <unistd.h>

namespace dlc::runtime {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

namespace {

// Polling intervals: a waiting thread polls continuously for kSpin microseconds, then sleeps
// between polls for kFirstNap to kLongestNap microseconds.
constexpr microseconds kSpin(100), kFirstNap(20), kLongestNap(200);

constexpr double kDefaultTimeout = 20;

/// Heartbeat interval in seconds. After the death of a rank, launchers terminate the others after
/// about a second; within this time they must report the failure.
constexpr double kHeartbeatSeconds = 0.25;

double timeoutSeconds() {
  const char *given = std::getenv("DLC_WORLD_TIMEOUT");
  if (!given || !*given)
    return kDefaultTimeout;
  char *end = nullptr;
  double seconds = std::strtod(given, &end);
  if (*end != 0 || !(seconds > 0))
    fail("$DLC_WORLD_TIMEOUT is '", given, "'; a number of seconds above 0 is required");
  return seconds;
}

double toSeconds(Clock::time_point when) {
  return std::chrono::duration<double>(when.time_since_epoch()).count();
}

void combineForEngine(int reduction, int type, void *into, const void *from, uint64_t count) {
  combine(static_cast<Reduction>(reduction), static_cast<DType>(type), into, from, count);
}

} // namespace

int64_t steadyNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch())
      .count();
}

Driver::Driver(const dlc_engine_table &table, const void *argument)
    : engine(table), timeout(timeoutSeconds()) {
  thread = std::thread([this, argument] { loop(argument); });
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return opened; });
  if (openError.empty())
    return;
  lock.unlock();
  thread.join();
  throw Error(openError);
}

Driver::~Driver() { leave(); }

void Driver::leave() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_one();
  if (thread.joinable())
    thread.join();
}

void Driver::give(const State &state) {
  ++life;
  {
    std::lock_guard lock(mutex);
    if (stopping)
      fail("this process has left the group of processes that run the program (the world); start "
           "all of them again");
    state->number = ++count;
    state->times.askedNs = steadyNs();
    given.push_back(state);
  }
  wake.notify_one();
}

void Driver::wait(const State &state) {
  ++life;
  auto through = [&] {
    return state->phase.load(std::memory_order_acquire) != Ticket::State::Going;
  };
  for (auto until = Clock::now() + kSpin; !through() && Clock::now() < until;)
    std::this_thread::yield();
  if (!through()) {
    std::unique_lock lock(mutex);
    changed.wait(lock, through);
  }
  ++life;
}

void Driver::abort(const std::string &message) {
  std::unique_lock lock(mutex);
  if (stopping)
    return;
  abortWith = message;
  wake.notify_one();
  changed.wait(lock, [&] { return aborted; });
}

void Driver::watchExecutor(CollectiveExecutor &carrier) {
  std::lock_guard lock(carriersMutex);
  carriers.push_back(&carrier);
  if (!ended.empty())
    carrier.end(ended);
}

void Driver::forgetExecutor(CollectiveExecutor &carrier) {
  std::lock_guard lock(carriersMutex);
  carriers.erase(std::remove(carriers.begin(), carriers.end(), &carrier), carriers.end());
}

uint64_t Driver::carriedStarts() {
  ++life;
  std::lock_guard lock(mutex);
  lastCarried = ++count;
  carried[lastCarried] = steadyNs();
  return lastCarried;
}

void Driver::carriedEnds(uint64_t number) {
  ++life;
  std::lock_guard lock(mutex);
  carried.erase(number);
}

void Driver::loop(const void *argument) {
  // Reduce the timer slack, because sleeps are as short as 20 us.
  prctl(PR_SET_TIMERSLACK, 1000UL);
  char error[1024] = "";
  int result = engine.open(argument, combineForEngine, &world, &place, error, sizeof error);
  {
    std::lock_guard lock(mutex);
    if (result != 0)
      openError = message("the processes cannot be connected by ", engine.name, ": ", error);
    opened = true;
  }
  changed.notify_all();
  if (result != 0)
    return;
  machine = getMachineId();
  if (engine.send && engine.receive && place.size > 1)
    watch.emplace((place.rank + place.size - 1) % place.size, timeout, toSeconds(Clock::now()));

  for (auto idleSince = Clock::now();;) {
    std::deque<State> fresh;
    std::optional<std::string> ending;
    {
      std::unique_lock lock(mutex);
      if (going.empty() && given.empty() && !abortWith) {
        if (stopping)
          break;
        wake.wait_until(lock, watch ? nextHeartbeat : Clock::now() + std::chrono::hours(1),
                        [&] { return stopping || abortWith || !given.empty(); });
      }
      fresh.swap(given);
      ending.swap(abortWith);
    }
    if (ending) {
      breakWorld(*ending);
      std::lock_guard lock(mutex);
      aborted = true;
      changed.notify_all();
    }
    for (const State &state : fresh)
      begin(state);
    size_t before = going.size();
    going.erase(std::remove_if(going.begin(), going.end(),
                               [&](const State &state) { return advance(state); }),
                going.end());
    exchangeHeartbeats();
    if (!fresh.empty() || going.size() != before) {
      idleSince = Clock::now();
      nap = kFirstNap;
    } else if (!going.empty()) {
      rest(idleSince);
    }
  }
  if (watch && broken.empty())
    sendHeartbeat(/*leaving=*/true);
  engine.close(world);
}

void Driver::rest(Clock::time_point idleSince) {
  if (Clock::now() < idleSince + kSpin) {
    std::this_thread::yield();
    return;
  }
  std::unique_lock lock(mutex);
  wake.wait_for(lock, nap, [&] { return abortWith || !given.empty(); });
  nap = std::min(nap + nap / 4, kLongestNap);
}

void Driver::begin(const State &state) {
  const CollectiveCall &call = state->call;
  dlc_engine_call plain{static_cast<int32_t>(call.collective),
                        static_cast<int32_t>(call.reduction),
                        static_cast<int32_t>(call.type),
                        call.root,
                        call.from,
                        call.to,
                        call.share};
  if (call.collective == Collective::OrderedSum) {
    auto chunks = static_cast<uint64_t>(call.chunks);
    state->parts.resize(chunks * call.share * dtypeBytes(call.type));
    plain.collective = DLC_COLLECTIVE_ALL_GATHER;
    plain.to = state->parts.data();
    plain.share = call.share * (chunks / static_cast<uint64_t>(place.size));
  }
  started = state->number;
  state->times.startNs = steadyNs();
  char error[1024] = "";
  if (!broken.empty())
    finish(state, broken);
  else if (engine.start(world, &plain, &state->request, error, sizeof error) != 0)
    finish(state, message(collectiveName(call.collective), " ", state->number, ": ", error));
  else
    going.push_back(state);
}

bool Driver::advance(const State &state) {
  char error[1024] = "";
  int through = 0;
  if (engine.test(world, state->request, &through, error, sizeof error) != 0) {
    finish(state, message(collectiveName(state->call.collective), " ", state->number, ": ", error));
    return true;
  }
  if (!through)
    return false;
  const CollectiveCall &call = state->call;
  if (call.collective == Collective::OrderedSum) {
    sumInOrder(call.type, call.to, state->parts.data(), static_cast<uint64_t>(call.chunks),
               call.share);
    state->parts = {};
  }
  finish(state, "");
  return true;
}

void Driver::finish(const State &state, const std::string &error) {
  if (!error.empty() && broken.empty()) {
    broken = error;
    endCarriers();
  }
  state->error = error;
  state->times.endNs = steadyNs();
  std::lock_guard lock(mutex);
  state->phase.store(error.empty() ? Ticket::State::Done : Ticket::State::Failed,
                     std::memory_order_release);
  changed.notify_all();
}

void Driver::sendHeartbeat(bool leaving) {
  std::unique_lock lock(mutex);
  uint64_t latest = std::max(started, lastCarried);
  lock.unlock();
  Heartbeat heartbeat{.machine = machine,
                      .process = getpid(),
                      .step = step.load(std::memory_order_relaxed),
                      .started = latest,
                      .life = life.load(std::memory_order_relaxed),
                      .leaving = leaving};
  char error[1024] = "";
  int next = (place.rank + 1) % place.size;
  if (engine.send(world, next, &heartbeat, sizeof heartbeat, error, sizeof error) != 0)
    breakWorld(message("rank ", next, " is unreachable: ", error));
}

/// Counts a sign of life if other threads of the process are working, for a long-running command,
/// which reports none itself. The threads must be seen working twice in a row, because idle threads
/// also run for short moments. Not used for ranks in one process, whose threads cannot be
/// attributed to ranks.
void Driver::showWork() {
  if (watch->lastHeartbeat().process == getpid())
    return;
  const bool busy = life == lifeShown && hasRunningThread();
  if (busy && wasBusy)
    ++life;
  wasBusy = busy;
  lifeShown = life;
}

void Driver::exchangeHeartbeats() {
  auto now = Clock::now();
  if (!watch || now < nextHeartbeat || !broken.empty())
    return;
  if (nextHeartbeat != Clock::time_point() &&
      toSeconds(now) - toSeconds(nextHeartbeat) > timeout / 4)
    watch->restartTimeouts(toSeconds(now));
  // Send several heartbeats per timeout, so that a late heartbeat is not mistaken for a failure.
  nextHeartbeat = now + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(
                            std::min(kHeartbeatSeconds, timeout / 8)));
  showWork();
  sendHeartbeat(/*leaving=*/false);
  char text[DLC_ENGINE_MESSAGE], error[1024] = "";
  for (int from = 0; broken.empty();) {
    uint32_t bytes = 0;
    if (engine.receive(world, &from, text, &bytes, error, sizeof error) != 0)
      breakWorld(error);
    Heartbeat heartbeat;
    if (from < 0)
      break;
    if (bytes != sizeof heartbeat)
      continue;
    std::memcpy(&heartbeat, text, sizeof heartbeat);
    watch->take(heartbeat, toSeconds(now));
  }
  if (std::string what = fault(); broken.empty() && !what.empty())
    breakWorld(what);
  if (std::string what = broken.empty() ? carriersFault() : ""; !what.empty())
    breakWorld(what);
}

std::string Driver::carriersFault() {
  std::lock_guard lock(carriersMutex);
  for (CollectiveExecutor *carrier : carriers)
    if (std::string what = carrier->fault(); !what.empty())
      return what;
  return "";
}

std::string Driver::fault() {
  uint64_t waitingFor = 0;
  double now = toSeconds(Clock::now()), since = now;
  const Heartbeat &last = watch->lastHeartbeat();
  // Finds the first collective that the other rank has not started.
  auto waits = [&](uint64_t number, int64_t startNs) {
    if (number <= last.started || (waitingFor != 0 && number >= waitingFor))
      return;
    waitingFor = number;
    since = static_cast<double>(startNs) * 1e-9;
  };
  for (const State &state : going)
    waits(state->number, state->times.startNs);
  {
    std::lock_guard lock(mutex);
    for (const auto &[number, startNs] : carried)
      waits(number, startNs);
  }
  bool gone = machine != 0 && last.machine == machine && isProcessGone(last.process);
  return watch->fault(waitingFor, since, now, gone);
}

void Driver::breakWorld(const std::string &what) {
  broken = message("rank ", place.rank, " of ", place.size, ", step ", step.load(), ": ", what);
  engine.abort(world, broken.c_str());
  endCarriers();
  for (const State &state : going)
    if (!advance(state))
      finish(state, broken);
  going.clear();
}

void Driver::endCarriers() {
  std::lock_guard lock(carriersMutex);
  ended = broken;
  for (CollectiveExecutor *carrier : carriers)
    carrier->end(broken);
}

} // namespace dlc::runtime
