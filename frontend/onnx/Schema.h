//===- Schema.h - signatures of operators, by opset -----------------------===//
//
// Schemas.inc, which schemas.py generates, holds every schema version of the onnx package. Each
// node is checked against the schema of its opset before its handler runs.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_SCHEMA_H
#define DLC_FRONTEND_ONNX_SCHEMA_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Set of types. Bit i permits tensors of TensorProto.DataType i.
using TypeMask = uint64_t;
inline constexpr TypeMask sequenceType = TypeMask(1) << 32, optionalType = TypeMask(1) << 33,
                          mapType = TypeMask(1) << 34;

/// Formal input or output of an operator.
struct Parameter {
  enum Kind { Single, Optional, Variadic };
  StringRef name;
  /// Name of the type parameter ("T"), or of a fixed type ("int64").
  StringRef type;
  TypeMask types = 0;
  Kind kind = Single;
  /// Whether the values of a variadic parameter have one type.
  bool isHomogeneous = true;
  /// Minimum number of values of a variadic parameter.
  int minimum = 1;
};

struct AttributeRule {
  StringRef name;
  onnx::AttributeProto::AttributeType type;
  bool isRequired = false;
};

/// One version of an operator's signature.
struct Schema {
  StringRef domain, name;
  /// First opset of this version.
  int64_t since = 0;
  /// The operator does not exist from this opset on.
  bool isRemoved = false;
  std::vector<AttributeRule> attributes;
  std::vector<Parameter> inputs, outputs;
};

/// All versions of an operator, in the order of their opsets; empty for an operator without
/// schemas.
ArrayRef<Schema> schemasOf(StringRef domain, StringRef name);
/// The version in force at an opset; null for an opset before the operator's first.
const Schema *schemaAt(ArrayRef<Schema> versions, int64_t opset);
/// Whether the onnx package has schemas of a domain.
bool hasSchemas(StringRef domain);
/// Newest known version of the file format.
int64_t newestIrVersion();

/// Formats the full name of an operator: "ai.onnx.Clip".
std::string fullName(StringRef domain, StringRef name);
/// Returns the ONNX types that an element type may represent. f32 also represents floats of 8 and 4
/// bits. Integers of 8 bits also represent integers of 4 bits.
TypeMask typesOf(mlir::Type element);
/// Lists the names of types: "float, double".
std::string typeNames(TypeMask types);

/// Checks a node's attributes, and the number of its inputs and outputs, against the schema of the
/// opset. The attributes of an operator without schemas are checked against its row. An unknown
/// operator has nothing to check.
bool checkSignature(const onnx::NodeProto &proto, StringRef domain, int64_t opset, Build &b);
/// Checks that required inputs are present and that the types of inputs satisfy the schema; in
/// bodies of functions also that required attributes have a value.
bool checkInputs(const Node &n, StringRef domain, const Operator &op, Build &b);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_SCHEMA_H
