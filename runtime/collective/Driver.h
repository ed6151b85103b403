//===- Driver.h - the thread of a world that drives its engine ---------------===//
#ifndef DLC_RUNTIME_COLLECTIVE_DRIVER_H
#define DLC_RUNTIME_COLLECTIVE_DRIVER_H

#include "runtime/collective/Watch.h"
#include "runtime/collective/World.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace dlc::runtime {

struct Ticket::State {
  enum Phase : int { Going, Done, Failed };

  CollectiveCall call;
  /// Number of the collective, from 1 in the order of the calls.
  uint64_t number = 0;
  std::atomic<int> phase = Going;
  /// Error message. Written before `phase`, whose store publishes it to other threads.
  std::string error;
  TicketTimes times;
  // Used by the driver's thread only.
  void *request = nullptr;
  std::vector<char> parts; ///< for an OrderedSum: the chunks of all ranks
};

int64_t steadyNs();

class Driver {
public:
  using State = std::shared_ptr<Ticket::State>;

  /// Starts the driver's thread and returns when the world is open. Throws dlc::Error on failure.
  Driver(const dlc_engine_table &engine, const void *argument);
  /// Waits for pending collectives; see leave().
  ~Driver();

  const dlc_engine_table &engine;
  dlc_engine_place place{};
  std::atomic<int64_t> step = 0;
  std::atomic<uint64_t> life = 0;

  void give(const State &state);
  /// Blocks the calling thread until the collective is done or has failed.
  void wait(const State &state);
  /// Aborts the world. Returns after the engine's abort() has returned, which it does not in
  /// separate processes.
  void abort(const std::string &message);
  /// Waits for pending collectives and closes the engine.
  void leave();

  // World's functions watch(), forget(), carriedStarts() and carriedEnds() call these.
  void watchExecutor(CollectiveExecutor &carrier);
  void forgetExecutor(CollectiveExecutor &carrier);
  uint64_t carriedStarts();
  void carriedEnds(uint64_t number);

private:
  void loop(const void *argument);
  void begin(const State &state);
  /// Tests the engine's request for a collective. Returns whether the collective has completed or
  /// failed.
  bool advance(const State &state);
  void finish(const State &state, const std::string &error);
  void exchangeHeartbeats();
  void showWork();
  void sendHeartbeat(bool leaving);
  std::string fault();
  std::string carriersFault();
  void breakWorld(const std::string &message);
  void endCarriers();
  void rest(std::chrono::steady_clock::time_point idleSince);

  std::mutex mutex;
  std::condition_variable wake;    ///< wakes the driver's thread
  std::condition_variable changed; ///< wakes threads that wait for collectives
  std::deque<State> given;
  uint64_t count = 0;
  bool opened = false, stopping = false, aborted = false;
  std::optional<std::string> abortWith;
  std::string openError;
  /// Start times of the carriers' pending collectives, by number, and the number of the last one.
  std::map<uint64_t, int64_t> carried;
  uint64_t lastCarried = 0;

  /// Protects `carriers` and is held while functions of carriers are called.
  std::mutex carriersMutex;
  std::vector<CollectiveExecutor *> carriers;
  std::string ended; ///< reason that was reported to the carriers; empty if the world has not ended

  // Used by the driver's thread only.
  void *world = nullptr;
  std::vector<State> going;
  uint64_t started = 0;
  std::string broken;
  double timeout = 0;
  std::chrono::steady_clock::time_point nextHeartbeat;
  uint64_t machine = 0;
  std::optional<HeartbeatMonitor> watch;
  uint64_t lifeShown = 0;
  bool wasBusy = false;
  std::chrono::microseconds nap{0};

  std::thread thread;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_DRIVER_H
