//===- Packed.h - packed weights, in a program once ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_PACKED_H
#define DLC_CODEGEN_LOWER_PACKED_H

#include "ir/exec/Exec.h"
#include "runtime/device/cpu/Shelf.h"

#include "mlir/IR/Value.h"

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

namespace dlc::lower {

/// The buffers of packed weights. Weights that several operations use (a recurrent cell's, those of
/// a batch taken in parts) are packed for each, and would be in the program as often.
class PackedWeights {
public:
  struct Entry {
    std::shared_ptr<void> data;
    mlir::Value buffer; ///< null: for the caller to fill in
  };

  /// That of the same bytes in the same layout and place. Different weights differ soon, so that
  /// comparing costs next to nothing.
  Entry &find(const std::shared_ptr<void> &data, int64_t bytes, llvm::StringRef layout,
              llvm::StringRef device) {
    bool isThere = shelf.isLast(data.get());
    auto &alike = known[{layout.str(), bytes, device.str()}];
    for (Entry &entry : alike)
      if (std::memcmp(entry.data.get(), data.get(), size_t(bytes)) == 0) {
        if (isThere)
          shelf.takeBack();
        return entry;
      }
    auto kept = device == exec::kHost && !isThere ? shelf.copy(data.get(), size_t(bytes)) : nullptr;
    return alike.emplace_back(Entry{kept ? kept : data, mlir::Value()});
  }

  /// Where weights of that place are packed.
  std::shared_ptr<void> room(uint64_t bytes, llvm::StringRef device) {
    return device == exec::kHost ? shelf.room(size_t(bytes)) : nullptr;
  }

private:
  std::map<std::tuple<std::string, int64_t, std::string>, std::vector<Entry>> known;
  runtime::Shelf shelf;
};

} // namespace dlc::lower

#endif // DLC_CODEGEN_LOWER_PACKED_H
