//===- Progress.h - progress bar on a terminal ----------------------------===//
#ifndef DLC_TOOLS_DLC_PROGRESS_H
#define DLC_TOOLS_DLC_PROGRESS_H

#include <chrono>
#include <mutex>
#include <string>

namespace dlc::cli {

/// Progress bar on one line of stderr, redrawn at most twenty times a second and erased at the end.
/// Prints nothing if stderr is not a terminal.
class ProgressBar {
public:
  ProgressBar();
  ~ProgressBar() { clear(); }
  void show(const std::string &what, int done, int total, const std::string &after = "");
  /// Returns true if stderr is a terminal.
  bool visible() const { return enabled; }
  void clear();

private:
  std::mutex mutex;
  bool enabled, drawn = false;
  std::chrono::steady_clock::time_point last;
};

} // namespace dlc::cli

#endif // DLC_TOOLS_DLC_PROGRESS_H
