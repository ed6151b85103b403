//===- EmitElementwise.cpp - elementwise operations as text ---------------===//
#include "codegen/cuda/emit/Emitter.h"
#include "ir/tensor/Tensor.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;

namespace dlc::cuda {

std::string Emitter::cast(const std::string &text, Type from, Type to) {
  if (from == to)
    return text;
  std::string type = getComputeTypeName(to);
  if (to.isInteger(1))
    return text + " != " + formatLiteral(from, 0.0);
  if (isFloat(to)) {
    std::string value = getComputeTypeName(from) == type ? text : "(" + type + ")" + text;
    // A cast to a 16-bit float rounds immediately: later operations must use the same value that a
    // store to memory would have written.
    if (to.isF16() || to.isBF16())
      return "dk::load(dk::as<" + getStorageTypeName(to) + ">(" + value + "))";
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
    return formatLiteral(element, 0.0);
  if (kind == ReduceKind::prod)
    return formatLiteral(element, 1.0);
  bool lowest = kind == ReduceKind::max;
  if (isFloat(element))
    return formatLiteral(element, lowest ? -INFINITY : INFINITY);
  unsigned width = element.getIntOrFloatBitWidth();
  bool u = isUnsigned(element);
  return formatLiteral(
      element, lowest
                   ? (u ? llvm::APInt::getMinValue(width) : llvm::APInt::getSignedMinValue(width))
                   : (u ? llvm::APInt::getMaxValue(width) : llvm::APInt::getSignedMaxValue(width)));
}

namespace {

/// Elementwise operation for which text is emitted, with the texts of its operands' elements.
struct ElementwiseContext {
  Emitter &e;
  ArrayRef<std::string> values;
  Type element; ///< element type of the operation's first operand
  bool isFloat, isUnsigned, isBool;

  const std::string &x() const { return values[0]; }
  std::string number(double value) const { return formatLiteral(element, value); }
  std::string type() const { return getComputeTypeName(element); }
  std::string call(StringRef name) const {
    return (name + "(" + llvm::join(values, ", ") + ")").str();
  }
  std::string infix(StringRef sign) const { return (x() + " " + sign + " " + values[1]).str(); }
};

// There is one overload of `formatExpression` for each elementwise operation. The dispatch in
// formatElement() does not compile if one is missing.

#define DLC_FUNCTION(Op, mnemonic, value, operands)                                                \
  std::string formatExpression(const ElementwiseContext &s, Op) { return s.call("dk::" #mnemonic); }
#include "ir/dlc/ElementwiseTable.inc"

std::string formatExpression(const ElementwiseContext &s, GeluOp op) {
  bool narrow = s.element.isF16() || s.element.isBF16();
  return s.call(op.getApproximate() ? "dk::gelu_tanh" : narrow ? "dk::gelu_16bit" : "dk::gelu");
}

std::string formatExpression(const ElementwiseContext &s, AbsOp) {
  return s.isUnsigned ? s.x() : s.call("dk::abs");
}

std::string formatExpression(const ElementwiseContext &s, NegOp) {
  return s.isFloat ? "-" + s.x() : "dk::sub((" + s.type() + ")0, " + s.x() + ")";
}

std::string formatExpression(const ElementwiseContext &s, SignOp) {
  if (!s.isFloat)
    return s.call("dk::sign");
  std::string zero = s.number(0);
  return s.x() + " > " + zero + " ? " + s.number(1) + " : " + s.x() + " < " + zero + " ? " +
         s.number(-1) + " : " + s.x();
}

// A NaN is returned unchanged, because its comparison with 0 is false.
std::string formatExpression(const ElementwiseContext &s, ReluOp) {
  return s.isUnsigned ? s.x() : s.x() + " < " + s.number(0) + " ? " + s.number(0) + " : " + s.x();
}

std::string formatExpression(const ElementwiseContext &s, NotOp) {
  return s.isBool ? "!" + s.x() : "(" + s.type() + ")~" + s.x();
}

std::string formatExpression(const ElementwiseContext &s, IsNanOp) {
  return s.x() + " != " + s.x();
}

std::string formatExpression(const ElementwiseContext &s, IsInfOp op) {
  std::string plus = s.x() + " == " + s.number(INFINITY),
              minus = s.x() + " == " + s.number(-INFINITY);
  if (op.getPositive() && op.getNegative())
    return plus + " || " + minus;
  return op.getPositive() ? plus : op.getNegative() ? minus : "false";
}

std::string formatExpression(const ElementwiseContext &s, CastOp op) {
  return s.e.cast(s.x(), s.element, elementOf(op.getY()));
}

/// Returns a table lookup. The table is a C string literal, which needs no separate declaration.
std::string formatExpression(const ElementwiseContext &s, LookupOp op) {
  auto table = ref::Tensor::fromAttr(op.getTable());
  std::string bytes;
  llvm::raw_string_ostream out(bytes);
  for (int64_t i = 0; i < table->size(); ++i)
    out << llvm::format("\\%03o", unsigned(table->getInt(i) & 255));
  return "(" + getComputeTypeName(table->getElementType()) + ")\"" + bytes + "\"[(unsigned char)" +
         s.x() + "]";
}

std::string formatExpression(const ElementwiseContext &s, SelectOp) {
  return s.x() + " ? " + s.values[1] + " : " + s.values[2];
}

std::string formatExpression(const ElementwiseContext &s, CompareOp op) {
  const char *signs[] = {"==", "!=", "<", "<=", ">", ">="};
  return s.infix(signs[int(op.getPredicate())]);
}

std::string formatExpression(const ElementwiseContext &s, AddOp) {
  return s.isFloat ? s.infix("+") : s.call("dk::add");
}
std::string formatExpression(const ElementwiseContext &s, SubOp) {
  return s.isFloat ? s.infix("-") : s.call("dk::sub");
}
std::string formatExpression(const ElementwiseContext &s, MulOp) {
  return s.isFloat ? s.infix("*") : s.call("dk::mul");
}
std::string formatExpression(const ElementwiseContext &s, DivOp) {
  return s.isFloat ? s.infix("/") : s.call("dk::div");
}
std::string formatExpression(const ElementwiseContext &s, RemOp op) {
  return s.call(op.getTruncated() ? "dk::rem_truncated" : "dk::rem");
}

std::string formatExpression(const ElementwiseContext &s, PowOp op) {
  const std::string &a = s.x(), &b = s.values[1];
  Type exponent = elementOf(op.getB()), f64 = Float64Type::get(op.getContext());
  std::optional<double> known = s.isFloat ? splatValue(op.getB()) : std::nullopt;
  if (known == 0.5)
    return "dk::pow_half(" + a + ")";
  if (known == -0.5)
    return "1 / dk::pow_half(" + a + ")";
  if (s.isFloat) {
    Type compute = s.element.isF64() ? f64 : Type(Float32Type::get(op.getContext()));
    return "dk::pow(" + a + ", (" + getComputeTypeName(compute) + ")" + b + ")";
  }
  if (isFloat(exponent))
    return s.e.cast("dk::pow((double)" + a + ", (double)" + b + ")", f64, s.element);
  return "dk::integer_pow(" + a + ", " + s.e.cast(b, exponent, s.element) + ")";
}

std::string formatExpression(const ElementwiseContext &s, MaxOp) {
  return s.call("dk::largest::of");
}
std::string formatExpression(const ElementwiseContext &s, MinOp) {
  return s.call("dk::smallest::of");
}

std::string formatBitwise(const ElementwiseContext &s, StringRef onBool, StringRef onBits) {
  return s.isBool ? s.infix(onBool) : "(" + s.type() + ")(" + s.infix(onBits) + ")";
}
std::string formatExpression(const ElementwiseContext &s, AndOp) {
  return formatBitwise(s, "&&", "&");
}
std::string formatExpression(const ElementwiseContext &s, OrOp) {
  return formatBitwise(s, "||", "|");
}
std::string formatExpression(const ElementwiseContext &s, XorOp) {
  return formatBitwise(s, "!=", "^");
}
std::string formatExpression(const ElementwiseContext &s, ShiftLeftOp) {
  return s.call("dk::shift_left");
}
std::string formatExpression(const ElementwiseContext &s, ShiftRightOp) {
  return s.call("dk::shift_right");
}

} // namespace

std::string formatElement(Emitter &e, Operation *op, ArrayRef<std::string> operands) {
  Type type = elementOf(op->getOperand(0));
  ElementwiseContext site{e, operands, type, isFloat(type), isUnsigned(type), type.isInteger(1)};
  return llvm::TypeSwitch<Operation *, std::string>(op)
#define DLC_ELEMENTWISE(Op, mnemonic, value, operands)                                             \
  .Case([&](Op each) { return formatExpression(site, each); })
#include "ir/dlc/ElementwiseTable.inc"
      ;
}

} // namespace dlc::cuda
