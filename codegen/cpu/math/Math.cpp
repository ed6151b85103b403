//===- Math.cpp - maps each function to a formula or a function table entry ---===//
#include "codegen/cpu/math/Math.h"

#include "codegen/cpu/math/MathFormulas.h"
#include "codegen/cpu/math/MathLanes.h"
#include "codegen/cpu/math/Registers.h"
#include "runtime/device/cpu/KernelContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using dlc::runtime::KernelFunction;
namespace dlc::cpu {

/// Returns the type of a 512-bit vector register with elements of this type.
static VectorType getRegisterType(Type element) {
  return VectorType::get({512 / element.getIntOrFloatBitWidth()}, element);
}

/// Calls an AVX-512 intrinsic on vectors of any length, register by register. `rest`: arguments
/// after the vector operands.
static Value callInRegisters(OpBuilder &b, Location loc, StringRef name, ArrayRef<Value> operands,
                             ArrayRef<Value> rest) {
  VectorType whole = getRegisterType(getElementTypeOrSelf(operands.front().getType()));
  return applyPerRegister(b, loc, whole, operands, [&](ArrayRef<Value> registers) -> Value {
    SmallVector<Value> all(registers);
    all.append(rest.begin(), rest.end());
    return LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(name), all).getResult(0);
  });
}

Lanes scaleByVscalef(const Lanes &p, const Lanes &n) {
  OpBuilder &b = *p.b;
  Location loc = p.loc;
  VectorType whole = getRegisterType(getElementTypeOrSelf(p.v.getType()));
  bool isDouble = whole.getElementType().isF64();
  Value source = LLVM::ZeroOp::create(b, loc, whole);
  Type mask = b.getIntegerType(unsigned(whole.getNumElements()));
  Value all = arith::ConstantOp::create(b, loc, b.getIntegerAttr(mask, -1));
  // The value 4 selects the thread's current rounding mode (_MM_FROUND_CUR_DIRECTION).
  Value current = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(4));
  StringRef name =
      isDouble ? "llvm.x86.avx512.mask.scalef.pd.512" : "llvm.x86.avx512.mask.scalef.ps.512";
  return p.with(callInRegisters(b, loc, name, {p.v, n.v}, {source, all, current}));
}

Lanes lookupTable16(const Lanes &which, const double (&from)[16]) {
  OpBuilder &b = *which.b;
  Location loc = which.loc;
  VectorType whole = getRegisterType(b.getF32Type()), places = getRegisterType(b.getI32Type());
  SmallVector<float> elements(std::begin(from), std::end(from));
  Value table =
      arith::ConstantOp::create(b, loc, DenseElementsAttr::get(whole, ArrayRef<float>(elements)));
  return which.with(
      applyPerRegister(b, loc, whole, {which.v}, [&](ArrayRef<Value> registers) -> Value {
        Value at = arith::BitcastOp::create(b, loc, places, registers.front());
        return LLVM::CallIntrinsicOp::create(b, loc, whole,
                                             b.getStringAttr("llvm.x86.avx512.permvar.sf.512"),
                                             ValueRange{table, at})
            .getResult(0);
      }));
}

Lanes divideApproximately(const Lanes &a, const Lanes &c) {
  OpBuilder &b = *a.b;
  Location loc = a.loc;
  VectorType whole = getRegisterType(b.getF32Type());
  if (!hasVscalef(a) || getElementTypeOrSelf(a.v.getType()) != whole.getElementType())
    return a / c;
  Value source = LLVM::ZeroOp::create(b, loc, whole);
  Value all = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
  // A division takes as long as a dozen instructions. A reciprocal estimate with one Newton step is
  // pipelined.
  Lanes r = a.with(callInRegisters(b, loc, "llvm.x86.avx512.rcp14.ps.512", {c.v}, {source, all}));
  r = fma(r, fma(-c, r, splatLike(c, 1.0)), r);
  return a * r;
}

