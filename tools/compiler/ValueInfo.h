//===- ValueInfo.h - what an input or output is before anything is specialised ---===//
#ifndef DLC_TOOLS_COMPILER_VALUEINFO_H
#define DLC_TOOLS_COMPILER_VALUEINFO_H

#include "dlc/DType.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

struct ValueInfo {
  std::string name;
  /// Nothing where the file says nothing, or says a type that dlc has not; `typeName` is what it
  /// says.
  std::optional<DType> dtype;
  std::string typeName;
  bool hasRank = false;
  /// -1 where not static; `symbols` has the names of such dimensions, which may be empty.
  std::vector<int64_t> shape;
  std::vector<std::string> symbols;

  bool isStatic() const;
  /// "f32[batch, 3, 224, 224]".
  std::string text() const;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_VALUEINFO_H
