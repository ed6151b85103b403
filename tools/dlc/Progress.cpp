//===- Progress.cpp - progress bar on a terminal --------------------------===//
#include "tools/dlc/Progress.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace dlc::cli {

ProgressBar::ProgressBar() {
  const char *terminal = std::getenv("TERM");
  enabled = isatty(2) && !(terminal && !std::strcmp(terminal, "dumb"));
}

void ProgressBar::show(const std::string &what, int done, int total, const std::string &after) {
  if (!enabled)
    return;
  std::lock_guard lock(mutex);
  auto now = std::chrono::steady_clock::now();
  if (drawn && done < total && now - last < std::chrono::milliseconds(50))
    return;
  last = now;
  constexpr int width = 32;
  int filled = total > 0 ? std::clamp(int(int64_t(done) * width / total), 0, width) : 0;
  std::string bar;
  for (int i = 0; i < width; ++i)
    bar += i < filled ? "━" : "╌";
  std::fprintf(stderr, "\r\033[K%-10.16s %s %d/%d%s%s", what.c_str(), bar.c_str(), done, total,
               after.empty() ? "" : "  ", after.c_str());
  std::fflush(stderr);
  drawn = true;
}

void ProgressBar::clear() {
  std::lock_guard lock(mutex);
  if (drawn)
    std::fputs("\r\033[K", stderr);
  drawn = false;
}

} // namespace dlc::cli