namespace {

/// Calls a function of the kernel's function table for each lane, in a loop. It is used for rare
/// operands and for f64, where small code is more important than speed.
Lanes callFunctionPerLane(KernelFunction entry, ArrayRef<Lanes> args) {
  const Lanes &first = args.front();
  OpBuilder &b = *first.b;
  Location loc = first.loc;
  Type f64 = b.getF64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, first.context,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(entry)});
  Value callee = LLVM::LoadOp::create(b, loc, pointer, slot);
  SmallVector<Type> inputs(args.size(), f64);
  auto signature = LLVM::LLVMFunctionType::get(f64, inputs);

  Type type = first.v.getType();
  Type element = getElementTypeOrSelf(type);
  auto callOne = [&](ArrayRef<Value> scalars) -> Value {
    SmallVector<Value> operands{callee};
    for (Value x : scalars)
      operands.push_back(element == f64 ? x : arith::ExtFOp::create(b, loc, f64, x).getResult());
    Value result = LLVM::CallOp::create(b, loc, signature, operands).getResult();
    return element == f64 ? result : arith::TruncFOp::create(b, loc, element, result).getResult();
  };
  auto vector = dyn_cast<VectorType>(type);
  if (!vector)
    return first.with(callOne(llvm::map_to_vector(args, [](const Lanes &x) { return x.v; })));

  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(vector.getNumElements()), index(1), first.v);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> scalars;
    for (const Lanes &x : args)
      scalars.push_back(
          vector::ExtractOp::create(b, loc, x.v, OpFoldResult(loop.getInductionVar())));
    Value lane = callOne(scalars);
    Value next = vector::InsertOp::create(b, loc, lane, loop.getRegionIterArg(0),
                                          OpFoldResult(loop.getInductionVar()));
    scf::YieldOp::create(b, loc, next);
  }
  return first.with(loop.getResult(0));
}

/// Emits `fast()` for the common case. If `rare` holds for any lane, calls the function `entry` of
/// the function table for all lanes instead.
Lanes unlessRare(const Lanes &rare, KernelFunction entry, ArrayRef<Lanes> args,
                 llvm::function_ref<Lanes()> fast) {
  OpBuilder &b = *rare.b;
  Location loc = rare.loc;
  Value any = rare.v;
  if (isa<VectorType>(any.getType()))
    any = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, any);
  auto branch = scf::IfOp::create(b, loc, args.front().v.getType(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(b, loc, callFunctionPerLane(entry, args).v);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, fast().v);
  return args.front().with(branch.getResult(0));
}

/// Functions that need one or two instructions, for all float types.
namespace plain {
Lanes sqrt(const Lanes &x) { return cpu::sqrt(x); }
Lanes rsqrt(const Lanes &x) { return 1.0 / cpu::sqrt(x); }
Lanes reciprocal(const Lanes &x) { return 1.0 / x; }
Lanes floor(const Lanes &x) { return cpu::floor(x); }
Lanes ceil(const Lanes &x) { return x.make<math::CeilOp>(x.v); }
Lanes round(const Lanes &x) { return x.make<math::RoundEvenOp>(x.v); }
Lanes trunc(const Lanes &x) { return x.make<math::TruncOp>(x.v); }
Lanes abs(const Lanes &x) { return cpu::abs(x); }
} // namespace plain

/// Emits functions on f32 as math formulas. If any lane has a rare operand, such as a very large
/// one, some of them (sin, cos, tan, fmod) call the runtime's scalar function for each lane
/// instead.
namespace singles {
using namespace plain;
using namespace formulas;

Lanes emitSinCosWithFallback(KernelFunction entry, const Lanes &x,
                             llvm::function_ref<Lanes()> fast) {
  // An infinity or NaN takes the fast path, which returns NaN for it.
  Lanes a = cpu::abs(x);
  return unlessRare(both(a > kSinCosLimit, a < kInf), entry, x, fast);
}
Lanes sin(const Lanes &x) {
  return emitSinCosWithFallback(KernelFunction::Sin, x, [&] { return sinOrCos(x, false); });
}
Lanes cos(const Lanes &x) {
  return emitSinCosWithFallback(KernelFunction::Cos, x, [&] { return sinOrCos(x, true); });
}
Lanes tan(const Lanes &x) {
  return emitSinCosWithFallback(KernelFunction::Tan, x, [&] { return formulas::tan(x); });
}
Lanes fmod(const Lanes &x, const Lanes &y) {
  Lanes quotient = cpu::abs(widen(x) / widen(y));
  return unlessRare(both(quotient > kFmodLimit, quotient < kInf), KernelFunction::Fmod, {x, y},
                    [&] { return formulas::fmod(x, y); });
}
} // namespace singles

