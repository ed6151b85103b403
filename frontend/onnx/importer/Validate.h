//===- Validate.h - checks of a whole model before import -------------------===//
#ifndef DLC_FRONTEND_ONNX_IMPORTER_VALIDATE_H
#define DLC_FRONTEND_ONNX_IMPORTER_VALIDATE_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Returns the key that identifies a model-local function.
std::string functionKey(StringRef domain, StringRef name, StringRef overload);
/// Returns the imported opset of each domain. The key of the standard domain is the empty name.
std::map<std::string, int64_t>
opsetsOf(const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto> &imports);
/// Returns the location of the operations that are built for a node.
mlir::Location getNodeLocation(const onnx::NodeProto &node, mlir::MLIRContext *context,
                               StringRef path);

/// Checks every node, graph and function of a model against ONNX's rules, including those that no
/// output depends on: versions, unique and defined names, attributes, declared types, and
/// signatures (Schema.h). Returns false after an error.
bool validate(const onnx::ModelProto &model, StringRef path, Build &b);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_IMPORTER_VALIDATE_H
