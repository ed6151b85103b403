//===- Jit.cpp - compiles emitted operations to a callable kernel ---------------------===//
#include "test/codegen/Jit.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"

#include <cstring>
#include <sys/mman.h>

using namespace mlir;

namespace dlc::test {

[[noreturn]] static void fail(const char *what) {
  llvm::errs() << "test kernel: " << what << "\n";
  std::abort();
}

Kernel::Kernel(const cpu::Target &target, const Emit &emit) {
  MLIRContext context;
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  context.loadDialect<arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      vector::VectorDialect, cf::ControlFlowDialect, LLVM::LLVMDialect>();
  OpBuilder b(&context);
  Location loc = b.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  b.setInsertionPointToStart(module->getBody());
  Type pointer = LLVM::LLVMPointerType::get(&context), i64 = b.getI64Type();
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(&context),
                                          {pointer, i64, i64, pointer, pointer});
  auto function = LLVM::LLVMFuncOp::create(b, loc, "kernel", type);
  Block *body = function.addEntryBlock(b);
  b.setInsertionPointToStart(body);
  emit(b, loc, body->getArguments());
  LLVM::ReturnOp::create(b, loc, ValueRange());
  if (failed(verify(*module)))
    fail("what was emitted does not verify");
  if (failed(cpu::LlvmLowering(module->getContext()).run(*module)))
    fail("cannot be lowered");
  FailureOr<cpu::MachineCode> code = cpu::compileKernel(*module, "kernel", target);
  if (failed(code))
    fail("cannot be compiled");
  size = code->bytes.size();
  memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    fail("no memory");
  std::memcpy(memory, code->bytes.data(), size);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC))
    fail("memory cannot be made executable");
  entry = reinterpret_cast<runtime::KernelFn>(static_cast<char *>(memory) + code->entry);
}

Kernel::~Kernel() { munmap(memory, size); }

void Kernel::operator()(std::initializer_list<const void *> buffers, int64_t begin, int64_t end,
                        void *scratch) const {
  entry(const_cast<void *const *>(buffers.begin()), begin, end, scratch, runtime::kernelContext());
}

} // namespace dlc::test
