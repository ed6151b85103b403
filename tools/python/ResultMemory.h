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

/// Pool of memory blocks for the results of all programs. Retains at most as many bytes as were in
/// use at one time, and frees the least recently returned blocks first. Thread-safe.
class ResultMemoryPool {
public:
  /// Minimum size in bytes of pooled blocks (2 MiB). Smaller blocks are not pooled, because the
  /// general allocator reuses them itself.
  static constexpr size_t kMin = size_t(2) << 20;
  static ResultMemoryPool &ofProcess();

  /// Returns a pooled block of this size, or a new one. Throws dlc::MemoryError.
  runtime::Block take(size_t bytes);
  void giveBack(runtime::Block block);
  /// Returns the pooled memory to the system. Called when a program is destroyed.
  void clear();

private:
  /// Mutex of the pool. It is only ever try-locked: in a process that was forked while another
  /// thread held the lock, blocking would never end.
  std::mutex mutex;
  std::list<runtime::Block> kept; ///< pooled blocks, most recently returned first
  size_t keptNow = 0, maxOut = 0;
  std::atomic<size_t> out = 0;
};

/// A block from the result pool; the destructor returns it to the pool.
class PooledBlock {
public:
  explicit PooledBlock(size_t bytes) : block(ResultMemoryPool::ofProcess().take(bytes)) {}
  ~PooledBlock() { ResultMemoryPool::ofProcess().giveBack(std::move(block)); }
  PooledBlock(const PooledBlock &) = delete;
  PooledBlock &operator=(const PooledBlock &) = delete;
  char *data() const { return block.data(); }

private:
  runtime::Block block;
};

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_RESULTMEMORY_H
