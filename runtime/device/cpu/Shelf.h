//===- Shelf.h - constants side by side on large pages ---------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_SHELF_H
#define DLC_RUNTIME_DEVICE_CPU_SHELF_H

#include "dlc/Export.h"

#include <cstddef>
#include <memory>

namespace dlc::runtime {

class Block;

/// Weights are read once per run, from memory. On large pages prefetches are not lost at the pages'
/// ends, and few addresses have to be looked up; on shared ones little room is lost between them.
class DLC_EXPORT Shelf {
public:
  /// Room, aligned to 64, that lives as long as its pointer. Null where there is no memory, and for
  /// what is too small to begin a large page.
  std::shared_ptr<void> room(size_t bytes);
  /// The same, with a copy in it.
  std::shared_ptr<void> copy(const void *data, size_t bytes);
  /// Whether it is the room that was given last.
  bool isLast(const void *data) const;
  /// The room that was given last is free again.
  void takeBack();

private:
  std::shared_ptr<Block> block;
  size_t used = 0, last = 0; ///< where the last room begins
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_SHELF_H
