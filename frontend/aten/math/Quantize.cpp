//===- Quantize.cpp - quantization ops of quantized_decomposed and torchao --===//
//
//   quantized    clamp(round(x * (1 / scale)) + zero, low, high)
//   dequantized  (x - zero) * scale
//
// There is one scale and zero point for the tensor, for each index of an axis, for each row
// (token), or for each block.
//
//===----------------------------------------------------------------------===//
#include "frontend/builder/Quantize.h"
#include "frontend/aten/Node.h"
#include "ir/dlc/Infer.h"

using namespace mlir;

namespace dlc::aten {
namespace {

/// A tensor x with its scales and zero points, and the block quantization along one axis if there
/// is one. x may be reshaped so that each block has its own axis.
struct QuantizationOperands {
  Value x, scale, zero;
  Dims shape; ///< shape of the result, before any reshape
  frontend::BlockQuantization blocks;
};

Value readInput(Node &n) {
  for (StringRef name : {"input", "w_int8"})
    if (n.has(name))
      return n.tensor(name);
  return n.tensor("input");
}

Type readElementType(Node &n, Build &b, StringRef name) {
  Type element = parseElementType(n.text(name), b.context);
  b.require(bool(element), "argument '" + name + "': required: a supported type; found " +
                               (n.has(name) ? n.text(name) : "none"));
  return element;
}

/// Reads an argument that is a single number as an f64 or i64 scalar. A tensor argument with one
/// element may have one dimension.
Value one(Node &n, Build &b, StringRef name, Type element) {
  Value v = n.operand(name, element);
  return b.require(b.count(v) == 1,
                   "argument '" + name + "': required: one element; found " + Twine(b.count(v)))
             ? b.reshape(v, {})
             : Value();
}

QuantizationOperands readPerTensorOperands(Node &n, Build &b) {
  Value x = readInput(n);
  return {x, one(n, b, "scale", b.f64), one(n, b, "zero_point", b.i64), b.dims(x), {}};
}

QuantizationOperands readPerChannelOperands(Node &n, Build &b) {
  Value x = readInput(n), zero = n.tensor("zero_points");
  int64_t axis = n.axis("axis", b.rank(x));
  return {x, frontend::broadcastAlongAxis(b, n.tensor("scales"), x, {axis}),
          frontend::broadcastAlongAxis(b, zero, x, {axis}), b.dims(x)};
}

QuantizationOperands readPerTokenOperands(Node &n, Build &b) {
  Value x = readInput(n);
  // NumPy broadcasting: dimensions of size 1 are added at the front.
  auto aligned = [&](Value v) {
    if (!v || b.rank(v) == 0 || b.rank(v) >= b.rank(x))
      return v;
    Dims shape = b.dims(v);
    shape.insert(shape.begin(), b.rank(x) - b.rank(v), 1);
    return b.reshape(v, shape);
  };
  return {x, aligned(n.tensor("scales")), aligned(n.tensor("zero_points")), b.dims(x)};
}

/// Block quantization in any number of dimensions. If more than one dimension is divided into
/// several blocks of several elements, x is reshaped so that the elements of each block have their
/// own axis.
QuantizationOperands splitIntoBlocks(Build &b, Value x, Value scale, Value zero,
                                     const Dims &block) {
  Dims shape = b.dims(x), split, each, counts;
  frontend::BlockQuantization only;
  int64_t partial = 0;
  if (!b.require(block.size() == shape.size(), "required: the size of a block in each of " +
                                                   Twine(shape.size()) + " dimensions; found " +
                                                   Twine(block.size())))
    return {};
  for (auto [d, size, within] : llvm::enumerate(shape, block)) {
    if (!b.require(within > 0 && size % within == 0,
                   "required: blocks that divide the dimension of " + Twine(size) + "; found " +
                       Twine(within)))
      return {};
    bool isWhole = within == 1 || within == size;
    split.push_back(isWhole ? size : size / within);
    each.push_back(within == size ? 1 : size / within);
    counts.push_back(each.back());
    if (isWhole)
      continue;
    split.push_back(within), each.push_back(1);
    only = {int64_t(d), within};
    ++partial;
  }
  if (partial > 1)
    only = {};
  auto shaped = [&](Value v) {
    int64_t number = ShapedType::getNumElements(each);
    return b.require(b.count(v) == number, "required: a number for each of " + Twine(number) +
                                               " blocks; found " + Twine(b.count(v)))
               ? b.reshape(v, partial > 1 ? each : counts)
               : Value();
  };
  // A zero-point tensor without elements means that there are no zero points.
  bool isCentred = zero && b.count(zero) > 0;
  return {partial > 1 ? b.reshape(x, split) : x, shaped(scale), isCentred ? shaped(zero) : Value(),
          shape, only};
}

/// Quantization of groups of elements along rows. If a row is shorter than `group_size`, the row is
/// one group.
QuantizationOperands readPerGroupOperands(Node &n, Build &b) {
  Value x = readInput(n);
  int64_t size = std::min(n.integer("group_size", 128), b.dim(x, -1));
  if (!b.require(b.rank(x) == 2, "required: a matrix"))
    return {};
  return splitIntoBlocks(b, x, n.tensor("scales"), n.tensor("zero_points"), {1, size});
}

QuantizationOperands readAffineOperands(Node &n, Build &b) {
  return splitIntoBlocks(b, n.tensor("input"), n.tensor("scale"), n.tensor("zero_point"),
                         n.ints("block_size"));
}

/// Casts x to the type in which PyTorch computes x * (1 / scale). A 0-d scale does not affect the
/// type.
Value castToScalingType(Build &b, const QuantizationOperands &q) {
  bool isWide = b.elem(q.scale) == b.f64 && b.rank(q.scale) > 0;
  return isWide || b.elem(q.x) == b.f64 ? b.cast(q.x, b.f64)
         : b.isFloat(q.x)               ? q.x
                                        : b.cast(q.x, b.f32);
}

/// Returns the zero point cast to i32, or to f32 if it is a float.
Value castZeroPoint(Build &b, const QuantizationOperands &q) {
  return q.zero ? b.cast(q.zero, b.isFloat(q.zero) ? b.f32 : b.i32) : Value();
}

enum class RoundingOrder { Before, After };

/// Quantizes the operand x of the node. `rounds` specifies whether values are rounded before or
/// after the zero point is added.
template <QuantizationOperands (*read)(Node &, Build &), RoundingOrder rounds>
void quantize(Node &n, Build &b) {
  QuantizationOperands q = read(n, b);
  Type element = readElementType(n, b, n.has("output_dtype") ? "output_dtype" : "dtype");
  if (!b.ok())
    return;
  auto integer = dyn_cast<IntegerType>(element);
  if (!b.require(integer && !element.isInteger(1) && integer.getWidth() <= 32,
                 "required: integers of 8 to 32 bits as the quantized type"))
    return;
  bool isSigned = !integer.isUnsignedInteger();
  double most = std::ldexp(1.0, int(integer.getWidth()) - isSigned) - 1;
  double low = n.real("quant_min", isSigned ? -most - 1 : 0), high = n.real("quant_max", most);
  SmallVector<Value> operands{castToScalingType(b, q), q.scale};
  if (Value zero = castZeroPoint(b, q))
    operands.push_back(zero);
  auto attributes = frontend::blockAttributes(b, q.x, q.scale, q.blocks);
  attributes.append({b.attr("to", TypeAttr::get(element)), b.attr("low", int64_t(low)),
                     b.attr("high", int64_t(high)), b.attrUnit("reciprocal")});
  if (rounds == RoundingOrder::After)
    attributes.push_back(b.attrUnit("zero_point_first"));
  n.set(b.reshape(b.op<QuantizeOp>(operands, attributes), q.shape));
}

/// Casts constant integers to 4 bits if the operator specifies a 4-bit range (`quant_min`,
/// `quant_max`) and all of them are within it. PyTorch stores such integers in 8 bits.
Value castTo4BitRange(Node &n, Build &b, Value x) {
  if (!n.has("quant_min") || !n.has("quant_max") || b.elem(x).getIntOrFloatBitWidth() != 8)
    return x;
  const double low = n.real("quant_min"), high = n.real("quant_max");
  const bool isSigned = low < 0;
  auto [least, most] = integerRange(b.b.getIntegerType(4, isSigned));
  auto stored = low >= double(least) && high <= double(most) ? frontend::getConstantElements(x)
                                                             : std::nullopt;
  if (!stored)
    return x;
  auto type = isSigned ? b.b.getIntegerType(4) : b.b.getIntegerType(4, /*isSigned=*/false);
  auto narrow = ref::Tensor::empty(stored->getType().clone(type));
  for (int64_t i = 0; i < narrow.size(); ++i) {
    if (stored->getInt(i) < least || stored->getInt(i) > most)
      return x;
    narrow.setInt(i, stored->getInt(i));
  }
  return b.constant(narrow);
}

template <QuantizationOperands (*read)(Node &, Build &)> void dequantize(Node &n, Build &b) {
  QuantizationOperands q = read(n, b);
  if (!b.ok())
    return;
  q.scale = b.cast(q.scale, b.f32);
  Value y;
  if (b.isFloat(q.x)) {
    if (!b.require(!q.blocks.size, "required: integers; found floats in blocks"))
      return;
    Value x = b.cast(q.x, b.f32);
    y = b.mul(q.zero ? b.sub(x, b.cast(q.zero, b.f32)) : x, q.scale);
  } else {
    y = frontend::buildDequantize(b, castTo4BitRange(n, b, q.x), {q.scale, castZeroPoint(b, q)},
                                  q.blocks);
  }
  n.set(b.cast(b.reshape(y, q.shape), n.resultElement()));
}

struct MinMaxRange {
  Value low, high;
};

/// Returns the minimum and maximum of x over the axes. The range is extended to include 0.
MinMaxRange computeMinMax(Build &b, Value x, ArrayRef<int64_t> axes, bool keepdims) {
  return {b.min(b.reduce(ReduceKind::min, x, axes, keepdims), b.like(x, 0)),
          b.max(b.reduce(ReduceKind::max, x, axes, keepdims), b.like(x, 0))};
}

Value maximumMagnitude(Build &b, const MinMaxRange &range) {
  return b.max(b.sub(b.like(range.low, 0), range.low), range.high);
}

/// choose_qparams: chooses the scale of a tensor, as f64 [1], and its zero point, as i64 [1].
template <bool isSymmetric> void chooseTensorQparams(Node &n, Build &b) {
  Value x = n.tensor("input");
  double low = n.real("quant_min"), high = n.real("quant_max");
  Type element = readElementType(n, b, "dtype");
  if (!b.ok())
    return;
  MinMaxRange range = computeMinMax(b, x, llvm::to_vector(llvm::seq(b.rank(x))), false);
  Value scale = isSymmetric ? b.div(maximumMagnitude(b, range), (high - low) / 2)
                            : b.div(b.sub(range.high, range.low), high - low);
  scale = b.cast(scale, b.f32);
  scale = b.max(scale, b.like(scale, n.real("eps")));
  Value zero;
  if (isSymmetric) {
    zero = b.scalarInt(b.i64, element.isUnsignedInteger() ? 128 : 0);
  } else {
    Value least = b.unary<RoundOp>(b.div(b.cast(range.low, b.f32), scale));
    // The zero point is a quantized value. Casting it to the quantized type tells later passes its
    // value range.
    zero = b.cast(b.clamp(b.sub(b.like(least, low), least), low, high), element);
    zero = b.cast(zero, b.i64);
  }
  n.set(0, b.reshape(b.cast(scale, b.f64), {1}));
  n.set(1, b.reshape(zero, {1}));
}

/// Chooses symmetric scales for quantization to i8 per token (row), with the range -127 to 127.
void chooseTokenScales(Node &n, Build &b) {
  Value x = n.tensor("input");
  Value largest = b.reduce(ReduceKind::max, b.unary<AbsOp>(x), {b.rank(x) - 1}, true);
  largest = b.widen(largest);
  Value scale = b.div(b.max(largest, b.like(largest, 1e-5)), 127.0);
  if (n.hasResult(0))
    n.set(0, b.cast(scale, n.resultElement(0)));
  if (n.hasResult(1))
    n.set(1, b.splat(n.resultElement(1), b.shape(scale), 0));
}

/// Chooses asymmetric scales and zero points for quantization to i8 per token (row). The zero point
/// is derived from the end of the range that has the smaller error.
void chooseTokenQparamsAsymmetric(Node &n, Build &b) {
  Value x = n.tensor("input");
  MinMaxRange range = computeMinMax(b, x, {b.rank(x) - 1}, true);
  constexpr double kLow = -128, kHigh = 127;
  Value scale = b.div(b.sub(range.high, range.low), kHigh - kLow);
  scale = b.max(scale, b.like(scale, std::numeric_limits<float>::epsilon()));
  Value low = b.div(range.low, scale), high = b.div(range.high, scale);
  Value errors = b.add(b.add(low, kLow), b.add(high, kHigh));
  Value zero = b.select(b.compare(Predicate::gt, errors, b.like(errors, 0)),
                        b.sub(b.like(low, kLow), low), b.sub(b.like(high, kHigh), high));
  zero = b.unary<RoundOp>(b.clamp(zero, kLow, kHigh));
  if (n.hasResult(0))
    n.set(0, b.cast(scale, n.resultElement(0)));
  if (n.hasResult(1))
    n.set(1, b.cast(zero, n.resultElement(1)));
}

void convert(Node &n, Build &b) { n.set(b.cast(n.tensor("input"), n.resultElement())); }

#define DECOMPOSED "quantized_decomposed::"
const Operator table[] = {
    {DECOMPOSED "quantize_per_tensor.default",
     quantize<readPerTensorOperands, RoundingOrder::Before>},
    {DECOMPOSED "quantize_per_tensor.tensor",
     quantize<readPerTensorOperands, RoundingOrder::Before>},
    {DECOMPOSED "dequantize_per_tensor.default", dequantize<readPerTensorOperands>},
    {DECOMPOSED "dequantize_per_tensor.tensor", dequantize<readPerTensorOperands>},
    {DECOMPOSED "quantize_per_channel.default",
     quantize<readPerChannelOperands, RoundingOrder::Before>},
    {DECOMPOSED "dequantize_per_channel.default", dequantize<readPerChannelOperands>},
    {DECOMPOSED "quantize_per_token.default", quantize<readPerTokenOperands, RoundingOrder::After>},
    {DECOMPOSED "dequantize_per_token.default", dequantize<readPerTokenOperands>},
    {DECOMPOSED "quantize_per_channel_group.default",
     quantize<readPerGroupOperands, RoundingOrder::After>},
    {DECOMPOSED "dequantize_per_channel_group.default", dequantize<readPerGroupOperands>},
    {DECOMPOSED "choose_qparams.tensor", chooseTensorQparams<false>},
    {DECOMPOSED "choose_qparams_symmetric.tensor", chooseTensorQparams<true>},
    {DECOMPOSED "choose_qparams_per_token.default", chooseTokenScales},
    {DECOMPOSED "choose_qparams_per_token_asymmetric.default", chooseTokenQparamsAsymmetric},
    {DECOMPOSED "_choose_qparams_per_token_asymmetric_impl.default", chooseTokenQparamsAsymmetric},
    {DECOMPOSED "convert_element_type.no_fuse", convert},
    {"torchao::quantize_affine.default", quantize<readAffineOperands, RoundingOrder::Before>},
    {"torchao::dequantize_affine.default", dequantize<readAffineOperands>},
};
#undef DECOMPOSED

} // namespace

ArrayRef<Operator> quantizeOperators() { return table; }

} // namespace dlc::aten
