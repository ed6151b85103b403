//===- Waiting.h - runs long operations in another thread, with interruption and progress -----===//
#ifndef DLC_TOOLS_PYTHON_WAITING_H
#define DLC_TOOLS_PYTHON_WAITING_H

#include "dlc/Error.h"
#include "dlc/MemoryError.h"
#include "tools/python/Raise.h"

#include <nanobind/nanobind.h>

#include <atomic>
#include <chrono>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace dlc::python {

/// Progress and cancellation state, shared by the worker thread and the thread that waits for it.
struct WaitState {
  std::atomic<bool> isCancelled = false;
  std::mutex mutex;
  std::string what;
  int done = 0, total = 0;
  bool isNew = false;

  void tell(const std::string &now, int count, int of) {
    std::lock_guard lock(mutex);
    what = now;
    done = count;
    total = of;
    isNew = true;
  }
  /// Calls show(what, done, total) if the worker has reported progress since the last call.
  void show(nanobind::handle show) {
    std::string text;
    int count = 0, of = 0;
    {
      std::lock_guard lock(mutex);
      if (!std::exchange(isNew, false))
        return;
      text = what;
      count = done;
      of = total;
    }
    show(text, count, of);
  }
};

/// Runs `work` in another thread while this thread polls for signals and reports progress. Python
/// runs signal handlers only in its main thread, so otherwise Ctrl-C would have no effect. `work`
/// must poll `isCancelled`.
template <typename Work>
auto runInterruptibly(WaitState &waiting, nanobind::handle show, const Work &work)
    -> decltype(work()) {
  waiting.isCancelled.store(false);
  auto result = std::async(std::launch::async, work);
  std::optional<nanobind::python_error> interrupt;
  for (auto wait = std::chrono::milliseconds(20);;) {
    std::future_status status;
    {
      nanobind::gil_scoped_release released;
      status = result.wait_for(wait);
    }
    if (interrupt && status == std::future_status::ready) {
      interrupt->restore();
      throw nanobind::python_error();
    }
    if (status == std::future_status::ready)
      return result.get();
    try {
      if (!interrupt && PyErr_CheckSignals() != 0)
        throw nanobind::python_error();
      if (!interrupt && !show.is_none())
        waiting.show(show);
    } catch (const nanobind::python_error &error) {
      interrupt.emplace(error);
      waiting.isCancelled.store(true);
    }
  }
}

/// Calls `function`, and raises a dlc::Error about the model or the arguments as a ValueError.
template <typename Function> auto convertErrorsToPython(const Function &function) {
  try {
    return function();
  } catch (const MemoryError &error) {
    raise(PyExc_MemoryError, error.what());
  } catch (const Error &error) {
    raise(PyExc_ValueError, error.what());
  }
}

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_WAITING_H
