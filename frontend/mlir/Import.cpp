//===- Import.cpp - imports modules from MLIR text ------------------------===//
#include "frontend/mlir/Import.h"

#include "frontend/mlir/Specialize.h"
#include "frontend/mlir/stablehlo/Import.h"
#include "ir/dlc/Attributes.h"
#include "ir/exec/Exec.h"
#include "ir/tensor/BlobOwners.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;

namespace dlc {

namespace {

FailureOr<ImportInfo::Value> describe(func::FuncOp main, Type type, StringAttr given,
                                      const std::string &fallback) {
  ImportInfo::Value value;
  value.name = given ? given.str() : fallback;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return main.emitError() << "'" << value.name
                            << "' of @main: required: a ranked tensor; found another type";
  value.elementType = tensor.getElementType();
  value.hasRank = true;
  for (int64_t d : tensor.getShape())
    value.dims.push_back(ShapedType::isDynamic(d) ? -1 : d);
  value.symbols.resize(value.dims.size());
  return value;
}

/// Parses an MLIR file. A module of StableHLO operations is imported as a module of dlc operations.
/// Programs compiled from the module share the memory of the file's resources.
OwningOpRef<ModuleOp> parseMlirFile(MLIRContext &context, StringRef path) {
  DialectRegistry registry;
  registerStablehloDialects(registry);
  context.appendDialectRegistry(registry);
  auto module = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (!module) {
    emitError(FileLineColLoc::get(&context, path, 0, 0))
        << "required: MLIR text with operations of dlc (docs/reference/operations.md) or StableHLO "
           "(docs/reference/stablehlo.md); correct the text at the position above";
    return module;
  }
  ref::adoptBlobs(*module);
  if (!isStablehlo(*module))
    return module;
  auto imported = importStablehlo(*module);
  return succeeded(imported) ? std::move(*imported) : nullptr;
}

} // namespace

FailureOr<ImportInfo> inspectModule(OwningOpRef<ModuleOp> module) {
  ImportInfo info;
  info.module = std::make_shared<OwningOpRef<ModuleOp>>(std::move(module));
  ModuleOp held = **info.module;
  auto main = held.lookupSymbol<func::FuncOp>("main");
  // A module without @main but with an exec.program is lowered already. Its compilation continues
  // with later phases.
  if (!main && !held.getOps<exec::ProgramOp>().empty())
    return info;
  if (!main || main.isExternal())
    return held.emitError("required: a function @main with a body; found none");
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto value =
        describe(main, main.getArgument(i).getType(),
                 main.getArgAttrOfType<StringAttr>(i, kNameAttr), "input" + std::to_string(i));
    if (failed(value))
      return failure();
    value->isParameter = bool(main.getArgAttr(i, kParameterAttr));
    (main.getArgAttr(i, kStateAttr) ? info.states : info.inputs).push_back(*value);
  }
  llvm::SmallDenseSet<int64_t> counters;
  auto countedOf = [&](unsigned i) {
    return main.getResultAttrOfType<DenseI64ArrayAttr>(i, kCountedAttr);
  };
  for (unsigned i = 0; i < main.getNumResults(); ++i)
    if (auto counted = countedOf(i))
      counters.insert(counted[1]);
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    if (main.getResultAttr(i, kStateAttr) || counters.contains(i))
      continue;
    auto value =
        describe(main, main.getResultTypes()[i], main.getResultAttrOfType<StringAttr>(i, kNameAttr),
                 "output" + std::to_string(i));
    if (failed(value))
      return failure();
    if (auto counted = countedOf(i))
      value->dims[size_t(counted[0])] = -1;
    info.outputs.push_back(*value);
  }
  return info;
}

FailureOr<ImportInfo> inspectMlir(MLIRContext &context, StringRef path) {
  auto module = parseMlirFile(context, path);
  if (!module)
    return failure();
  return inspectModule(std::move(module));
}

FailureOr<OwningOpRef<ModuleOp>> importMlir(MLIRContext &context, StringRef path,
                                            const ImportOptions &options, ImportInfo *info) {
  if (!options.weights.empty())
    return emitError(UnknownLoc::get(&context),
                     "initial weights: required: an ONNX model, whose weights have names");
  bool isRead = info && info->module && (**info->module)->getContext() == &context;
  OwningOpRef<ModuleOp> module = isRead ? (*info->module)->clone() : parseMlirFile(context, path);
  if (!module || failed(specializeShapes(*module, options.shapes)))
    return failure();
  return module;
}

} // namespace dlc
