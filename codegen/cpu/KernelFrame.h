//===- KernelFrame.h - the function around a kernel's loops ---------------===//
#ifndef DLC_CODEGEN_CPU_KERNELFRAME_H
#define DLC_CODEGEN_CPU_KERNELFRAME_H

#include "codegen/cpu/Emitter.h"

namespace dlc::cpu {

/// llvm.func @name(%buffers: ptr, %begin: i64, %end: i64, %scratch: ptr, %context: ptr). The
/// builder stands in its body until finish().
class KernelFrame {
public:
  KernelFrame(mlir::OpBuilder &b, mlir::Location loc, llvm::StringRef name);

  mlir::Value begin() { return entry->getArgument(1); }
  mlir::Value end() { return entry->getArgument(2); }
  mlir::Value scratch() { return entry->getArgument(3); }
  mlir::Value context() { return entry->getArgument(4); }
  /// The pointers of the launch, in order.
  mlir::Value nextBuffer();
  /// One of them, by its number.
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
  /// Where it is written in parts of rows: these begin at multiples of so many elements.
  int64_t starts = 0;
};

/// Emits `body` so that stores to outputs which no cache would hold until they are read go past the
/// caches, and need not read what they overwrite: where the caller's pointers are aligned and the
/// kernel does not work in place, which the emitted code looks at.
void storePastCaches(Emitter &e, llvm::ArrayRef<mlir::Value> inputs,
                     llvm::ArrayRef<TypedBuffer> outputs, llvm::function_ref<void()> body);

} // namespace dlc::cpu
#endif
