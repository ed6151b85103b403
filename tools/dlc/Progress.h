//===- Progress.h - a bar on a terminal ------------------------------------------------===//
#ifndef DLC_TOOLS_DLC_PROGRESS_H
#define DLC_TOOLS_DLC_PROGRESS_H

#include <chrono>
#include <mutex>
#include <string>

namespace dlc::cli {

/// One line of stderr, drawn again at most twenty times a second and wiped at the end. Silent where
/// stderr is no terminal.
class Progress {
public:
  Progress();
  ~Progress() { clear(); }
  void show(const std::string &what, int done, int total, const std::string &after = "");
  /// Whether anybody sees it.
  bool visible() const { return enabled; }
  void clear();

private:
  std::mutex mutex;
  bool enabled, drawn = false;
  std::chrono::steady_clock::time_point last;
};

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_PROGRESS_H
