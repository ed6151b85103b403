//===- Driver.h - the thread of a world, which drives its engine --------------===//
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
  /// Counted from 1 in the order in which calls were given.
  uint64_t number = 0;
  std::atomic<int> phase = Going;
  /// Written before the phase is.
  std::string error;
  TicketTimes times;
  // Of the driver's thread.
  void *request = nullptr;
  std::vector<char> parts; ///< of an OrderedSum: all chunks
};

int64_t steadyNs();

class Driver {
public:
  using State = std::shared_ptr<Ticket::State>;

  /// Returns when the world is open. Throws dlc::Error where it cannot be.
  Driver(const dlc_engine_table &engine, const void *argument);
  /// After what is under way.
  ~Driver();

  const dlc_engine_table &engine;
  dlc_engine_place place{};
  std::atomic<int64_t> step = 0;
  std::atomic<uint64_t> life = 0;

  void give(const State &state);
  /// Returns when it is done or has failed.
  void wait(const State &state);
  /// Returns when the engine has been told, if it does.
  void abort(const std::string &message);
  /// Returns when what is under way is done and the engine is closed.
  void leave();

  // As in World.
  void watchCarrier(Carrier &carrier);
  void forgetCarrier(Carrier &carrier);
  uint64_t carriedStarts();
  void carriedEnds(uint64_t number);

private:
  void loop(const void *argument);
  void begin(const State &state);
  /// Whether it is no longer under way.
  bool advance(const State &state);
  void finish(const State &state, const std::string &error);
  void keepInTouch();
  void showWork();
  void sendBeat(bool leaving);
  std::string fault();
  std::string carriersFault();
  void breakWorld(const std::string &message);
  void endCarriers();
  void rest(std::chrono::steady_clock::time_point idleSince);

  std::mutex mutex;
  std::condition_variable wake;    ///< the thread
  std::condition_variable changed; ///< those that wait
  std::deque<State> given;
  uint64_t count = 0;
  bool opened = false, stopping = false, aborted = false;
  std::optional<std::string> abortWith;
  std::string openError;
  /// When each of them started, and the number of the last.
  std::map<uint64_t, int64_t> carried;
  uint64_t lastCarried = 0;

  /// Held while carriers are called.
  std::mutex carriersMutex;
  std::vector<Carrier *> carriers;
  std::string ended; ///< why, once they have been told

  // Of the thread.
  void *world = nullptr;
  std::vector<State> going;
  uint64_t started = 0;
  std::string broken;
  double timeout = 0;
  std::chrono::steady_clock::time_point nextBeat;
  uint64_t machine = 0;
  std::optional<Watch> watch;
  uint64_t lifeShown = 0;
  bool wasBusy = false;
  std::chrono::microseconds nap{0};

  std::thread thread;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_COLLECTIVE_DRIVER_H
