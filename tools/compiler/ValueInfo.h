//===- ValueInfo.h - an input or output before shape specialization -------===//
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
  /// Element type, or unset if the file specifies none or one that dlc does not support. `typeName`
  /// is the type's name in the file.
  std::optional<DType> dtype;
  std::string typeName;
  bool hasRank = false;
  /// Sizes of the dimensions, with -1 for dynamic ones. `symbols` has the names of the dynamic
  /// dimensions; a name may be empty.
  std::vector<int64_t> shape;
  std::vector<std::string> symbols;

  bool isStatic() const;
  /// Returns the type as text, such as "f32[batch, 3, 224, 224]".
  std::string text() const;
  /// Returns the part of an error message that asks for the shape of this input.
  std::string shapeRequest() const;
};

} // namespace dlc

#endif // DLC_TOOLS_COMPILER_VALUEINFO_H
