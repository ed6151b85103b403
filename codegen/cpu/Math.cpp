//===- Math.cpp - which formula or table entry stands for a function ---------===//
#include "codegen/cpu/Math.h"

#include "codegen/cpu/MathFormulas.h"
#include "codegen/cpu/MathLanes.h"
#include "runtime/device/cpu/KernelContext.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringSwitch.h"

#include <optional>

using namespace mlir;
using dlc::runtime::KernelFunction;
namespace dlc::cpu {

/// Calls an AVX-512 intrinsic of f32 on operands of any number of lanes: registers one by one;
/// lanes that the last one has too many repeat an element. `rest` follows the operands.
static Value callInRegisters(OpBuilder &b, Location loc, StringRef name, ArrayRef<Value> operands,
                             ArrayRef<Value> rest) {
  constexpr int64_t width = 16;
  auto whole = VectorType::get({width}, b.getF32Type());
  auto call = [&](ArrayRef<Value> registers) -> Value {
    SmallVector<Value> all(registers);
    all.append(rest.begin(), rest.end());
    return LLVM::CallIntrinsicOp::create(b, loc, whole, b.getStringAttr(name), all).getResult(0);
  };
  auto each = [&](llvm::function_ref<Value(Value)> turn) {
    return call(llvm::map_to_vector(operands, turn));
  };
  auto type = dyn_cast<VectorType>(operands[0].getType());
  if (!type) {
    Value wide = each([&](Value x) { return vector::BroadcastOp::create(b, loc, whole, x); });
    return vector::ExtractOp::create(b, loc, wide, int64_t(0));
  }
  int64_t lanes = type.getNumElements();
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

Lanes scaleAtOnce(const Lanes &p, const Lanes &n) {
  OpBuilder &b = *p.b;
  Location loc = p.loc;
  Value source = LLVM::ZeroOp::create(b, loc, VectorType::get({16}, b.getF32Type()));
  Value all = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
  Value current =
      arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(4)); // this thread's rounding mode
  return p.with(callInRegisters(b, loc, "llvm.x86.avx512.mask.scalef.ps.512", {p.v, n.v},
                                {source, all, current}));
}

Lanes quotient(const Lanes &a, const Lanes &c) {
  if (!scalesAtOnce(a))
    return a / c;
  OpBuilder &b = *a.b;
  Location loc = a.loc;
  Value source = LLVM::ZeroOp::create(b, loc, VectorType::get({16}, b.getF32Type()));
  Value all = arith::ConstantOp::create(b, loc, b.getI16IntegerAttr(-1));
  // A dozen instructions' time goes by in a division; these are pipelined.
  Lanes r = a.with(callInRegisters(b, loc, "llvm.x86.avx512.rcp14.ps.512", {c.v}, {source, all}));
  r = fma(r, fma(-c, r, like(c, 1.0)), r);
  return a * r;
}

namespace {

std::optional<KernelFunction> tableEntry(StringRef function) {
  using F = KernelFunction;
  return llvm::StringSwitch<std::optional<F>>(function)
      .Case("exp", F::Exp)
      .Case("log", F::Log)
      .Case("log1p", F::Log1p)
      .Case("expm1", F::Expm1)
      .Case("sin", F::Sin)
      .Case("cos", F::Cos)
      .Case("tan", F::Tan)
      .Case("asin", F::Asin)
      .Case("acos", F::Acos)
      .Case("atan", F::Atan)
      .Case("sinh", F::Sinh)
      .Case("cosh", F::Cosh)
      .Case("tanh", F::Tanh)
      .Case("asinh", F::Asinh)
      .Case("acosh", F::Acosh)
      .Case("atanh", F::Atanh)
      .Case("erf", F::Erf)
      .Case("pow", F::Pow)
      .Case("fmod", F::Fmod)
      .Default(std::nullopt);
}

/// Calls the table's function for each lane, in a loop: this is the path for rare operands and for
/// f64, where code size matters more than the loop.
Value callTable(OpBuilder &b, Location loc, KernelFunction entry, ValueRange args, Value context) {
  Type f64 = b.getF64Type();
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(b, loc, pointer, pointer, context,
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(entry)});
  Value callee = LLVM::LoadOp::create(b, loc, pointer, slot);
  SmallVector<Type> inputs(args.size(), f64);
  auto signature = LLVM::LLVMFunctionType::get(f64, inputs);

  Type type = args.front().getType();
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
    return callOne(SmallVector<Value>(args));

  auto index = [&](int64_t i) -> Value { return arith::ConstantIndexOp::create(b, loc, i); };
  auto loop =
      scf::ForOp::create(b, loc, index(0), index(vector.getNumElements()), index(1), args.front());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> scalars;
    for (Value x : args)
      scalars.push_back(vector::ExtractOp::create(b, loc, x, OpFoldResult(loop.getInductionVar())));
    Value lane = callOne(scalars);
    Value next = vector::InsertOp::create(b, loc, lane, loop.getRegionIterArg(0),
                                          OpFoldResult(loop.getInductionVar()));
    scf::YieldOp::create(b, loc, next);
  }
  return loop.getResult(0);
}

/// `fast()` unless some lane of `rare` holds; then every lane goes through the table.
Value unlessRare(OpBuilder &b, Location loc, Value rare, KernelFunction entry, ValueRange args,
                 Value context, llvm::function_ref<Value()> fast) {
  if (isa<VectorType>(rare.getType()))
    rare = vector::ReductionOp::create(b, loc, vector::CombiningKind::OR, rare);
  auto branch = scf::IfOp::create(b, loc, args.front().getType(), rare, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value slow = callTable(b, loc, entry, args, context);
  scf::YieldOp::create(b, loc, slow);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, fast());
  return branch.getResult(0);
}

