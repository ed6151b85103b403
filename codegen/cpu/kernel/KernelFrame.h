//===- KernelFrame.h - the function around a kernel's loops ---------------===//
#ifndef DLC_CODEGEN_CPU_KERNEL_KERNELFRAME_H
#define DLC_CODEGEN_CPU_KERNEL_KERNELFRAME_H

#include "codegen/cpu/emit/Emitter.h"

namespace dlc::cpu {

/// Creates a kernel's function, llvm.func @name(%buffers: ptr, %begin: i64, %end: i64, %scratch:
/// ptr, %context: ptr), and sets the builder's insertion point to its body until finish() is
/// called.
class KernelFrame {
public:
  KernelFrame(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name);

  mlir::Value begin() { return entry->getArgument(1); }
  mlir::Value end() { return entry->getArgument(2); }
  mlir::Value scratch() { return entry->getArgument(3); }
  mlir::Value context() { return entry->getArgument(4); }
  /// Emits the load of the next pointer in the array `buffers`, in the order of inputs and outputs.
  mlir::Value nextBuffer();
  /// Emits the load of a pointer in the array `buffers`, given its index.
  mlir::Value buffer(mlir::Value number);
  void finish();

private:
  mlir::Value load(llvm::ArrayRef<mlir::LLVM::GEPArg> slot);

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::OpBuilder::InsertPoint outside;
  mlir::Block *entry;
  int32_t next = 0;
};

struct TypedBuffer {
  mlir::RankedTensorType type;
  mlir::Value pointer;
  /// Number that divides the offset, in elements, of each separately written part of a row. It
  /// determines whether stores to these parts are aligned.
  int64_t starts = 0;
};

/// Emits `body` with non-temporal stores to outputs that are so large that they are evicted from
/// the caches before they are read. Non-temporal stores do not read the cache lines that they
/// overwrite. The emitted code checks at run time that pointers are aligned and no output aliases
/// an input, and uses normal stores otherwise.
void emitNonTemporalStores(Emitter &e, llvm::ArrayRef<mlir::Value> inputs,
                           llvm::ArrayRef<TypedBuffer> outputs, llvm::function_ref<void()> body);

} // namespace dlc::cpu
#endif
