//===- MissingInstructions.cpp - expands what a processor has no instruction for ---===//
#include "codegen/cpu/target/MissingInstructions.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace dlc::cpu {

namespace {

/// Builds instructions on scalars or vectors.
struct Expander {
  IRBuilder<> b;

  Value *call(Intrinsic::ID function, Value *x) { return b.CreateUnaryIntrinsic(function, x); }
  Constant *real(Value *like, double value) { return ConstantFP::get(like->getType(), value); }
  Constant *integer(Value *like, uint32_t value) {
    return ConstantInt::get(like->getType(), value);
  }
  Type *withElement(Value *like, Type *element) { return like->getType()->getWithNewType(element); }

  Value *roundToInteger(Intrinsic::ID kind, Value *x);
  Value *multiplyAdd(Value *x, Value *y, Value *z);
  Value *multiplyAddF64(Value *x, Value *y, Value *z);
  Value *extendHalf(Value *x);
  Value *truncateToHalf(Value *x);
};

/// Adding and subtracting 2^23 (2^52 for f64) rounds a smaller magnitude to the nearest integer. A
/// comparison with the magnitude corrects it for the other kinds of rounding.
Value *Expander::roundToInteger(Intrinsic::ID kind, Value *x) {
  Value *limit = real(x, x->getType()->getScalarType()->isFloatTy() ? 0x1p23 : 0x1p52);
  Value *one = real(x, 1), *zero = real(x, 0);
  Value *size = call(Intrinsic::fabs, x);
  Value *near = b.CreateFSub(b.CreateFAdd(size, limit), limit);
  Value *down = b.CreateFSub(near, b.CreateSelect(b.CreateFCmpOGT(near, size), one, zero));
  Value *up = b.CreateFAdd(near, b.CreateSelect(b.CreateFCmpOLT(near, size), one, zero));
  Value *isNegative = b.CreateFCmpOLT(x, zero);
  Value *rounded = kind == Intrinsic::trunc   ? down
                   : kind == Intrinsic::floor ? b.CreateSelect(isNegative, up, down)
                   : kind == Intrinsic::ceil  ? b.CreateSelect(isNegative, down, up)
                                              : near;
  rounded = b.CreateBinaryIntrinsic(Intrinsic::copysign, rounded, x);
  // Larger magnitudes are integers. NaN stays NaN.
  return b.CreateSelect(b.CreateFCmpOLT(size, limit), rounded, x);
}

/// Returns x y + z. For f32, the product is exact in f64.
Value *Expander::multiplyAdd(Value *x, Value *y, Value *z) {
  if (x->getType()->getScalarType()->isDoubleTy())
    return multiplyAddF64(x, y, z);
  Type *wide = withElement(x, b.getDoubleTy());
  Value *product = b.CreateFMul(b.CreateFPExt(x, wide), b.CreateFPExt(y, wide));
  return b.CreateFPTrunc(b.CreateFAdd(product, b.CreateFPExt(z, wide)), x->getType());
}

/// Returns x y + z for f64, with the rounding errors of the product (Dekker's algorithm) and of the
/// sum (Knuth's algorithm). If one of them overflows, their sum is not finite, and the result is
/// that of two operations.
Value *Expander::multiplyAddF64(Value *x, Value *y, Value *z) {
  auto split = [&](Value *v) {
    Value *scaled = b.CreateFMul(v, real(v, 0x1p27 + 1));
    Value *high = b.CreateFSub(scaled, b.CreateFSub(scaled, v));
    return std::pair(high, b.CreateFSub(v, high));
  };
  auto [highX, lowX] = split(x);
  auto [highY, lowY] = split(y);
  Value *product = b.CreateFMul(x, y);
  Value *error = b.CreateFSub(b.CreateFMul(highX, highY), product);
  error = b.CreateFAdd(error, b.CreateFMul(highX, lowY));
  error = b.CreateFAdd(error, b.CreateFMul(lowX, highY));
  error = b.CreateFAdd(error, b.CreateFMul(lowX, lowY));
  Value *sum = b.CreateFAdd(product, z), *added = b.CreateFSub(sum, product);
  Value *sumError =
      b.CreateFAdd(b.CreateFSub(product, b.CreateFSub(sum, added)), b.CreateFSub(z, added));
  Value *exact = b.CreateFAdd(sum, b.CreateFAdd(sumError, error));
  Value *infinity = ConstantFP::getInfinity(x->getType());
  return b.CreateSelect(b.CreateFCmpOLT(call(Intrinsic::fabs, exact), infinity), exact, sum);
}

/// Converts f16 to f32: moves exponent and mantissa to their places, and corrects the exponent by a
/// multiplication, which also normalizes subnormal numbers.
Value *Expander::extendHalf(Value *x) {
  Value *bits = b.CreateBitCast(x, withElement(x, b.getInt16Ty()));
  bits = b.CreateZExt(bits, withElement(x, b.getInt32Ty()));
  Value *sign = b.CreateShl(b.CreateAnd(bits, integer(bits, 0x8000)), integer(bits, 16));
  Value *size = b.CreateShl(b.CreateAnd(bits, integer(bits, 0x7fff)), integer(bits, 13));
  Type *f32 = withElement(x, b.getFloatTy());
  Value *scaled = b.CreateBitCast(size, f32);
  scaled = b.CreateBitCast(b.CreateFMul(scaled, real(scaled, 0x1p112)), size->getType());
  Value *isSpecial = b.CreateICmpUGE(size, integer(size, 0x7c00 << 13));
  Value *special = b.CreateOr(scaled, integer(scaled, 0x7f800000));
  return b.CreateBitCast(b.CreateOr(b.CreateSelect(isSpecial, special, scaled), sign), f32);
}

/// Converts f32 to f16, rounded to the nearest with ties to even.
Value *Expander::truncateToHalf(Value *x) {
  Value *bits = b.CreateBitCast(x, withElement(x, b.getInt32Ty()));
  auto of = [&](uint32_t value) { return integer(bits, value); };
  Value *sign = b.CreateAnd(b.CreateLShr(bits, of(16)), of(0x8000));
  Value *size = b.CreateAnd(bits, of(0x7fffffff));
  // Subnormal results: an addition aligns the last bit of the mantissa and rounds.
  Value *magic = ConstantFP::get(x->getType(), 0.5);
  Value *small = b.CreateFAdd(b.CreateBitCast(size, x->getType()), magic);
  small = b.CreateSub(b.CreateBitCast(small, bits->getType()), of(0x3f000000));
  // Normal results: the exponent is corrected, and half of the last bit is added.
  Value *odd = b.CreateAnd(b.CreateLShr(size, of(13)), of(1));
  Value *normal = b.CreateAdd(b.CreateAdd(size, of(0xc8000fff)), odd);
  normal = b.CreateLShr(normal, of(13));
  Value *nan = b.CreateOr(of(0x7e00), b.CreateAnd(b.CreateLShr(size, of(13)), of(0x3ff)));
  Value *special = b.CreateSelect(b.CreateICmpUGT(size, of(0x7f800000)), nan, of(0x7c00));
  Value *result = b.CreateSelect(b.CreateICmpULT(size, of(0x38800000)), small, normal);
  result = b.CreateSelect(b.CreateICmpUGE(size, of(0x47800000)), special, result);
  result = b.CreateTrunc(b.CreateOr(result, sign), withElement(x, b.getInt16Ty()));
  return b.CreateBitCast(result, withElement(x, b.getHalfTy()));
}

/// Returns the expansion of an instruction, or null if the target has an instruction for it.
Value *expand(Instruction &instruction, const Target &target) {
  using enum runtime::Feature;
  Expander e{IRBuilder<>(&instruction)};
  auto isHalf = [](Type *type) { return type->getScalarType()->isHalfTy(); };
  if (auto *call = dyn_cast<IntrinsicInst>(&instruction)) {
    switch (call->getIntrinsicID()) {
    case Intrinsic::floor:
    case Intrinsic::ceil:
    case Intrinsic::trunc:
    case Intrinsic::rint:
    case Intrinsic::nearbyint:
    case Intrinsic::roundeven:
      return target.has(Sse41) || target.has(Avx2)
                 ? nullptr
                 : e.roundToInteger(call->getIntrinsicID(), call->getArgOperand(0));
    case Intrinsic::fma:
      return target.has(Fma) ? nullptr
                             : e.multiplyAdd(call->getArgOperand(0), call->getArgOperand(1),
                                             call->getArgOperand(2));
    default:
      return nullptr;
    }
  }
  if (target.has(F16c))
    return nullptr;
  Value *x = instruction.getNumOperands() > 0 ? instruction.getOperand(0) : nullptr;
  if (isa<FPExtInst>(instruction) && isHalf(x->getType())) {
    Value *wide = e.extendHalf(x);
    return wide->getType() == instruction.getType() ? wide
                                                    : e.b.CreateFPExt(wide, instruction.getType());
  }
  if (isa<FPTruncInst>(instruction) && isHalf(instruction.getType())) {
    Type *f32 = e.withElement(x, e.b.getFloatTy());
    return e.truncateToHalf(x->getType() == f32 ? x : e.b.CreateFPTrunc(x, f32));
  }
  return nullptr;
}

} // namespace

void expandMissingInstructions(Module &module, const Target &target) {
  using enum runtime::Feature;
  if (target.has(F16c) && target.has(Fma) && (target.has(Sse41) || target.has(Avx2)))
    return;
  for (Function &function : module)
    for (Instruction &instruction : make_early_inc_range(instructions(function)))
      if (Value *result = expand(instruction, target)) {
        instruction.replaceAllUsesWith(result);
        instruction.eraseFromParent();
      }
}

} // namespace dlc::cpu
