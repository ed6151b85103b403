//===- Importer.h - imports a model's graphs ------------------------------===//
#ifndef DLC_FRONTEND_ONNX_IMPORTER_H
#define DLC_FRONTEND_ONNX_IMPORTER_H

#include "frontend/onnx/Import.h"
#include "frontend/onnx/Node.h"
#include "frontend/onnx/file/ModelFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace dlc::onnxfront {

class Importer {
public:
  Importer(mlir::MLIRContext &context, ModelFile &file, const ImportOptions &options)
      : nchwcBlock(options.nchwcBlock), context(context), modelFile(file), options(options) {}

  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> run(std::vector<std::string> &neededValues);

  ModelFile &file() { return modelFile; }
  /// Number of channels in a block of NCHWc operators; 0 until it is determined by the file's
  /// weights (contrib/Blocked.cpp).
  int64_t nchwcBlock;
  /// Converts a sparse tensor to a dense constant.
  Value sparse(const onnx::SparseTensorProto &sparse, Build &b);

  /// Imports the nodes of a graph at the builder's insertion point. `arguments` are the values of
  /// the graph's inputs, and `outer` is the scope of the enclosing graph. `results` receives the
  /// values of the outputs. Returns false after an error.
  bool graph(const onnx::GraphProto &graph, ArrayRef<GraphValue> arguments, Scope *outer,
             const FunctionFrame &frame, Build &b, std::vector<GraphValue> &results);

private:
  bool nodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes, Scope &scope,
             ArrayRef<std::string> outputs, const FunctionFrame &frame, Build &b);
  bool node(const onnx::NodeProto &proto, Scope &scope, const FunctionFrame &frame, Build &b);
  bool call(const onnx::FunctionProto &function, const onnx::NodeProto &proto,
            ArrayRef<GraphValue> inputs, const FunctionFrame &frame, Build &b,
            std::vector<GraphValue> &results);
  /// Adds an argument to the entry block for each input of the graph that has no initializer or is
  /// overridden by the options. `arguments` receives the values of all inputs; null for inputs that
  /// keep their initializers.
  void createInputs(const onnx::GraphProto &graph, Build &b, mlir::Location top, mlir::Block *entry,
                    std::vector<GraphValue> &arguments,
                    llvm::SmallVectorImpl<mlir::DictionaryAttr> &inputAttrs);
  mlir::FailureOr<ref::Tensor> initializer(StringRef name, const onnx::TensorProto &proto,
                                           Build &b);
  int64_t expandedSize(const onnx::FunctionProto &function);
  int64_t expandedSize(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes);
  const GraphValue *lookup(Scope &scope, StringRef name, Build &b);
  Type inputType(const onnx::ValueInfoProto &input, Build &b);

  mlir::MLIRContext &context;
  ModelFile &modelFile;
  const ImportOptions &options;
  std::map<std::string, const onnx::FunctionProto *> functions;
  std::map<const onnx::FunctionProto *, int64_t> sizes;
  std::vector<StringRef> argumentNames; ///< names of the arguments that are inputs of the model
  int depth = 0;
};

/// Returns the nodes that the graph outputs depend on, in topological order. Reports an error for a
/// cycle and returns an empty list.
std::vector<const onnx::NodeProto *>
orderNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
           ArrayRef<std::string> outputs,
           llvm::function_ref<mlir::Location(const onnx::NodeProto &)> locate, Build &b);

/// Formats a node for messages: "node 'conv1' (Conv): ".
std::string describeNode(const onnx::NodeProto &node);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_IMPORTER_H
