//===- Memory.cpp - memory of arrays on devices ----------------------------===//
#include "tools/python/device/Memory.h"

#include "dlc/MemoryError.h"

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <pthread.h>

namespace dlc::python {

/// Returns the number of forks between the process that loaded this library and this process.
static unsigned countForksHere() {
  static std::atomic<unsigned> forks{0};
  static const bool isWatching = [] {
    pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
    return true;
  }();
  static_cast<void>(isWatching);
  return forks.load(std::memory_order_relaxed);
}

/// Pool of the memory of arrays on one device. Retains at most as many bytes as were in use at one
/// time, and frees the least recently returned memory first. Thread-safe.
class DevicePool {
public:
  /// Returns the pool of a device. Pools are never destroyed, because arrays may outlive all static
  /// objects.
  static DevicePool &of(runtime::Device &device) {
    static std::mutex mutex;
    static auto &pools = *new std::map<const runtime::Device *, DevicePool>;
    static thread_local std::pair<const runtime::Device *, DevicePool *> last;
    if (last.first == &device)
      return *last.second;
    std::lock_guard lock(mutex);
    last = {&device, &pools[&device]};
    return *last.second;
  }

  void take(DeviceBlock &block) {
    std::list<Piece> found;
    {
      std::lock_guard lock(mutex);
      figures.arrays += block.size;
      maxArrays = std::max(maxArrays, figures.arrays);
      auto fits = [&](const Piece &piece) { return piece.bytes == block.size; };
      auto at = std::find_if(pieces.begin(), pieces.end(), [&](const Piece &piece) {
        return fits(piece) && piece.stream == block.owner;
      });
      if (at == pieces.end())
        at = std::find_if(pieces.begin(), pieces.end(),
                          [&](const Piece &piece) { return fits(piece) && !piece.isOnlyInStream; });
      if (at != pieces.end()) {
        figures.pooled -= at->bytes;
        found.splice(found.begin(), pieces, at);
      }
    }
    try {
      if (found.empty()) {
        allocate(block);
        return;
      }
      for (const auto &use : found.front().uses)
        use->makeWait(block.owner);
      block.address = found.front().address;
      block.earlier = std::move(found.front().uses);
    } catch (...) {
      forget(block.size);
      release(block.on, found);
      throw;
    }
  }

  void giveBack(DeviceBlock &block) {
    std::list<Piece> returned, excess;
    for (auto &run : block.earlier)
      if (!block.hasUseIn(run->stream()))
        block.uses.push_back(std::move(run));
    returned.push_back(
        {block.address, block.size, block.owner, block.isOnlyInStream, std::move(block.uses)});
    {
      std::lock_guard lock(mutex);
      figures.arrays -= block.size;
      figures.pooled += block.size;
      pieces.splice(pieces.begin(), returned);
      while (figures.pooled > maxArrays) {
        figures.pooled -= pieces.back().bytes;
        excess.splice(excess.begin(), pieces, std::prev(pieces.end()));
      }
    }
    release(block.on, excess);
  }

  /// Subtracts an array that does not return its memory to the pool.
  void forget(uint64_t bytes) {
    std::lock_guard lock(mutex);
    figures.arrays -= bytes;
  }

  void clear(runtime::Device &device) {
    std::list<Piece> all;
    {
      std::lock_guard lock(mutex);
      all.swap(pieces);
      figures.pooled = 0;
      maxArrays = figures.arrays;
    }
    release(device, all);
  }

  PoolFigures getFigures() {
    std::lock_guard lock(mutex);
    return figures;
  }

private:
  struct Piece {
    void *address;
    uint64_t bytes;
    void *stream;
    bool isOnlyInStream; ///< whether other libraries may still use the memory, in `stream`
    std::vector<std::shared_ptr<runtime::DeviceEvent>> uses;
  };

  void allocate(DeviceBlock &block) {
    runtime::Device &device = block.on;
    char error[1024] = "";
    auto attempt = [&] {
      return device.table.allocate(device.handle, block.size, &block.address, error, sizeof error);
    };
    if (attempt() == 0)
      return;
    clear(device);
    if (attempt() != 0)
      throw MemoryError(runtime::message(device.name.text(), ": cannot allocate ", block.size,
                                         " bytes for an array: ", error));
  }

  static void release(runtime::Device &device, std::list<Piece> &list) {
    for (const Piece &piece : list) {
      for (const auto &use : piece.uses)
        try {
          use->synchronize();
        } catch (const std::exception &) {
          // Ignore the error of an earlier run: the memory is released in any case.
        }
      device.table.release(device.handle, piece.address);
    }
  }

  std::mutex mutex;
  std::list<Piece> pieces; ///< most recently returned first
  PoolFigures figures;
  uint64_t maxArrays = 0;
};

/// Returns the size of the memory for an array. Sizes are rounded up, so that arrays of similar
/// sizes can reuse each other's memory.
static uint64_t roundUpSize(uint64_t bytes) {
  const uint64_t unit = bytes < (uint64_t(1) << 20) ? 512 : uint64_t(2) << 20;
  return (bytes + unit - 1) / unit * unit;
}

DeviceBlock::DeviceBlock(runtime::Device &device, uint64_t bytes, void *stream)
    : on(device), size(roundUpSize(bytes)), owner(stream), source(device.allocator()),
      bornIn(countForksHere()) {
  if (size == 0)
    return;
  if (!source) {
    DevicePool::of(device).take(*this);
    return;
  }
  address = source->allocate(size, stream);
  // Earlier work in the stream may still use the memory, and other streams must wait for it. Kinds
  // without streams that are shared with callers have a null stream.
  if (!stream)
    return;
  try {
    earlier.push_back(runtime::DeviceEvent::recordOn(device, stream));
  } catch (...) {
    source->release(address, size, stream);
    throw;
  }
}

DeviceBlock::~DeviceBlock() {
  if (!address || bornIn != countForksHere())
    return;
  if (source) {
    // Work in other streams may still use the memory.
    for (const auto &use : uses)
      try {
        use->makeWait(owner);
      } catch (const std::exception &) {
        // Ignore the error of an earlier run: the memory is released in any case.
      }
    source->release(address, size, owner);
  } else if (!isForeign) {
    DevicePool::of(on).giveBack(*this);
  } else {
    DevicePool::of(on).forget(size);
    on.table.release(on.handle, address);
  }
}

bool DeviceBlock::hasUseIn(const void *stream) const {
  return std::any_of(uses.begin(), uses.end(),
                     [&](const auto &use) { return use->stream() == stream; });
}

void DeviceBlock::waitForEarlier(void *stream) const {
  if (stream == owner)
    return;
  for (const auto &run : earlier)
    run->makeWait(stream);
}

void DeviceBlock::addUse(const std::shared_ptr<runtime::DeviceEvent> &end) {
  auto same = std::find_if(uses.begin(), uses.end(),
                           [&](const auto &use) { return use->stream() == end->stream(); });
  if (same != uses.end())
    *same = end;
  else
    uses.push_back(end);
}

PoolFigures poolFigures(runtime::Device &device) { return DevicePool::of(device).getFigures(); }

void clearPool(runtime::Device &device) { DevicePool::of(device).clear(device); }

} // namespace dlc::python
