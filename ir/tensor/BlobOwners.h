//===- BlobOwners.h - shared owners of the memory of resource blobs -------===//
//
// A resource blob belongs to its MLIRContext. A tensor that is read from a blob, and a program that
// is built from such tensors, can outlive the context. Blobs that dlc makes therefore register the
// shared owner of their memory, and a reader of the blob finds the owner again and shares it.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_IR_TENSOR_BLOBOWNERS_H
#define DLC_IR_TENSOR_BLOBOWNERS_H

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectInterface.h"

#include <memory>

namespace dlc::ref {

/// Registry of the owners of blobs in one context. The dlc dialect holds the registry as a dialect
/// interface. All functions are thread-safe.
class BlobOwners : public mlir::DialectInterface::Base<BlobOwners> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BlobOwners)

  explicit BlobOwners(mlir::Dialect *dialect);

  /// Returns the registry of a context, or null if the dlc dialect is not loaded there.
  static const BlobOwners *of(mlir::MLIRContext *context);

  /// Returns the owner that is registered for a blob with this address and size, or null.
  std::shared_ptr<const void> find(llvm::ArrayRef<char> data) const;

private:
  friend mlir::AsmResourceBlob makeBlob(mlir::MLIRContext *, llvm::ArrayRef<char>, size_t,
                                        std::shared_ptr<const void>);
  /// Table of the owners by address and size. The deleters of blobs share it, because the context
  /// may destroy the dialect before the blobs.
  struct Table;
  std::shared_ptr<Table> table;
};

/// Returns a blob of memory that `owner` keeps alive. Registers the owner in the context until the
/// blob is deleted.
mlir::AsmResourceBlob makeBlob(mlir::MLIRContext *context, llvm::ArrayRef<char> data,
                               size_t alignment, std::shared_ptr<const void> owner);

/// Registers an owner for each blob in the attributes of a parsed module, without a copy: the blob
/// that the parser made becomes the owner. Must be called before another thread reads the module.
void adoptBlobs(mlir::ModuleOp module);

} // namespace dlc::ref

#endif // DLC_IR_TENSOR_BLOBOWNERS_H
