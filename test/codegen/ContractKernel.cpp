//===- ContractKernel.cpp - a generated matmul kernel as a function, for tests ----===//
#include "test/codegen/ContractKernel.h"

using namespace mlir;

namespace dlc::test {

static Type elementType(MLIRContext *context, char kind) {
  Builder b(context);
  switch (kind) {
  case 'b':
    return b.getBF16Type();
  case 'h':
    return b.getF16Type();
  case 'd':
    return b.getF64Type();
  case 'c':
    return b.getI8Type();
  case 'u':
    return b.getIntegerType(8, /*isSigned=*/false);
  case 'i':
    return b.getI32Type();
  default:
    return b.getF32Type();
  }
}

static cpu::ContractSpec specOf(const Product &p, MLIRContext *context) {
  cpu::ContractSpec spec;
  spec.m = p.m, spec.n = p.n, spec.k = p.k;
  spec.batch.assign(p.batch.begin(), p.batch.end());
  spec.strideAm = p.transposeA ? 1 : p.leadingA();
  spec.strideAk = p.transposeA ? p.leadingA() : 1;
  spec.strideBk = p.transposeB ? 1 : p.leadingB();
  spec.strideBn = p.transposeB ? p.leadingB() : 1;
  spec.strideCm = p.leadingC();
  spec.elementA = elementType(context, p.typeA);
  spec.elementB = elementType(context, p.typeB);
  spec.packedB = p.packedB;
  spec.packedA = p.packedA;
  return spec;
}

/// max(sums + bias[column], 0)
static Value biasAndRelu(OpBuilder &b, Location loc, Value bias, Value sums, Value column) {
  auto type = cast<VectorType>(sums.getType());
  Type element = type.getElementType();
  Value address =
      LLVM::GEPOp::create(b, loc, bias.getType(), element, bias, ArrayRef<LLVM::GEPArg>{column});
  Value addend = LLVM::LoadOp::create(b, loc, type, address, element.getIntOrFloatBitWidth() / 8);
  Value sum = arith::AddFOp::create(b, loc, sums, addend);
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, sum, zero);
  return arith::SelectOp::create(b, loc, above, sum, zero);
}

ContractKernel::ContractKernel(const Product &p, const cpu::Target &target) : product(p) {
  kernel = std::make_unique<Kernel>(target, [&](OpBuilder &b, Location loc, ValueRange args) {
    cpu::ContractSpec spec = specOf(p, b.getContext());
    plan = cpu::planContract(spec, target, p.biasAndRelu);
    Type pointer = args[0].getType();
    SmallVector<Value> buffers;
    for (int i = 0; i < 4; ++i) {
      Value slot =
          LLVM::GEPOp::create(b, loc, pointer, pointer, args[0], ArrayRef<LLVM::GEPArg>{i});
      buffers.push_back(LLVM::LoadOp::create(b, loc, pointer, slot));
    }
    cpu::Epilogue epilogue;
    if (p.biasAndRelu)
      epilogue = [&](OpBuilder &b, Location loc, Value sums, Value, Value, Value column) {
        return biasAndRelu(b, loc, buffers[3], sums, column);
      };
    auto zeroOf = [&](int32_t zero) {
      return zero ? arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(zero)).getResult()
                  : Value();
    };
    cpu::emitContract(b, loc,
                      {buffers[0], buffers[1], buffers[2], args[1], args[2], args[3],
                       zeroOf(p.zeroA), zeroOf(p.zeroB)},
                      spec, plan, epilogue);
  });
}

void ContractKernel::operator()(const void *a, const void *b, void *c, const void *bias,
                                int threads) const {
  static thread_local std::vector<std::pair<void *, int64_t>> scratch;
  scratch.resize(std::max<size_t>(scratch.size(), threads));
  for (auto &[memory, size] : scratch)
    if (size < plan.scratchBytes) {
      std::free(memory);
      size = (plan.scratchBytes + 4095) / 4096 * 4096;
      memory = std::aligned_alloc(4096, size);
    }
  auto *areas = scratch.data();
  const void *buffers[] = {a, b, c, bias};
  runtime::parallelFor(threads, plan.extent, plan.grain,
                       [&](int64_t begin, int64_t end, int thread) {
                         kernel->function()(const_cast<void *const *>(buffers), begin, end,
                                            areas[thread].first, runtime::kernelContext());
                       });
}

std::unique_ptr<void, ContractKernel::Free> ContractKernel::pack(const void *a,
                                                                 const void *b) const {
  if (!product.packedB && !product.packedA)
    return nullptr;
  std::unique_ptr<void, Free> packed(
      std::aligned_alloc(4096, (plan.packedBytes + 4095) / 4096 * 4096));
  MLIRContext context;
  const cpu::ContractSpec spec = specOf(product, &context);
  (product.packedA ? cpu::packA : cpu::packB)(spec, plan, product.packedA ? a : b, packed.get());
  return packed;
}

} // namespace dlc::test
