//===- KernelFrame.h - the function around a kernel's loops ---------------===//
#ifndef DLC_CODEGEN_CPU_KERNELFRAME_H
#define DLC_CODEGEN_CPU_KERNELFRAME_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// Creates llvm.func @name(%buffers: ptr, %begin: i64, %end: i64, %scratch: ptr, %context: ptr).
/// The builder's insertion point is in its body until finish().
class KernelFrame {
public:
  KernelFrame(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name);

  mlir::Value begin() { return entry->getArgument(1); }
  mlir::Value end() { return entry->getArgument(2); }
  mlir::Value scratch() { return entry->getArgument(3); }
  mlir::Value context() { return entry->getArgument(4); }
  /// Returns the launch's next buffer pointer, in order.
  mlir::Value nextBuffer();
  /// Returns one of the launch's buffer pointers by its index.
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
  /// For outputs that are written in parts of rows: a number of elements that divides the offset of
  /// each part.
  int64_t starts = 0;
};

/// Emits `body` with non-temporal stores to outputs that are too large to be still cached when they
/// are read. Non-temporal stores do not read the cache lines that they overwrite. The emitted code
/// uses them only if the caller's pointers are aligned and no output aliases an input.
void emitNonTemporalStores(Emitter &e, llvm::ArrayRef<mlir::Value> inputs,
                           llvm::ArrayRef<TypedBuffer> outputs, llvm::function_ref<void()> body);

} // namespace dlc::cpu
#endif
