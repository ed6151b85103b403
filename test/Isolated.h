//===- Isolated.h - runs each model in a child process and prints one verdict ---===//
#ifndef DLC_TEST_ISOLATED_H
#define DLC_TEST_ISOLATED_H

#include <csignal>
#include <fstream>
#include <functional>
#include <iostream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace dlc {

/// Function that sends text to the parent process, which reports it if the model fails.
using Say = std::function<void(const std::string &)>;
/// Checks a directory's model. Returns the reason of a failure, or an empty string. The function
/// must limit its own time with SIGALRM or SIGPROF. The text passed to `say` precedes the reason of
/// a failure or crash in the report.
using RunOne = std::function<std::string(const std::string &directory, const Say &say)>;

/// Runs the check in a child process, so that a crash or a hang is one failure. An empty string
/// means success.
inline std::string isolated(const std::string &directory, const RunOne &run) {
  int channel[2];
  if (pipe(channel))
    return "no pipe";
  std::cout.flush();
  pid_t child = fork();
  if (child == 0) {
    close(channel[0]);
    auto say = [&](const std::string &text) {
      if (write(channel[1], text.data(), text.size()) < 0)
        _exit(2);
    };
    std::string text = run(directory, say);
    std::cout.flush();
    say(text);
    // _exit skips the destructors of objects that belong to the parent process.
    _exit(text.empty() ? 0 : 1);
  }
  close(channel[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = read(channel[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(got));
  close(channel[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) {
    int signal = WTERMSIG(status);
    return text + (signal == SIGALRM || signal == SIGPROF
                       ? "TIMEOUT"
                       : "CRASH by signal " + std::to_string(signal));
  }
  return status == 0 ? "" : text.empty() ? "CRASH" : text;
}

/// Appends the lines of a file.
inline void readList(const std::string &path, std::vector<std::string> &directories) {
  std::ifstream list(path);
  for (std::string line; std::getline(list, line);)
    if (!line.empty())
      directories.push_back(line);
}

/// Prints `PASS name` or `FAIL name: why` for each directory, then the number of passed models.
/// Returns the exit status of the program.
inline int runEach(const std::vector<std::string> &directories, const RunOne &run) {
  size_t passed = 0;
  for (const std::string &directory : directories) {
    std::string reason = isolated(directory, run);
    for (char &c : reason)
      c = c == '\n' ? ' ' : c;
    std::string name = directory.substr(directory.find_last_of('/') + 1);
    std::cout << (reason.empty() ? "PASS " + name : "FAIL " + name + ": " + reason) << std::endl;
    passed += reason.empty();
  }
  std::cout << passed << " of " << directories.size() << " passed" << std::endl;
  return passed == directories.size() ? 0 : 1;
}

} // namespace dlc

#endif // DLC_TEST_ISOLATED_H
