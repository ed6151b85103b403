//===- Process.h - runs programs in parallel, each with a time limit ------===//
#ifndef DLC_TOOLS_GPU_STEPS_PROCESS_H
#define DLC_TOOLS_GPU_STEPS_PROCESS_H

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace dlc::gpu {

/// Returns the time of a monotonic clock in seconds.
double now();

struct Job {
  std::string key;
  std::vector<std::string> command;
  /// Time limit of the job in seconds.
  double limit = 60;
  /// Additional environment variables of the job. An empty value unsets the variable.
  std::map<std::string, std::string> environment = {};
  /// Whether the job is queued after the waiting jobs (otherwise before them).
  bool last = true;
  /// Whether the job is restricted to its share of the CPUs if the pool runs several jobs at a
  /// time.
  bool shares = false;
};

struct JobOutcome {
  /// How the job ended. Cut: the deadline of the step passed, and the job will be repeated in
  /// another session.
  enum class End { Done, Failed, Late, Crashed, Cut } end = End::Done;
  int status = 0;
  double seconds = 0;
  std::string out, err;
  bool good() const { return end == End::Done; }
};
const char *nameOf(JobOutcome::End end);

/// Pool of processes that runs up to `atOnce` jobs at a time, until all are done or the deadline
/// has passed.
class ProcessPool {
public:
  /// Creates an empty pool. `folder` temporarily contains the jobs' output. `deadline` is a time of
  /// now().
  ProcessPool(int atOnce, double deadline, std::string folder)
      : atOnce(atOnce), deadline(deadline), folder(std::move(folder)) {}
  void add(Job job);
  /// Runs the jobs, and calls `done` for each finished job. The callback may add jobs.
  void run(const std::function<void(const Job &, const JobOutcome &)> &done);
  /// Returns the number of jobs that were not run or were interrupted by the deadline.
  size_t left() const { return waiting.size() + cut; }

private:
  int atOnce;
  double deadline;
  std::string folder;
  std::deque<Job> waiting;
  size_t cut = 0;
  int started = 0;
};

/// Returns the number of CPUs that this process may use.
int countAvailableCpus();

/// Runs one program until it ends, exceeds its time limit or passes the deadline.
JobOutcome runJob(const Job &job, double deadline, const std::string &folder);

/// Returns true if this process has received a signal to stop.
bool isStopped();
void installStopHandlers();

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_STEPS_PROCESS_H
