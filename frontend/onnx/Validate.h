//===- Validate.h - checks of a whole model before import -------------------===//
#ifndef DLC_FRONTEND_ONNX_VALIDATE_H
#define DLC_FRONTEND_ONNX_VALIDATE_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Key of a model-local function.
std::string functionKey(StringRef domain, StringRef name, StringRef overload);
/// Imported opset of each domain; the standard domain has the empty name.
std::map<std::string, int64_t>
opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);
/// Location of the operations that a node becomes.
mlir::Location locate(const onnx::NodeProto &node, mlir::MLIRContext *context, StringRef path);

/// Checks every node, graph and function of a model against ONNX's rules, also those that no output
/// depends on: versions, unique and defined names, attributes, declared types, and signatures
/// (Schema.h). Returns false after an error.
bool validate(const onnx::ModelProto &model, StringRef path, Build &b);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_VALIDATE_H
