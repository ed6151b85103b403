//===- Conv.cpp - convolutions --------------------------------------------===//
#include "frontend/builder/Sample.h"
#include "frontend/onnx/Families.h"
#include "frontend/onnx/nn/Window.h"

using namespace mlir;

namespace dlc::onnxfront {

/// Checks that a node does not specify its padding twice, by both `pads` and `auto_pad`.
static bool checkSinglePadding(Node &n, Build &b) {
  return b.require(!n.hasAttr("pads") || n.string("auto_pad", "NOTSET") == "NOTSET",
                   "attributes 'pads' and 'auto_pad' contradict each other; required: one of them; "
                   "found: both; remove one of them");
}

Value convolve(Node &n, Build &b, Value x, Value w, Value bias, Value xZero, Value wZero) {
  if (!b.require(b.rank(x) >= 3 && b.rank(w) == b.rank(x),
                 "x and the weights must have the same rank, 3 or more"))
    return {};
  WindowAttributes window =
      readWindowAttributes(n, b, x, Dims(b.shape(w).begin() + 2, b.shape(w).end()));
  int64_t groups = n.integer("group", 1);
  if (!b.ok() || !b.require(groups > 0, "attribute 'group' must be positive") ||
      !checkSinglePadding(n, b))
    return {};
  auto attributes = window.attributes(b, false);
  attributes.push_back(b.attr("groups", groups));
  return b.opWithOptional<ConvOp>({x, w, bias, xZero, wZero}, attributes);
}

namespace {

void conv(Node &n, Build &b) { n.set(0, convolve(n, b, n.in(0), n.in(1), n.in(2))); }

void convTranspose(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1);
  if (!b.require(b.rank(x) >= 3 && b.rank(w) == b.rank(x),
                 "x and the weights must have the same rank, 3 or more"))
    return;
  int64_t spatial = b.rank(x) - 2, groups = n.integer("group", 1);
  Dims kernel(b.shape(w).begin() + 2, b.shape(w).end());
  if (!b.require(n.integers("kernel_shape", kernel) == kernel,
                 "attribute 'kernel_shape' does not match the shape of the weights") ||
      !checkSinglePadding(n, b))
    return;
  Dims strides = n.integers("strides", spatial, 1), dilations = n.integers("dilations", spatial, 1);
  Dims pads = n.integers("pads", 2 * spatial, 0), extra = n.integers("output_padding", spatial, 0);
  Dims low(pads.begin(), pads.begin() + spatial), high(pads.begin() + spatial, pads.end());
  std::string autoPad = n.string("auto_pad", "NOTSET");
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (!same && autoPad != "VALID" && autoPad != "NOTSET")
    n.unsupported("auto_pad", autoPad, "NOTSET, SAME_UPPER, SAME_LOWER, VALID");
  bool byShape = n.hasAttr("output_shape");
  Dims shape = n.integers("output_shape", {});
  // ConvTranspose: old exporters include the batch and channel dimensions in `output_shape`.
  if (int64_t(shape.size()) == spatial + 2)
    shape.erase(shape.begin(), shape.begin() + 2);
  if (!b.ok() || !b.require(groups > 0, "attribute 'group' must be positive") ||
      !b.require(!byShape || int64_t(shape.size()) == spatial,
                 "attribute 'output_shape' must have one entry per spatial "
                 "dimension"))
    return;
  for (int64_t i = 0; i < spatial; ++i) {
    auto sane = Build::isSane;
    constexpr int64_t least = -(int64_t(1) << 31);
    if (!b.require(sane(strides[i], 1) && sane(dilations[i], 1) && sane(extra[i], 0) &&
                       sane(low[i], least) && sane(high[i], least) &&
                       (!byShape || sane(shape[i], 1)) && sane(b.shape(x)[2 + i], 0),
                   "strides, dilations, pads or shapes are out of range") ||
        !b.require(extra[i] < std::max(strides[i], dilations[i]),
                   "attribute 'output_padding' is too large; required: less than the stride or the "
                   "dilation, " +
                       Twine(std::max(strides[i], dilations[i])) + "; found: " + Twine(extra[i]) +
                       "; correct the attribute"))
      return;
    if (autoPad == "VALID")
      low[i] = high[i] = 0;
    if (!byShape && !same)
      continue;
    int64_t wanted = byShape ? shape[i] : b.shape(x)[2 + i] * strides[i];
    int64_t total = strides[i] * (b.shape(x)[2 + i] - 1) + extra[i] +
                    (kernel[i] - 1) * dilations[i] + 1 - wanted;
    if (total < 0) {
      extra[i] -= total;
      total = 0;
    }
    low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    high[i] = total - low[i];
  }
  SmallVector<Value> operands{x, w};
  if (n.has(2))
    operands.push_back(n.in(2));
  n.set(0,
        b.op<ConvTransposeOp>(operands, {b.attr("strides", strides), b.attr("dilations", dilations),
                                         b.attr("low", low), b.attr("high", high),
                                         b.attr("extra", extra), b.attr("groups", groups)}));
}

/// DeformConv: samples x by linear interpolation at the position of each window element plus an
/// offset. The samples are multiplied by the weights in a matmul.
void deformConv(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1), offset = n.in(2);
  if (!b.require(b.rank(x) >= 3 && b.rank(w) == b.rank(x) && b.rank(offset) == b.rank(x),
                 "x, the weights and the offsets must have the same rank, 3 or more"))
    return;
  WindowAttributes window =
      readWindowAttributes(n, b, x, Dims(b.shape(w).begin() + 2, b.shape(w).end()));
  int64_t groups = n.integer("group", 1), offsetGroups = n.integer("offset_group", 1),
          spatial = window.spatial();
  if (!b.ok())
    return;
  int64_t N = b.dim(x, 0), C = b.dim(x, 1), O = b.dim(w, 0), taps = 1, places = 1;
  Dims out(b.shape(offset).begin() + 2, b.shape(offset).end());
  for (int64_t i = 0; i < spatial; ++i) {
    taps *= window.kernel[i];
    places *= out[i];
  }
  if (!b.require(taps * places <= (1 << 26), "there are too many elements to sample"))
    return;
  if (!b.require(groups > 0 && offsetGroups > 0 && C % groups == 0 && O % groups == 0 &&
                     C % offsetGroups == 0,
                 "the groups must divide the channels") ||
      !b.require(b.dim(offset, 1) == offsetGroups * taps * spatial && b.dim(w, 1) * groups == C,
                 "the number of channels of the offsets or the weights is wrong"))
    return;
  int64_t B = N * offsetGroups;
  // Offsets of the sampled positions, as [B, window elements, spatial dimensions, output
  // positions].
  Value offsets = b.reshape(offset, {B, taps, spatial, places});
  std::vector<Value> at;
  for (int64_t d = 0; d < spatial; ++d) {
    std::vector<double> base;
    int64_t tapInner = 1, placeInner = 1;
    for (int64_t i = d + 1; i < spatial; ++i) {
      tapInner *= window.kernel[i];
      placeInner *= out[i];
    }
    Dims tapAt, placeAt;
    for (int64_t t = 0; t < taps; ++t)
      tapAt.push_back(t / tapInner % window.kernel[d] * window.dilations[d]);
    for (int64_t p = 0; p < places; ++p)
      placeAt.push_back(p / placeInner % out[d] * window.strides[d] - window.low[d]);
    Value start = b.add(b.ints(tapAt, {1, taps, 1}, b.elem(offset)),
                        b.ints(placeAt, {1, 1, places}, b.elem(offset)));
    at.push_back(b.reshape(b.add(b.at(offsets, 2, d), start), {B, taps * places}));
  }
  Dims image{B, C / offsetGroups};
  image.insert(image.end(), b.shape(x).begin() + 2, b.shape(x).end());
  Value columns = sampleLinear(b, b.reshape(x, image), at);
  if (n.has(4))
    columns = b.mul(columns, b.reshape(n.in(4), {B, 1, taps * places}));
  columns = b.reshape(columns, {N, groups, C / groups * taps, places});
  Value y = b.matmul(b.reshape(w, {1, groups, O / groups, C / groups * taps}), columns);
  Dims shape{N, O};
  shape.insert(shape.end(), out.begin(), out.end());
  y = b.reshape(y, shape);
  if (n.has(3)) {
    Dims bias(spatial + 2, 1);
    bias[1] = O;
    y = b.add(y, b.reshape(n.in(3), bias));
  }
  n.set(0, y);
}

