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

/// Buffers of packed weights. Weights that several operations use (those of a recurrent cell, or of
/// a split batch) are packed for each operation and would otherwise be stored repeatedly.
class PackedWeights {
public:
  struct Entry {
    std::shared_ptr<void> data;
    mlir::Value buffer; ///< if null, the caller must set it
  };

  /// Returns the entry of weights with the same bytes, layout and device; creates it if there is
  /// none. Different weights usually differ in their first bytes, so that comparisons are cheap.
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

  /// Returns memory in which weights for this device are packed; null: allocate it as usual.
  std::shared_ptr<void> allocate(uint64_t bytes, llvm::StringRef device) {
    return device == exec::kHost ? hugePages.allocate(size_t(bytes)) : nullptr;
  }

private:
  std::map<std::tuple<std::string, int64_t, std::string>, std::vector<Entry>> known;
  runtime::HugePageAllocator hugePages;
};

} // namespace dlc::lower

#endif // DLC_CODEGEN_LOWER_PACKED_H
