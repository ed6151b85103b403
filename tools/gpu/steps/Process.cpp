//===- Process.cpp - runs programs in parallel, each with a time limit ----===//
#include "tools/gpu/steps/Process.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sched.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

namespace dlc::gpu {
namespace {

volatile std::sig_atomic_t stopped = 0;

/// Maximum number of bytes that are kept of each output stream: half from its beginning, half from
/// its end.
constexpr size_t kKept = 1 << 20;

std::string readTruncated(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream all;
  all << file.rdbuf();
  std::string text = all.str();
  if (text.size() > kKept)
    text = text.substr(0, kKept / 2) + "\n[...]\n" + text.substr(text.size() - kKept / 2);
  return text;
}

struct RunningJob {
  Job job;
  std::string out, err;
  double start = 0;
  /// Time at which SIGTERM was sent to the process, or 0 if it was not sent.
  double asked = 0;
  bool late = false, cut = false;
  int slot = 0;
};

/// Restricts this process to the CPUs of its slot, because programs start as many threads as CPUs
/// are available to them.
void restrictToCpuShare(int slot, int slots) {
  cpu_set_t all, own;
  CPU_ZERO(&own);
  if (slots < 2 || sched_getaffinity(0, sizeof all, &all) != 0)
    return;
  int count = CPU_COUNT(&all), number = 0;
  int first = slot * count / slots, last = (slot + 1) * count / slots;
  // If there are more slots than CPUs, several slots share a CPU.
  last = last > first ? last : first + 1;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &all)) {
      if (number >= first && number < last)
        CPU_SET(cpu, &own);
      ++number;
    }
  sched_setaffinity(0, sizeof own, &own);
}

pid_t startProcess(const Job &job, const std::string &out, const std::string &err, int slot,
                   int slots) {
  pid_t pid = fork();
  if (pid != 0)
    return pid;
  if (job.shares)
    restrictToCpuShare(slot, slots);
  // The job gets its own process group, so that its child processes are killed together with it.
  setpgid(0, 0);
  int in = open("/dev/null", O_RDONLY), to = open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644),
      errors = open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  dup2(in, 0);
  dup2(to, 1);
  dup2(errors, 2);
  for (int each : {in, to, errors})
    if (each > 2)
      close(each);
  for (const auto &[name, value] : job.environment) {
    if (value.empty())
      unsetenv(name.c_str());
    else
      setenv(name.c_str(), value.c_str(), 1);
  }
  std::vector<char *> arguments;
  for (const std::string &argument : job.command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  dprintf(2, "%s: cannot be started: %s\n", arguments[0], std::strerror(errno));
  _exit(127);
}

/// Ends a job's process group: sends SIGTERM at the first call, and SIGKILL after 3 seconds.
void end(pid_t pid, RunningJob &running) {
  double since = running.asked > 0 ? now() - running.asked : 0;
  if (running.asked == 0) {
    running.asked = now();
    kill(-pid, SIGTERM);
  } else if (since > 3) {
    kill(-pid, SIGKILL);
  }
}

JobOutcome makeOutcome(const RunningJob &running, int status) {
  JobOutcome outcome;
  outcome.seconds = now() - running.start;
  outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  outcome.end = running.cut           ? JobOutcome::End::Cut
                : running.late        ? JobOutcome::End::Late
                : WIFSIGNALED(status) ? JobOutcome::End::Crashed
                : outcome.status      ? JobOutcome::End::Failed
                                      : JobOutcome::End::Done;
  outcome.out = readTruncated(running.out);
  outcome.err = readTruncated(running.err);
  unlink(running.out.c_str());
  unlink(running.err.c_str());
  return outcome;
}

} // namespace

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

const char *nameOf(JobOutcome::End end) {
  switch (end) {
  case JobOutcome::End::Done:
    return "ok";
  case JobOutcome::End::Failed:
    return "failed";
  case JobOutcome::End::Late:
    return "too slow";
  case JobOutcome::End::Crashed:
    return "crashed";
  case JobOutcome::End::Cut:
    return "cut off";
  }
  return "";
}

int countAvailableCpus() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

bool isStopped() { return stopped != 0; }

void installStopHandlers() {
  for (int signal : {SIGTERM, SIGINT, SIGHUP})
    std::signal(signal, [](int) { stopped = 1; });
}

void ProcessPool::add(Job job) {
  if (job.last)
    waiting.push_back(std::move(job));
  else
    waiting.push_front(std::move(job));
}

void ProcessPool::run(const std::function<void(const Job &, const JobOutcome &)> &done) {
  std::map<pid_t, RunningJob> running;
  while (!waiting.empty() || !running.empty()) {
    bool over = isStopped() || now() >= deadline;
    if (over && running.empty())
      break;
    while (!over && !waiting.empty() && running.size() < size_t(std::max(1, atOnce))) {
      RunningJob one;
      one.job = std::move(waiting.front());
      waiting.pop_front();
      std::string file =
          folder + "/job-" + std::to_string(getpid()) + "-" + std::to_string(started++);
      one.out = file + ".out";
      one.err = file + ".err";
      one.start = now();
      auto isTaken = [&](int slot) {
        return std::any_of(running.begin(), running.end(),
                           [&](const auto &each) { return each.second.slot == slot; });
      };
      while (isTaken(one.slot))
        ++one.slot;
      pid_t pid = startProcess(one.job, one.out, one.err, one.slot, atOnce);
      if (pid < 0)
        done(one.job, {JobOutcome::End::Failed, 1, 0, "", std::strerror(errno)});
      else
        running[pid] = std::move(one);
    }
    int status = 0;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    auto found = running.find(pid);
    if (found != running.end()) {
      RunningJob one = std::move(found->second);
      running.erase(found);
      // Kills child processes of the finished job that are still running.
      kill(-pid, SIGKILL);
      JobOutcome outcome = makeOutcome(one, status);
      if (one.cut)
        ++cut;
      else
        done(one.job, outcome);
      continue;
    }
    for (auto &[each, one] : running) {
      bool late = now() - one.start > one.job.limit;
      if (one.asked == 0 && !late && !over)
        continue;
      one.late |= late && !one.cut;
      one.cut |= over && !one.late;
      end(each, one);
    }
    // Abandons processes that SIGKILL does not end, because their device hangs.
    for (auto it = running.begin(); it != running.end();) {
      if (it->second.asked == 0 || now() - it->second.asked < 20) {
        ++it;
        continue;
      }
      JobOutcome lost{JobOutcome::End::Late, 137, now() - it->second.start, "",
                      "did not end although it was killed"};
      done(it->second.job, lost);
      it = running.erase(it);
    }
    usleep(20000);
  }
}

JobOutcome runJob(const Job &job, double deadline, const std::string &folder) {
  ProcessPool pool(1, deadline, folder);
  pool.add(job);
  JobOutcome result{JobOutcome::End::Cut, 0, 0, "", ""};
  pool.run([&](const Job &, const JobOutcome &outcome) { result = outcome; });
  return result;
}

} // namespace dlc::gpu
