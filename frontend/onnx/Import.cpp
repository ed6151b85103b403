//===- Import.cpp - entry points of the ONNX importer ---------------------===//
#include "frontend/onnx/Import.h"

#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc {
namespace onnxfront {

static ImportInfo::Value describeValue(const onnx::ValueInfoProto &info, MLIRContext *context) {
  ImportInfo::Value value;
  value.name = info.name();
  const onnx::TypeProto *type = &info.type();
  if (type->has_optional_type())
    type = &type->optional_type().elem_type();
  if (!type->has_tensor_type()) {
    value.typeName = type->has_sequence_type() ? "sequence"
                     : type->has_map_type()    ? "map"
                                               : "unknown";
    return value;
  }
  const auto &tensor = type->tensor_type();
  value.elementType = toElementType(tensor.elem_type(), context);
  value.typeName = StringRef(dataTypeName(tensor.elem_type())).lower();
  value.hasRank = tensor.has_shape();
  for (const auto &dim : tensor.shape().dim()) {
    value.dims.push_back(dim.has_dim_value() ? std::max<int64_t>(dim.dim_value(), -1) : -1);
    value.symbols.push_back(dim.dim_param());
  }
  return value;
}

static ImportInfo inspect(const ModelFile &file, MLIRContext *context) {
  ImportInfo info;
  const onnx::GraphProto &graph = file.model().graph();
  std::set<std::string> initialized;
  for (const auto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    initialized.insert(tensor.values().name());
  for (const auto &input : graph.input())
    (initialized.count(input.name()) ? info.defaults : info.inputs)
        .push_back(describeValue(input, context));
  for (const auto &output : graph.output())
    info.outputs.push_back(describeValue(output, context));
  return info;
}

} // namespace onnxfront

FailureOr<OwningOpRef<ModuleOp>> importOnnx(MLIRContext &context, StringRef path,
                                            const ImportOptions &options, ImportInfo *info) {
  context.loadDialect<DlcDialect, func::FuncDialect>();
  auto file = onnxfront::ModelFile::open(context, path);
  if (failed(file))
    return failure();
  std::vector<std::string> needed;
  auto module = onnxfront::Importer(context, **file, options).run(needed);
  if (info) {
    *info = onnxfront::inspect(**file, &context);
    info->neededValues = std::move(needed);
  }
  return module;
}

FailureOr<ImportInfo> inspectOnnx(MLIRContext &context, StringRef path) {
  auto file = onnxfront::ModelFile::open(context, path);
  if (failed(file))
    return failure();
  return onnxfront::inspect(**file, &context);
}

} // namespace dlc
