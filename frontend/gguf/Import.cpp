//===- Import.cpp - entry points of the importer of language models -------===//
#include "frontend/gguf/Import.h"

#include "dlc/Error.h"
#include "frontend/gguf/Config.h"
#include "frontend/gguf/Decoder.h"
#include "runtime/program/models/Gguf.h"
#include "runtime/program/models/HuggingFace.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace dlc {

runtime::ModelTable readLanguageModel(StringRef path) {
  if (llvm::sys::fs::is_directory(path))
    return runtime::readHuggingFaceFolder(path.str());
  if (llvm::sys::path::filename(path) == "config.json") {
    StringRef folder = llvm::sys::path::parent_path(path);
    return runtime::readHuggingFaceFolder(folder.empty() ? "." : folder.str());
  }
  return runtime::readGguf(path.str());
}

static int64_t defaultCapacity(const runtime::ModelTable &table) {
  return std::min(kDefaultCacheCapacity, gguf::readContextLength(table));
}

static ImportInfo describe(const runtime::ModelTable &table, MLIRContext &context) {
  const int64_t capacity = defaultCapacity(table);
  gguf::DecoderConfig config = gguf::readConfig(table, capacity);
  Builder b(&context);
  ImportInfo info;
  info.inputs.push_back({gguf::kIdsName, b.getI64Type(), "i64", true, {-1}, {"tokens"}});
  info.inputs.push_back({gguf::kPositionName, b.getI64Type(), "i64", true, {}, {}});
  info.outputs.push_back(
      {gguf::kLogitsName, b.getF32Type(), "f32", true, {-1, -1}, {"tokens", ""}});
  for (size_t layer = 0; layer < config.layers.size(); ++layer)
    for (const char *kind : {"keys", "values"}) {
      int64_t size = kind[0] == 'k' ? config.headSize : config.valueSize;
      info.states.push_back({"cache." + std::string(kind) + "." + std::to_string(layer),
                             b.getF32Type(),
                             "f32",
                             true,
                             {config.kvHeads, capacity, size},
                             {"", "", ""}});
    }
  return info;
}

static InFlightDiagnostic reportError(MLIRContext &context, StringRef path, const Error &error) {
  return emitError(FileLineColLoc::get(&context, path, 0, 0)) << error.what();
}

FailureOr<ImportInfo> inspectGguf(MLIRContext &context, StringRef path) {
  try {
    return describe(readLanguageModel(path), context);
  } catch (const Error &e) {
    return reportError(context, path, e);
  }
}

FailureOr<OwningOpRef<ModuleOp>> importGguf(MLIRContext &context, StringRef path,
                                            const ImportOptions &options, ImportInfo *) {
  auto unsupported = [&](StringRef what) {
    return emitError(FileLineColLoc::get(&context, path, 0, 0))
           << what << " is not supported for language models";
  };
  if (options.training)
    return unsupported("training");
  if (!options.weights.empty())
    return unsupported("replacing weights");
  if (!options.values.empty())
    return unsupported("a fixed value of an input");
  try {
    runtime::ModelTable table = readLanguageModel(path);
    gguf::DecoderOptions decoder;
    decoder.capacity = defaultCapacity(table);
    if (auto shape = options.shapes.find(gguf::kIdsName); shape != options.shapes.end())
      if (shape->second.size() == 1)
        decoder.tokens = shape->second[0];
    return gguf::buildDecoder(context, table, decoder);
  } catch (const Error &e) {
    return reportError(context, path, e);
  }
}

} // namespace dlc
