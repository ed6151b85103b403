//===- ResultMemory.h - memory of results, used again once they are gone ----------===//
//
// What a program returns in each call and the caller drops before the next one: gradients, what is
// kept for a backward pass, logits. Memory fresh from the system costs more than to fill it: each
// of its pages is made, and zeroed, when it is first touched.
//
//===------------------------------------------------------------------------------===//
#ifndef DLC_TOOLS_PYTHON_RESULTMEMORY_H
#define DLC_TOOLS_PYTHON_RESULTMEMORY_H

#include "runtime/device/cpu/Memory.h"

#include <atomic>
#include <list>
#include <mutex>
#include <utility>

namespace dlc::python {

/// Blocks for results of all programs. It keeps no more bytes than were out at one time, those
/// longest that came back last. Threads may call at once.
class ResultMemory {
public:
  /// From so many bytes on it pays; smaller memory is reused by everybody's allocator.
  static constexpr size_t kLeast = size_t(2) << 20;
  static ResultMemory &ofProcess();

  /// One that came back, or a new one. Throws dlc::MemoryError.
  runtime::Block take(size_t bytes);
  void giveBack(runtime::Block block);
  /// Gives the system what is kept: for when a program is gone.
  void clear();

private:
  /// Nobody waits for it: in a process forked while another thread had it, that would be for ever.
  std::mutex mutex;
  std::list<runtime::Block> kept; ///< what came back last is the first
  size_t keptNow = 0, mostOut = 0;
  std::atomic<size_t> out = 0;
};

/// One of them, as long as this lives.
class ReusedBlock {
public:
  explicit ReusedBlock(size_t bytes) : block(ResultMemory::ofProcess().take(bytes)) {}
  ~ReusedBlock() { ResultMemory::ofProcess().giveBack(std::move(block)); }
  ReusedBlock(const ReusedBlock &) = delete;
  ReusedBlock &operator=(const ReusedBlock &) = delete;
  char *data() const { return block.data(); }

private:
  runtime::Block block;
};

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RESULTMEMORY_H