/// CausalConvWithState: a causal depthwise convolution whose left padding is the state, the last
/// inputs of the previous call.
void causalConvWithState(Node &n, Build &b) {
  Value x = n.in(0), w = n.in(1);
  if (!b.require(b.rank(x) == 3 && b.rank(w) == 3 && b.dim(w, 1) == 1 && b.dim(w, 0) == b.dim(x, 1),
                 "required x [N, C, L] and weights [C, 1, K]"))
    return;
  int64_t N = b.dim(x, 0), C = b.dim(x, 1), L = b.dim(x, 2), K = b.dim(w, 2);
  Value past = n.has(3) ? n.in(3) : b.splat(b.elem(x), {N, C, K - 1}, 0);
  Value all = b.concat({past, x}, 2);
  SmallVector<Value> operands{all, w};
  if (n.has(2))
    operands.push_back(n.in(2));
  Dims zero{0}, one{1};
  Value y =
      b.op<ConvOp>(operands, {b.attr("strides", one), b.attr("dilations", one), b.attr("low", zero),
                              b.attr("high", zero), b.attr("groups", C)});
  std::string activation = n.string("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = b.mul(y, b.sigmoid(y));
  else if (activation != "none")
    return n.unsupported("activation", activation, "none, silu, swish");
  n.set(0, y);
  n.set(1, b.sliceAxis(all, 2, L, K - 1));
}

const Operator table[] = {
    {"Conv", conv},
    {"ConvTranspose", convTranspose},
    {"DeformConv", deformConv},
    {"CausalConvWithState", causalConvWithState},
};

} // namespace

ArrayRef<Operator> convOperators() { return table; }

} // namespace dlc::onnxfront
