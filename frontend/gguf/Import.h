//===- Import.h - entry points of the importer of language models ---------===//
#ifndef DLC_FRONTEND_GGUF_IMPORT_H
#define DLC_FRONTEND_GGUF_IMPORT_H

#include "frontend/FrontEnd.h"
#include "runtime/program/models/ModelTable.h"

namespace dlc {

/// Capacity of the cache in programs that FrontEnd::import() makes, if the model's context is not
/// shorter.
inline constexpr int64_t kDefaultCacheCapacity = 4096;

/// Reads a GGUF file or a Hugging Face folder, which is given by its path or by that of its
/// config.json. Throws dlc::Error.
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
