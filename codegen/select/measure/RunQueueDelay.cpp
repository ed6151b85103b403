//===- RunQueueDelay.cpp - detects other work on the same processors ------===//
#include "codegen/select/measure/RunQueueDelay.h"

#include <cstdio>
#include <cstdlib>
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

namespace dlc {

double runQueueDelay() {
  // On Linux, each thread has a file "schedstat" with: nanoseconds run, nanoseconds waited, number
  // of time slices.
  DIR *tasks = opendir("/proc/self/task");
  if (!tasks)
    return 0;
  double total = 0;
  while (dirent *entry = readdir(tasks)) {
    if (entry->d_name[0] == '.')
      continue;
    char path[64], text[96];
    std::snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
      continue;
    ssize_t n = read(descriptor, text, sizeof text - 1);
    close(descriptor);
    text[n > 0 ? n : 0] = 0;
    char *rest = nullptr;
    std::strtoull(text, &rest, 10);
    total += double(std::strtoull(rest, nullptr, 10)) / 1000;
  }
  closedir(tasks);
  return total;
}

} // namespace dlc
