//===- Jit.h - compiles emitted operations to a callable kernel ---------------------===//
#ifndef DLC_TEST_CODEGEN_JIT_H
#define DLC_TEST_CODEGEN_JIT_H

#include "runtime/device/cpu/KernelContext.h"

#include "codegen/cpu/target/Native.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <functional>

namespace dlc::test {

/// Machine code in executable memory.
class Kernel {
public:
  /// `emit` fills the body of
  ///   llvm.func @kernel(%buffers: !llvm.ptr, %begin: i64, %end: i64, %scratch: !llvm.ptr,
  ///   %context: !llvm.ptr)
  /// up to the return. Aborts with the diagnostics printed if anything fails.
  using Emit = std::function<void(mlir::OpBuilder &, mlir::Location, mlir::ValueRange)>;
  Kernel(const cpu::Target &target, const Emit &emit);
  ~Kernel();
  Kernel(const Kernel &) = delete;

  void operator()(std::initializer_list<const void *> buffers, int64_t begin, int64_t end,
                  void *scratch = nullptr) const;

  runtime::KernelFn function() const { return entry; }
  size_t codeBytes() const { return size; }

private:
  void *memory = nullptr;
  size_t size = 0;
  runtime::KernelFn entry = nullptr;
};

} // namespace dlc::test

#endif // DLC_TEST_CODEGEN_JIT_H
