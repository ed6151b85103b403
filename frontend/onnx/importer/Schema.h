//===- Schema.h - signatures of operators, by opset -----------------------===//
//
// Schemas.inc, which schemas.py generates, holds every schema version of the onnx package. Each
// node is checked against the schema of its opset before its handler runs.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_FRONTEND_ONNX_IMPORTER_SCHEMA_H
#define DLC_FRONTEND_ONNX_IMPORTER_SCHEMA_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Bit mask of types. Bit i permits tensors whose element type is number i of TensorProto.DataType.
using TypeMask = uint64_t;
inline constexpr TypeMask sequenceType = TypeMask(1) << 32, optionalType = TypeMask(1) << 33,
                          mapType = TypeMask(1) << 34;

/// Formal input or output of an operator.
struct FormalParameter {
  enum Kind { Single, Optional, Variadic };
  StringRef name;
  /// Name of the parameter's type parameter ("T"), or its fixed type ("int64").
  StringRef type;
  TypeMask types = 0;
  Kind kind = Single;
  /// Whether all values of a variadic parameter must have the same type.
  bool isHomogeneous = true;
  /// Minimum number of values that a variadic parameter takes.
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
  /// First opset to which this version of the operator applies.
  int64_t since = 0;
  /// Whether the operator was removed: it does not exist from opset `since` on.
  bool isRemoved = false;
  std::vector<AttributeRule> attributes;
  std::vector<FormalParameter> inputs, outputs;
};

/// Returns all versions of an operator, ordered by opset. The list is empty for an operator without
/// schemas.
ArrayRef<Schema> findSchemas(StringRef domain, StringRef name);
/// Returns the version of an operator that applies in an opset. Returns null if the opset precedes
/// the first version.
const Schema *findSchemaForOpset(ArrayRef<Schema> versions, int64_t opset);
/// Returns whether the onnx package has schemas for the operators of a domain.
bool hasSchemas(StringRef domain);
/// Returns the newest known IR version of the ONNX file format.
int64_t newestIrVersion();

/// Formats the full name of an operator: "ai.onnx.Clip".
std::string fullName(StringRef domain, StringRef name);
/// Returns the ONNX types that an MLIR element type may represent. f32 also represents floats of 8
/// and 4 bits, and 8-bit integers also represent 4-bit integers.
TypeMask getTypeMask(mlir::Type element);
/// Formats the names of the types in a mask: "float, double".
std::string typeNames(TypeMask types);

/// Checks a node's attributes and its numbers of inputs and outputs against the operator's schema
/// in an opset. For an operator without schemas, checks the attributes against its row in the
/// operator table. Accepts an unknown operator.
bool checkSignature(const onnx::NodeProto &proto, StringRef domain, int64_t opset, Build &b);
/// Checks that a node's required inputs are present and that the types of its inputs satisfy the
/// schema. In bodies of functions, also checks that required attributes have a value.
bool checkInputs(const Node &n, StringRef domain, const Operator &op, Build &b);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_IMPORTER_SCHEMA_H
