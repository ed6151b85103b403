//===- Packed.h - packed weights, in a program once ---------------------------===//
#ifndef DLC_CODEGEN_LOWER_PACKED_H
#define DLC_CODEGEN_LOWER_PACKED_H

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
  /// That of the same bytes in the same layout and place; null (for the caller to fill in) where
  /// there is none. Different weights differ soon, so that comparing costs next to nothing.
  mlir::Value &find(const std::shared_ptr<void> &data, int64_t bytes, llvm::StringRef layout,
                    llvm::StringRef device) {
    auto &alike = known[{layout.str(), bytes, device.str()}];
    for (auto &[other, buffer] : alike)
      if (std::memcmp(other.get(), data.get(), size_t(bytes)) == 0)
        return buffer;
    return alike.emplace_back(data, mlir::Value()).second;
  }

private:
  std::map<std::tuple<std::string, int64_t, std::string>,
           std::vector<std::pair<std::shared_ptr<void>, mlir::Value>>>
      known;
};

} // namespace dlc::lower

#endif // DLC_CODEGEN_LOWER_PACKED_H
