//===- EmitElementwise.cpp - elementwise operations as text ----------------===//
#include "codegen/cuda/Emitter.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::cuda {

std::string Emitter::cast(const std::string &text, Type from, Type to) {
  if (from == to)
    return text;
  std::string type = computeName(to);
  if (to.isInteger(1))
    return text + " != " + literal(from, 0.0);
  if (isFloat(to)) {
    std::string value = computeName(from) == type ? text : "(" + type + ")" + text;
    // Later operations see what a store would have kept.
    if (to.isF16() || to.isBF16())
      return "dk::load(dk::as<" + storageName(to) + ">(" + value + "))";
    return value;
  }
  if (isFloat(from))
    return "dk::to_integer<" + type + ">(" + text + ")";
  return "(" + type + ")" + text;
}

std::string Emitter::functor(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return "dk::sum";
  case ReduceKind::prod:
    return "dk::product";
  case ReduceKind::max:
    return "dk::largest";
  case ReduceKind::min:
    return "dk::smallest";
  }
  llvm_unreachable("reduce kind");
}

std::string Emitter::combine(ReduceKind kind, Type element, const std::string &a,
                             const std::string &b) {
  if (isFloat(element) && (kind == ReduceKind::sum || kind == ReduceKind::mean))
    return a + " + " + b;
  if (isFloat(element) && kind == ReduceKind::prod)
    return a + " * " + b;
  return functor(kind) + "::of(" + a + ", " + b + ")";
}

std::string Emitter::neutral(ReduceKind kind, Type element) {
  if (kind == ReduceKind::sum || kind == ReduceKind::mean)
    return literal(element, 0.0);
  if (kind == ReduceKind::prod)
    return literal(element, 1.0);
  bool lowest = kind == ReduceKind::max;
  if (isFloat(element))
    return literal(element, lowest ? -INFINITY : INFINITY);
  unsigned width = element.getIntOrFloatBitWidth();
  bool u = isUnsigned(element);
  return literal(
      element, lowest
                   ? (u ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width))
                   : (u ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width)));
}

namespace {

std::string unary(Operation *op, const std::string &x, Type element) {
  bool f = isFloat(element), u = isUnsigned(element);
  std::string zero = literal(element, 0.0);
  if (isa<AbsOp>(op))
    return u ? x : "dk::abs(" + x + ")";
  if (isa<NegOp>(op))
    return f ? "-" + x : "dk::sub((" + computeName(element) + ")0, " + x + ")";
  if (isa<SignOp>(op))
    return f ? x + " > " + zero + " ? " + literal(element, 1.0) + " : " + x + " < " + zero + " ? " +
                   literal(element, -1.0) + " : " + x
             : "dk::sign(" + x + ")";
  if (isa<ReluOp>(op)) // NaN compares false and stays
    return u ? x : x + " < " + zero + " ? " + zero + " : " + x;
  if (isa<NotOp>(op))
    return element.isInteger(1) ? "!" + x : "(" + computeName(element) + ")~" + x;
  if (isa<IsNanOp>(op))
    return x + " != " + x;
  if (auto inf = dyn_cast<IsInfOp>(op)) {
    std::string plus = x + " == " + literal(element, INFINITY),
                minus = x + " == " + literal(element, -INFINITY);
    if (inf.getPositive() && inf.getNegative())
      return plus + " || " + minus;
    return inf.getPositive() ? plus : inf.getNegative() ? minus : "false";
  }
  if (auto gelu = dyn_cast<GeluOp>(op))
    return (gelu.getApproximate() ? "dk::gelu_tanh(" : "dk::gelu(") + x + ")";
  // The rest are functions under the operation's own name.
  return "dk::" + op->getName().stripDialect().str() + "(" + x + ")";
}

std::string power(Emitter &e, PowOp op, const std::string &a, const std::string &b) {
  Type base = elementOf(op.getA()), exponent = elementOf(op.getB());
  Type f64 = Float64Type::get(op.getContext());
  if (isFloat(base)) {
    Type compute = base.isF64() ? f64 : Type(Float32Type::get(op.getContext()));
    return "dk::pow(" + a + ", (" + computeName(compute) + ")" + b + ")";
  }
  if (isFloat(exponent))
    return e.cast("dk::pow((double)" + a + ", (double)" + b + ")", f64, base);
  return "dk::integer_pow(" + a + ", " + e.cast(b, exponent, base) + ")";
}

} // namespace

std::string elementText(Emitter &e, Operation *op, ArrayRef<std::string> v) {
  Type element = elementOf(op->getOperand(0));
  bool f = isFloat(element), boolean = element.isInteger(1);
  if (auto to = dyn_cast<CastOp>(op))
    return e.cast(v[0], element, elementOf(to.getY()));
  if (isa<SelectOp>(op))
    return v[0] + " ? " + v[1] + " : " + v[2];
  if (v.size() == 1)
    return unary(op, v[0], element);
  auto call = [&](const char *name) { return std::string(name) + "(" + v[0] + ", " + v[1] + ")"; };
  auto infix = [&](const char *sign) { return v[0] + " " + sign + " " + v[1]; };
  std::string type = computeName(element);
  return llvm::TypeSwitch<Operation *, std::string>(op)
      .Case<CompareOp>([&](CompareOp compare) {
        const char *signs[] = {"==", "!=", "<", "<=", ">", ">="};
        return infix(signs[int(compare.getPredicate())]);
      })
      .Case<AddOp>([&](auto) { return f ? infix("+") : call("dk::add"); })
      .Case<SubOp>([&](auto) { return f ? infix("-") : call("dk::sub"); })
      .Case<MulOp>([&](auto) { return f ? infix("*") : call("dk::mul"); })
      .Case<DivOp>([&](auto) { return f ? infix("/") : call("dk::div"); })
      .Case<RemOp>(
          [&](RemOp rem) { return call(rem.getTruncated() ? "dk::rem_truncated" : "dk::rem"); })
      .Case<PowOp>([&](PowOp pow) { return power(e, pow, v[0], v[1]); })
      .Case<MaxOp>([&](auto) { return call("dk::largest::of"); })
      .Case<MinOp>([&](auto) { return call("dk::smallest::of"); })
      .Case<AndOp>(
          [&](auto) { return boolean ? infix("&&") : "(" + type + ")(" + infix("&") + ")"; })
      .Case<OrOp>(
          [&](auto) { return boolean ? infix("||") : "(" + type + ")(" + infix("|") + ")"; })
      .Case<XorOp>(
          [&](auto) { return boolean ? infix("!=") : "(" + type + ")(" + infix("^") + ")"; })
      .Case<ShiftLeftOp>([&](auto) { return call("dk::shift_left"); })
      .Case<ShiftRightOp>([&](auto) { return call("dk::shift_right"); });
}

} // namespace dlc::cuda
