//===- Registers.cpp - splits values of any number of lanes into registers ---===//
#include "codegen/cpu/math/Registers.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace dlc::cpu {

Value applyPerRegister(OpBuilder &b, Location loc, VectorType whole, ArrayRef<Value> operands,
                       llvm::function_ref<Value(ArrayRef<Value>)> call) {
  auto each = [&](llvm::function_ref<Value(Value)> turn) {
    return call(llvm::map_to_vector(operands, turn));
  };
  auto type = dyn_cast<VectorType>(operands[0].getType());
  if (!type) {
    Value wide = each([&](Value x) { return vector::BroadcastOp::create(b, loc, whole, x); });
    return vector::ExtractOp::create(b, loc, wide, int64_t(0));
  }
  const int64_t lanes = type.getNumElements(), width = whole.getNumElements();
  if (lanes == width)
    return call(operands);
  Value result;
  for (int64_t first = 0; first < lanes; first += width) {
    int64_t count = std::min(width, lanes - first);
    SmallVector<int64_t> take, spread, join;
    for (int64_t i = 0; i < width; ++i)
      take.push_back(first + std::min(i, count - 1));
    for (int64_t i = 0; i < lanes; ++i) {
      bool here = i >= first && i < first + count;
      spread.push_back(here ? i - first : 0);
      join.push_back(here ? lanes + i : i);
    }
    Value part = each([&](Value x) { return vector::ShuffleOp::create(b, loc, x, x, take); });
    part = vector::ShuffleOp::create(b, loc, part, part, spread);
    result = result ? vector::ShuffleOp::create(b, loc, result, part, join).getResult() : part;
  }
  return result;
}

Value hideFromOptimizer(OpBuilder &b, Location loc, Value reg) {
  return LLVM::InlineAsmOp::create(b, loc, reg.getType(), ValueRange{reg}, /*asm_string=*/"",
                                   /*constraints=*/"=v,0", /*has_side_effects=*/false,
                                   /*is_align_stack=*/false, LLVM::TailCallKind::None,
                                   LLVM::AsmDialectAttr(), ArrayAttr())
      .getResult(0);
}

Value resizeVector(OpBuilder &b, Location loc, Value x, int64_t lanes) {
  auto type = dyn_cast<VectorType>(x.getType());
  int64_t from = type ? type.getNumElements() : 1;
  if (from == lanes)
    return x;
  if (!type)
    return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, x.getType()), x);
  if (lanes == 1)
    return vector::ExtractOp::create(b, loc, x, int64_t(0));
  SmallVector<int64_t> picks;
  for (int64_t i = 0; i < lanes; ++i)
    picks.push_back(std::min(i, from - 1));
  return vector::ShuffleOp::create(b, loc, x, x, picks);
}

} // namespace dlc::cpu
