//===- Packed.h - deduplication of packed weights -------------------------===//
#ifndef DLC_CODEGEN_LOWER_PACKED_H
#define DLC_CODEGEN_LOWER_PACKED_H

#include "ir/exec/Exec.h"
#include "runtime/device/cpu/HugePageAllocator.h"

#include "mlir/IR/Value.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace dlc::lower {

/// Deduplicates the buffers of packed weights. Weights that several operations read (such as those
/// of a recurrent cell, or of a split batch) are packed once for each operation, and all copies
/// would be stored.
class PackedWeightCache {
public:
  struct Entry {
    std::shared_ptr<void> data;
    /// Buffer of the program that contains the packed weights; null until the caller of find() sets
    /// it.
    mlir::Value buffer;
  };

  /// Returns the entry of packed weights with the same bytes, layout and device, or creates one.
  /// Different weights usually differ in their first bytes, so that the comparison is cheap.
  Entry &find(const std::shared_ptr<void> &data, int64_t bytes, llvm::StringRef layout,
              llvm::StringRef device) {
    bool isThere = hugePages.isLast(data.get());
    auto &alike = known[{layout.str(), bytes, device.str()}];
    for (Entry &entry : alike)
      if (std::memcmp(entry.data.get(), data.get(), size_t(bytes)) == 0) {
        if (isThere)
          hugePages.freeLast();
        return entry;
      }
    auto kept =
        device == exec::kHost && !isThere ? hugePages.copy(data.get(), size_t(bytes)) : nullptr;
    return alike.emplace_back(Entry{kept ? kept : data, mlir::Value()});
  }

  /// Returns memory for packing weights for the device, in huge pages. Returns null if the caller
  /// must allocate it as usual.
  std::shared_ptr<void> allocate(uint64_t bytes, llvm::StringRef device) {
    return device == exec::kHost ? hugePages.allocate(size_t(bytes)) : nullptr;
  }

private:
  std::map<std::tuple<std::string, int64_t, std::string>, std::vector<Entry>> known;
  runtime::HugePageAllocator hugePages;
};

} // namespace dlc::lower

#endif // DLC_CODEGEN_LOWER_PACKED_H
