//===- Process.h - programs run side by side, each with a limit -----------===//
#ifndef DLC_TOOLS_GPU_STEPS_PROCESS_H
#define DLC_TOOLS_GPU_STEPS_PROCESS_H

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dlc::gpu {

/// Seconds of a clock that never goes back.
double now();

struct Job {
  std::string key;
  std::vector<std::string> command;
  /// Seconds that it may take.
  double limit = 60;
  /// Set besides what is set; an empty value takes one away.
  std::map<std::string, std::string> environment = {};
  /// Behind those that are waiting, not before them.
  bool last = true;
  /// Gets its part of the processors, where the pool has several jobs at a time.
  bool shares = false;
};

struct Outcome {
  /// Cut: the step's time was over, and the job is to be done another time.
  enum class End { Done, Failed, Late, Crashed, Cut } end = End::Done;
  int status = 0;
  double seconds = 0;
  std::string out, err;
  bool good() const { return end == End::Done; }
};
const char *nameOf(Outcome::End end);

/// Jobs, so many at a time, until all are done or the time is over.
class Pool {
public:
  /// `folder`: where what they say is kept meanwhile. `deadline`: by now().
  Pool(int atOnce, double deadline, std::string folder)
      : atOnce(atOnce), deadline(deadline), folder(std::move(folder)) {}
  void add(Job job);
  /// `done` may add others.
  void run(const std::function<void(const Job &, const Outcome &)> &done);
  /// What nobody came to.
  size_t left() const { return waiting.size() + cut; }

private:
  int atOnce;
  double deadline;
  std::string folder;
  std::deque<Job> waiting;
  size_t cut = 0;
  int started = 0;
};

/// That this process may use.
int processors();

/// One program, to its end.
Outcome runOne(const Job &job, double deadline, const std::string &folder);

/// Whether somebody asked this process to stop.
bool isStopped();
void stopOnSignals();

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_PROCESS_H
