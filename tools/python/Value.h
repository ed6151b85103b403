//===- Value.h - description of a model's input or output -----------------===//
#ifndef DLC_TOOLS_PYTHON_VALUE_H
#define DLC_TOOLS_PYTHON_VALUE_H

#include "dlc/DType.h"
#include "runtime/program/Plan.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

namespace dlc::python {

/// Description of a model's input or output. Dynamic dimensions are -1, and may have a name.
struct Value {
  std::string name;
  /// Element type, or unset if dlc does not support it. `typeName` is the model's name of the type.
  std::optional<DType> dtype;
  std::string typeName;
  bool hasRank = true;
  std::vector<int64_t> shape;
  std::vector<std::string> symbols;
  std::string device;
  /// Memory layout of a program's value as a oneDNN format tag, or an empty string for row-major.
  std::string layout = {};

  /// Returns the type as text, such as "f32[batch, 3, 224, 224]".
  std::string text() const;
  bool fits(const int64_t *dims, int rank) const;
};

/// Returns the description of a program's input or output. All its dimensions are static except
/// bounded dynamic ones.
Value toValue(const runtime::Plan &plan, const runtime::TensorInfo &info);

/// Returns a shape as text, such as "[2, 3]".
std::string shapeText(const int64_t *dims, int rank);

void bindValue(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_VALUE_H