/// Functions that an instruction or two compute in any float type.
Value emitPlain(StringRef function, const Lanes &x) {
  return llvm::StringSwitch<llvm::function_ref<Value()>>(function)
      .Case("sqrt", [&] { return sqrt(x).v; })
      .Case("rsqrt", [&] { return (1.0 / sqrt(x)).v; })
      .Case("reciprocal", [&] { return (1.0 / x).v; })
      .Case("floor", [&] { return floor(x).v; })
      .Case("ceil", [&] { return x.make<math::CeilOp>(x.v).v; })
      .Case("round", [&] { return x.make<math::RoundEvenOp>(x.v).v; })
      .Case("trunc", [&] { return x.make<math::TruncOp>(x.v).v; })
      .Case("abs", [&] { return abs(x).v; })
      .Default([] { return Value(); })();
}

Value emitF64(OpBuilder &b, Location loc, StringRef function, ValueRange args, Value context) {
  if (auto entry = tableEntry(function))
    return callTable(b, loc, *entry, args, context);
  Lanes x{&b, loc, args.front()};
  auto table = [&](KernelFunction entry, const Lanes &of) {
    return Lanes{&b, loc, callTable(b, loc, entry, of.v, context)};
  };
  if (function == "sigmoid") {
    Lanes e = table(KernelFunction::Exp, -abs(x));
    return (select(x > 0.0, like(x, 1.0), e) / (e + 1.0)).v;
  }
  if (function == "gelu_erf") {
    // erfc keeps its digits where 1 + erf cancels.
    Lanes phi = table(KernelFunction::Erfc, x * -0x1.6a09e667f3bcdp-1) * 0.5;
    return select(x < -40.0, like(x, -0.0), x * phi).v;
  }
  if (function == "gelu_tanh") {
    Lanes bounded = formulas::clampBelow(x, -40.0);
    Lanes u = bounded * (1.0 + bounded * bounded * 0.044715) * -0x1.9884533d43651p+0;
    return (bounded / (table(KernelFunction::Exp, u) + 1.0)).v;
  }
  return {};
}

Value emitF32(OpBuilder &b, Location loc, StringRef function, ValueRange args, Value context,
              bool avx512) {
  Lanes x{&b, loc, args.front(), avx512};
  auto trigonometric = [&](KernelFunction entry, llvm::function_ref<Value()> fast) {
    // Infinities and NaN stay on the fast path, which makes NaN of them.
    Lanes a = abs(x);
    Lanes rare = both(a > formulas::kSinCosLimit, a < formulas::kInf);
    return unlessRare(b, loc, rare.v, entry, args, context, fast);
  };
  auto binary = [&] { return x.with(args.back()); };
  return llvm::StringSwitch<llvm::function_ref<Value()>>(function)
      .Case("exp", [&] { return formulas::exp(x).v; })
      .Case("expm1", [&] { return formulas::expm1(x).v; })
      .Case("log", [&] { return formulas::log(x).v; })
      .Case("log1p", [&] { return formulas::log1p(x).v; })
      .Case("tanh", [&] { return formulas::tanh(x).v; })
      .Case("erf", [&] { return formulas::erf(x).v; })
      .Case("sigmoid", [&] { return formulas::sigmoid(x).v; })
      .Case("gelu_erf", [&] { return formulas::geluErf(x).v; })
      .Case("gelu_tanh", [&] { return formulas::geluTanh(x).v; })
      .Case("asin", [&] { return formulas::asin(x).v; })
      .Case("acos", [&] { return formulas::acos(x).v; })
      .Case("atan", [&] { return formulas::atan(x).v; })
      .Case("sinh", [&] { return formulas::sinh(x).v; })
      .Case("cosh", [&] { return formulas::cosh(x).v; })
      .Case("asinh", [&] { return formulas::asinh(x).v; })
      .Case("acosh", [&] { return formulas::acosh(x).v; })
      .Case("atanh", [&] { return formulas::atanh(x).v; })
      .Case("pow", [&] { return formulas::pow(x, binary()).v; })
      .Case("sin",
            [&] {
              return trigonometric(KernelFunction::Sin,
                                   [&] { return formulas::sinOrCos(x, false).v; });
            })
      .Case("cos",
            [&] {
              return trigonometric(KernelFunction::Cos,
                                   [&] { return formulas::sinOrCos(x, true).v; });
            })
      .Case("tan",
            [&] { return trigonometric(KernelFunction::Tan, [&] { return formulas::tan(x).v; }); })
      .Case("fmod",
            [&] {
              Lanes y = binary();
              Lanes quotient = abs(widen(x) / widen(y));
              Lanes rare = both(quotient > formulas::kFmodLimit, quotient < formulas::kInf);
              return unlessRare(b, loc, rare.v, KernelFunction::Fmod, args, context,
                                [&] { return formulas::fmod(x, y).v; });
            })
      .Default([] { return Value(); })();
}

} // namespace

Value emitMath(OpBuilder &b, Location loc, StringRef function, ValueRange args, Value context,
               bool avx512) {
  Type type = args.front().getType();
  Type element = getElementTypeOrSelf(type);
  if (element.getIntOrFloatBitWidth() == 16) {
    SmallVector<Value> wide;
    for (Value x : args)
      wide.push_back(arith::ExtFOp::create(b, loc, lanesOf(b.getF32Type(), type), x));
    Value result = emitMath(b, loc, function, wide, context, avx512);
    return result ? arith::TruncFOp::create(b, loc, type, result).getResult() : Value();
  }
  if (Value plain = emitPlain(function, {&b, loc, args.front()}))
    return plain;
  return element.isF64() ? emitF64(b, loc, function, args, context)
                         : emitF32(b, loc, function, args, context, avx512);
}

} // namespace dlc::cpu
