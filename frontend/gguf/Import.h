//===- Import.h - entry points of the importer of language models ---------===//
#ifndef DLC_FRONTEND_GGUF_IMPORT_H
#define DLC_FRONTEND_GGUF_IMPORT_H

#include "frontend/FrontEnd.h"
#include "runtime/program/models/ModelTable.h"

namespace dlc {

/// Default number of tokens that a cache stores. The model's context length limits it.
inline constexpr int64_t kDefaultCacheCapacity = 4096;

/// Reads a language model. `path` is a GGUF file, a Hugging Face folder, or the config.json of such
/// a folder. Throws dlc::Error.
runtime::ModelTable readLanguageModel(llvm::StringRef path);

/// Front end functions for .gguf files (frontend/FrontEnd.h). The inputs are `ids` and `position`;
/// the size of `ids` is the number of tokens of a step.
mlir::FailureOr<ImportInfo> inspectGguf(mlir::MLIRContext &context, llvm::StringRef path);
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>> importGguf(mlir::MLIRContext &context,
                                                              llvm::StringRef path,
                                                              const ImportOptions &options,
                                                              ImportInfo *info);

} // namespace dlc

#endif // DLC_FRONTEND_GGUF_IMPORT_H
