//===- Elementwise.cpp - arithmetic, comparison, logic, casts -------------===//
#include "frontend/onnx/Families.h"
#include "frontend/onnx/Importer.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

template <typename Op> void unary(Node &n, Build &b) { n.set(0, b.unary<Op>(n.in(0))); }

/// Rounding operators such as Floor leave integers unchanged.
template <typename Op> void roundingFunction(Node &n, Build &b) {
  n.set(0, b.isFloat(n.in(0)) ? b.unary<Op>(n.in(0)) : n.in(0));
}

/// Returns the second operand of a binary operator. Before opset 7, it broadcasts only if the
/// attribute `broadcast` is set; its dimensions are then aligned with those of the first operand
/// from `axis` on.
Value getSecondOperand(Node &n, Build &b) {
  Value v = n.in(1);
  if (n.opset >= 7 || !n.integer("broadcast", 0) || !n.hasAttr("axis"))
    return v;
  int64_t rank = b.rank(n.in(0)), axis = b.axis(n.integer("axis", 0), rank);
  Dims shape = b.dims(v);
  if (b.require(axis + b.rank(v) <= rank, "the second operand has too many dimensions for 'axis'"))
    shape.resize(rank - axis, 1);
  return b.reshape(v, shape);
}

template <typename Op> void binary(Node &n, Build &b) {
  n.set(0, b.op<Op>({n.in(0), getSecondOperand(n, b)}));
}

template <Predicate predicate> void compare(Node &n, Build &b) {
  n.set(0, b.compare(predicate, n.in(0), getSecondOperand(n, b)));
}

/// Imports operators that combine any number of operands, such as Max.
template <typename Op> void variadic(Node &n, Build &b) {
  Value result = n.in(0);
  for (int64_t i = 1; i < n.numInputs(); ++i)
    result = b.op<Op>({result, n.in(i)});
  n.set(0, result);
}

void mean(Node &n, Build &b) {
  variadic<AddOp>(n, b);
  n.set(0, b.div(n.outputs[0].value, double(n.numInputs())));
}

void mod(Node &n, Build &b) { n.set(0, b.rem(n.in(0), n.in(1), n.flag("fmod"))); }

void bitShift(Node &n, Build &b) {
  std::string direction = n.string("direction", "");
  if (direction == "LEFT")
    n.set(0, b.op<ShiftLeftOp>({n.in(0), n.in(1)}));
  else if (direction == "RIGHT")
    n.set(0, b.op<ShiftRightOp>({n.in(0), n.in(1)}));
  else
    n.unsupported("direction", direction, "LEFT, RIGHT");
}

void where(Node &n, Build &b) { n.set(0, b.select(n.in(0), n.in(1), n.in(2))); }

/// Clip. If min > max, the result is max, as ONNX defines.
void clip(Node &n, Build &b) {
  Value x = n.in(0), low = n.in(1), high = n.in(2);
  if (n.opset < 11) {
    if (n.hasAttr("min"))
      low = b.like(x, n.real("min", 0));
    if (n.hasAttr("max"))
      high = b.like(x, n.real("max", 0));
  }
  if (low)
    x = b.atLeast(x, low);
  if (high)
    x = b.atMost(x, high);
  n.set(0, x);
}

void isInf(Node &n, Build &b) {
  n.set(0, b.op<IsInfOp>({n.in(0)},
                         {b.attr("positive", b.b.getBoolAttr(n.integer("detect_positive", 1))),
                          b.attr("negative", b.b.getBoolAttr(n.integer("detect_negative", 1)))}));
}

/// Casts x to `element`. Floats are rounded before they are cast to 4-bit integers, because this
/// cast wraps (keeps the low 4 bits).
Value buildCast(Build &b, Value x, Type element) {
  if (element && b.isFloat(x) && ref::isPackedElement(element))
    x = b.cast(b.unary<RoundOp>(x), b.i32);
  return b.cast(x, element);
}

void castNode(Node &n, Build &b) {
  if (!n.hasAttr("to"))
    return (void)b.error("attribute 'to' is required");
  if (const llvm::fltSemantics *small = n.smallFloat("to"))
    return n.set(
        0, roundToSmallFloat(b, b.cast(n.in(0), b.f32), *small, n.integer("saturate", 1) != 0));
  n.set(0, buildCast(b, n.in(0), n.dataType("to", 0)));
}

void castLike(Node &n, Build &b) { n.set(0, buildCast(b, n.in(0), b.elem(n.in(1)))); }

void reciprocal(Node &n, Build &b) { n.set(0, b.div(b.like(n.in(0), 1), n.in(0))); }

/// BitCast. Between integers of the same width (and bool, which is a byte), it is an ordinary cast.
/// dlc has no operation that reads the bits of a float, so floats must be known at import.
void bitCast(Node &n, Build &b) {
  Type to = n.dataType("to", 0), from = b.elem(n.in(0));
  if (!b.ok() || from == to)
    return n.set(0, n.in(0));
  auto bits = [](Type type) { return type.isInteger(1) ? 8u : type.getIntOrFloatBitWidth(); };
  if (!b.require(bits(from) == bits(to), "BitCast needs types of one width"))
    return;
  if (!isa<FloatType>(from) && !isa<FloatType>(to))
    return n.set(0, b.cast(n.in(0), to));
  auto tensor = b.need(n.in(0), "the operand of a BitCast to or from a float type");
  if (!tensor)
    return;
  auto result = ref::Tensor::empty(RankedTensorType::get(tensor->getShape(), to));
  memcpy(result.mutableData(), tensor->data(), size_t(tensor->bytes()));
  n.set(0, b.constant(result));
}

const Operator table[] = {
#define DLC_HANDLER_1 unary
#define DLC_HANDLER_2 binary
#define DLC_ONNX(Op, mnemonic, onnx, operands) {#onnx, DLC_HANDLER_##operands<Op>},
#include "ir/dlc/ElementwiseTable.inc"
    {"Ceil", roundingFunction<CeilOp>},
    {"Floor", roundingFunction<FloorOp>},
    {"Round", roundingFunction<RoundOp>},
    {"BitwiseNot", unary<NotOp>},
    {"IsInf", isInf},
    {"Reciprocal", reciprocal},
    {"Mod", mod},
    {"BitwiseAnd", binary<AndOp>},
    {"BitwiseOr", binary<OrOp>},
    {"BitwiseXor", binary<XorOp>},
    {"BitShift", bitShift},
    {"Equal", compare<Predicate::eq>},
    {"Less", compare<Predicate::lt>},
    {"LessOrEqual", compare<Predicate::le>},
    {"Greater", compare<Predicate::gt>},
    {"GreaterOrEqual", compare<Predicate::ge>},
    {"Max", variadic<MaxOp>},
    {"Min", variadic<MinOp>},
    {"Sum", variadic<AddOp>},
    {"Mean", mean},
    {"Where", where},
    {"Clip", clip},
    {"Cast", castNode},
    {"CastLike", castLike},
    {"BitCast", bitCast},
};

} // namespace

ArrayRef<Operator> elementwiseOperators() { return table; }

} // namespace dlc::onnxfront
