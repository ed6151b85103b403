//===- Value.h - what an input or output of a model is ------------------------===//
#ifndef DLC_TOOLS_PYTHON_VALUE_H
#define DLC_TOOLS_PYTHON_VALUE_H

#include "dlc/DType.h"
#include "runtime/program/Plan.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <string>
#include <vector>

namespace dlc::python {

/// An input or output; a dimension that is open is -1, and may have a name.
struct Value {
  std::string name;
  /// Nothing where dlc has no such type; `typeName` is what the model says.
  std::optional<DType> dtype;
  std::string typeName;
  bool hasRank = true;
  std::vector<int64_t> shape;
  std::vector<std::string> symbols;
  std::string device;
  /// Of a program: how its elements lie, as oneDNN writes it; empty: row by row.
  std::string layout = {};

  /// "f32[batch, 3, 224, 224]".
  std::string text() const;
  bool fits(const int64_t *dims, int rank) const;
};

/// Of a program, whose shapes are all known but for what the run finds.
Value valueOf(const runtime::Plan &plan, const runtime::TensorInfo &info);

/// "[2, 3]".
std::string shapeText(const int64_t *dims, int rank);

void bindValue(nanobind::module_ &module);

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_VALUE_H
