//===- ResultMemory.h - reuses the memory of results that were released ---===//
//
// Pool for the results that a program returns in each call and the caller releases before the next
// one: gradients, activations saved for a backward pass, logits. Memory fresh from the system costs
// more than filling it, because each page is mapped and zeroed on first access.
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

/// Pool of blocks for the results of all programs. Retains at most as many bytes as were in use at
/// one time, and frees the blocks that were returned longest ago first. Thread-safe.
class ResultMemory {
public:
  /// Minimum size in bytes of pooled blocks. The general allocator reuses smaller blocks itself.
  static constexpr size_t kMin = size_t(2) << 20;
  static ResultMemory &ofProcess();

  /// Returns a pooled block of this size, or a new one. Throws dlc::MemoryError.
  runtime::Block take(size_t bytes);
  void giveBack(runtime::Block block);
  /// Returns the pooled memory to the system; called when a program is destroyed.
  void clear();

private:
  /// Only ever try-locked. In a process that was forked while another thread held the lock,
  /// blocking would never end.
  std::mutex mutex;
  std::list<runtime::Block> kept; ///< most recently returned first
  size_t keptNow = 0, maxOut = 0;
  std::atomic<size_t> out = 0;
};

/// A pooled block, returned to the pool by the destructor.
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
