//===- Isolate.cpp - runs conformance cases in child processes ---------------------===//
#include "test/conformance/Isolate.h"

#include "codegen/Pipeline.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace dlc::conformance {
namespace {

struct Piece {
  size_t first, count;
};

struct Child {
  Piece piece;
  /// Temporary file for the child's output. A pipe is not used because it would fill up while the
  /// parent does not read it.
  FILE *said;
};

constexpr unsigned secondsPerPiece = 300;

void runChild(llvm::ArrayRef<Case> cases, const RunnerOptions &options, FILE *said) {
  alarm(cases.size() == 1 ? secondsPerPiece / 5 : secondsPerPiece);
  dup2(fileno(said), 2);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  prepareContext(context);
  context.loadAllAvailableDialects();
  runCases(context, cases, options, [&](const Failure &f) {
    std::string reason = f.reason;
    for (char &c : reason)
      c = c == '\n' ? ' ' : c;
    std::fprintf(said, "FAIL\t%s\t%s\n", f.name.c_str(), reason.c_str());
  });
  std::fflush(said);
  std::fflush(stdout);
  // _exit skips the destructors of objects that belong to the parent process.
  _exit(0);
}

/// Reports the failures that a child process wrote and returns the last line of its other output.
std::string listen(FILE *said, const std::function<void(const Failure &)> &failed) {
  std::rewind(said);
  std::string last;
  char *line = nullptr;
  size_t size = 0;
  while (getline(&line, &size, said) > 0) {
    std::string text(line);
    while (!text.empty() && text.back() == '\n')
      text.pop_back();
    if (text.rfind("FAIL\t", 0) == 0) {
      size_t tab = text.find('\t', 5);
      if (failed)
        failed({text.substr(5, tab - 5), text.substr(tab + 1)});
    } else if (!text.empty()) {
      last = text;
    }
  }
  std::free(line);
  std::fclose(said);
  return last;
}

} // namespace

void runIsolated(llvm::ArrayRef<Case> cases, const RunnerOptions &options,
                 const std::function<void(const Failure &)> &failed,
                 const std::function<void(size_t)> &progress) {
  size_t jobs =
      options.jobs > 0 ? size_t(options.jobs) : std::max(1u, std::thread::hardware_concurrency());
  // A dump is written in the order of the cases, so only one process runs at a time.
  if (options.dump)
    jobs = 1;
  std::deque<Piece> waiting;
  size_t step = size_t(options.batch) * 4;
  for (size_t i = 0; i < cases.size(); i += step)
    waiting.push_back({i, std::min(step, cases.size() - i)});
  std::map<pid_t, Child> running;
  size_t done = 0;
  while (!waiting.empty() || !running.empty()) {
    while (!waiting.empty() && running.size() < jobs) {
      Piece piece = waiting.front();
      waiting.pop_front();
      FILE *said = std::tmpfile();
      std::fflush(stdout);
      pid_t pid = fork();
      if (pid == 0)
        runChild(cases.slice(piece.first, piece.count), options, said);
      running[pid] = {piece, said};
    }
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    auto found = running.find(pid);
    if (found == running.end())
      continue;
    auto [piece, said] = found->second;
    running.erase(found);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
      listen(said, failed);
      done += piece.count;
      progress(done);
      continue;
    }
    // Both halves are run again and report their failures then, so the failures reported so far are
    // discarded.
    std::string last = listen(said, nullptr);
    if (piece.count > 1) {
      size_t half = piece.count / 2;
      waiting.push_front({piece.first + half, piece.count - half});
      waiting.push_front({piece.first, half});
      continue;
    }
    std::string what = !WIFSIGNALED(status) ? "ends the process"
                       : WTERMSIG(status) == SIGALRM
                           ? "hangs"
                           : std::string("crashes: ") + strsignal(WTERMSIG(status));
    failed({cases[piece.first].name(), what + (last.empty() ? "" : ": " + last)});
    progress(++done);
  }
}

} // namespace dlc::conformance