/// Functions on f64: formulas for the functions that networks use most, functions composed of
/// these, and calls of the function table for all others.
namespace doubles {
using namespace plain;

#define DLC_KERNEL_FUNCTION(Entry, function, type)                                                 \
  template <typename... Operands> Lanes function(const Operands &...x) {                           \
    return callFunctionPerLane(KernelFunction::Entry, {x...});                                     \
  }
DLC_KERNEL_FUNCTIONS(DLC_KERNEL_FUNCTION)
#undef DLC_KERNEL_FUNCTION

Lanes exp(const Lanes &x) { return formulas::doubleExp(x); }
Lanes log(const Lanes &x) { return formulas::doubleLog(x); }
Lanes tanh(const Lanes &x) { return formulas::doubleTanh(x); }
Lanes sigmoid(const Lanes &x) {
  Lanes e = doubles::exp(-cpu::abs(x));
  return select(x > 0.0, splatLike(x, 1.0), e) / (e + 1.0);
}
Lanes expWithSubnormals(const Lanes &x) { return doubles::exp(x); }
Lanes sigmoidWithSubnormals(const Lanes &x) { return doubles::sigmoid(x); }
Lanes erfinv(const Lanes &x) {
  Lanes a = cpu::abs(x), y = cpu::abs(formulas::wideErfinv(x));
  // One step of Halley's method improves y = erfinv(x). It uses erf or erfc, whichever is more
  // accurate at y.
  Lanes over = select(a < 0.5, doubles::erf(y) - a, 1.0 - a - doubles::erfc(y));
  Lanes step = over * 0x1.c5bf891b4ef6ap-1 * doubles::exp(y * y);
  return formulas::erfinvWithEdgeCases(x, copysign(y - step / (1.0 + y * step), x));
}
Lanes geluErf(const Lanes &x) {
  // Phi(x) is computed by erfc, which is accurate where 1 + erf would cancel.
  Lanes phi = doubles::erfc(x * -0x1.6a09e667f3bcdp-1) * 0.5;
  return select(x < -40.0, splatLike(x, -0.0), x * phi);
}
Lanes geluTanh(const Lanes &x) {
  Lanes bounded = formulas::clampBelow(x, -40.0);
  Lanes u = bounded * (1.0 + bounded * bounded * 0.044715) * -0x1.9884533d43651p+0;
  return bounded / (doubles::exp(u) + 1.0);
}
} // namespace doubles

struct MathFunction {
  using Emit = Lanes (*)(ArrayRef<Lanes>);
  Emit onF32, onF64;
};

template <int operands, typename F> Lanes apply(F f, ArrayRef<Lanes> x) {
  if constexpr (operands == 1)
    return f(x[0]);
  else
    return f(x[0], x[1]);
}

/// Table of all math functions by name. A function that is missing in `singles` or `doubles` is a
/// compile-time error.
const llvm::StringMap<MathFunction> &mathFunctionTable() {
#define DLC_APPLY(name, operands)                                                                  \
  [](ArrayRef<Lanes> x) { return apply<operands>([](auto... v) { return name(v...); }, x); }
#define DLC_ROW(name, function, operands)                                                          \
  {name, {DLC_APPLY(singles::function, operands), DLC_APPLY(doubles::function, operands)}},
#define DLC_FUNCTION(Op, mnemonic, value, operands) DLC_ROW(#mnemonic, mnemonic, operands)
  static const llvm::StringMap<MathFunction> table = {
#include "ir/dlc/ElementwiseTable.inc"
      // clang-format off
      DLC_ROW("exp_with_subnormals", expWithSubnormals, 1)
      DLC_ROW("sigmoid_with_subnormals", sigmoidWithSubnormals, 1)
      DLC_ROW("gelu_erf", geluErf, 1)
      DLC_ROW("gelu_tanh", geluTanh, 1)
      DLC_ROW("reciprocal", reciprocal, 1)
      DLC_ROW("trunc", trunc, 1)
      DLC_ROW("abs", abs, 1)
      DLC_ROW("pow", pow, 2)
      DLC_ROW("fmod", fmod, 2)
      // clang-format on
  };
  return table;
}

} // namespace

Value emitMath(OpBuilder &b, Location loc, StringRef name, ValueRange args, Value context,
               bool avx512) {
  Type type = args.front().getType();
  Type element = getElementTypeOrSelf(type);
  if (element.getIntOrFloatBitWidth() == 16) {
    SmallVector<Value> wide;
    for (Value x : args)
      wide.push_back(arith::ExtFOp::create(b, loc, getTypeWithShape(b.getF32Type(), type), x));
    Value result = emitMath(b, loc, name, wide, context, avx512);
    return result ? arith::TruncFOp::create(b, loc, type, result).getResult() : Value();
  }
  auto function = mathFunctionTable().find(name);
  if (function == mathFunctionTable().end())
    return {};
  SmallVector<Lanes> lanes;
  for (Value x : args)
    lanes.push_back({&b, loc, x, avx512, context});
  const auto &[onF32, onF64] = function->second;
  return (element.isF64() ? onF64 : onF32)(lanes).v;
}

} // namespace dlc::cpu
