//===- Worker.cpp - runs work that may crash in a separate process --------===//
#include "codegen/select/measure/Worker.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <exception>
#include <new>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dlc {

namespace {

using Clock = std::chrono::steady_clock;

/// Progress of the worker process, in memory that it shares with its parent.
struct WorkerProgress {
  std::atomic<uint32_t> place{kNowhere}, steps{0};
};

bool sendAll(int to, const void *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = ::send(to, static_cast<const char *>(data) + done, bytes - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += size_t(n);
  }
  return true;
}

bool receiveAll(int from, void *data, size_t bytes) {
  for (size_t done = 0; done < bytes;) {
    ssize_t n = ::recv(from, static_cast<char *>(data) + done, bytes - done, 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    done += size_t(n);
  }
  return true;
}

class SocketWorkerConnection : public WorkerConnection {
public:
  SocketWorkerConnection(int socket, WorkerProgress *where) : socket(socket), where(where) {}
  void say(const std::string &message) override {
    uint64_t bytes = message.size();
    char answer;
    // If the transfer fails, the parent process has closed the connection and does not need the
    // worker any more.
    if (!sendAll(socket, &bytes, sizeof bytes) ||
        !sendAll(socket, message.data(), message.size()) || !receiveAll(socket, &answer, 1))
      _exit(1);
    ++where->steps;
  }
  void at(uint32_t place) override {
    where->place = place;
    ++where->steps;
  }

private:
  int socket;
  WorkerProgress *where;
};

[[noreturn]] void beWorker(const std::function<void(WorkerConnection &)> &work,
                           SocketWorkerConnection line, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  // A crash of the worker is an expected result: it needs no crash handlers and no core dumps.
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP})
    std::signal(signal, SIG_DFL);
  rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  int status = 0;
  // The work runs in a new thread, which has no OpenMP thread pool. The pool of the forking thread
  // refers to threads that do not exist in this process.
  std::thread([&] {
    try {
      work(line);
    } catch (const std::exception &) {
      status = 2;
    }
  }).join();
  _exit(status);
}

std::string describeExit(int status) {
  if (WIFSIGNALED(status)) {
    const char *name = strsignal(WTERMSIG(status));
    return "crashed: " + std::string(name ? name : "a signal");
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0
             ? ""
             : "crashed: the measurement process ended early";
}

} // namespace

WorkerExit runWorker(const std::function<void(WorkerConnection &)> &work,
                     const std::function<void(const std::string &)> &heard, double silence,
                     const std::function<bool()> &stop) {
  int ends[2];
  void *shared = mmap(nullptr, sizeof(WorkerProgress), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return {false, std::string("cannot start a measurement process: ") + std::strerror(errno)};
  auto *where = new (shared) WorkerProgress();
  WorkerExit end;
  pid_t parent = getpid(), child = -1;
  int error = 0;
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    child = fork();
    error = errno;
    if (child == 0) {
      close(ends[0]);
      beWorker(work, SocketWorkerConnection(ends[1], where), parent);
    }
    close(ends[1]);
    if (child < 0)
      close(ends[0]);
  } else {
    error = errno;
  }
  if (child < 0) {
    end.death = std::string("cannot start a measurement process: ") + std::strerror(error);
    munmap(shared, sizeof(WorkerProgress));
    return end;
  }
  std::string killed;
  uint32_t steps = where->steps;
  auto moved = Clock::now();
  while (true) {
    pollfd about{ends[0], POLLIN, 0};
    int ready = poll(&about, 1, 250);
    if (uint32_t now = where->steps; now != steps) {
      steps = now;
      moved = Clock::now();
    }
    // Maximum time without progress, in seconds. It is longer between candidates (kNowhere), when
    // the worker computes reference results.
    double most = where->place == kNowhere ? 5 * silence : silence;
    if (ready == 0 && std::chrono::duration<double>(Clock::now() - moved).count() > most) {
      killed = "did not finish within " + std::to_string(int(most)) + " s";
      end.hung = true;
      kill(child, SIGKILL);
    } else if (stop && stop()) {
      killed = "stopped";
      kill(child, SIGKILL);
    }
    if (ready <= 0)
      continue;
    uint64_t bytes;
    if (!receiveAll(ends[0], &bytes, sizeof bytes))
      break;
    std::string message(bytes, '\0');
    if (!receiveAll(ends[0], message.data(), bytes))
      break;
    heard(message);
    if (!sendAll(ends[0], "k", 1))
      break;
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  end.place = killed == "stopped" ? kNowhere : where->place.load();
  end.death = killed.empty() ? describeExit(status) : killed;
  munmap(shared, sizeof(WorkerProgress));
  return end;
}

} // namespace dlc
