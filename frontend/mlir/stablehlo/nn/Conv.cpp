//===- Conv.cpp - convolution -----------------------------------------------------------------===//
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "frontend/mlir/stablehlo/math/Contract.h"
#include "frontend/mlir/stablehlo/shape/Slice.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Attributes of a convolution, whose operands are transposed to x [N, C, spatial..] and w [O, C /
/// groups, spatial..].
struct Convolution {
  Value x, w;
  Dims strides, xDilation, wDilation;
  Padding padding;
  std::vector<bool> isReversed;
  int64_t groups = 1;
  size_t spatial() const { return strides.size(); }
};

Dims concatDimOrder(int64_t first, int64_t second, ArrayRef<int64_t> spatial) {
  Dims order{first, second};
  order.insert(order.end(), spatial.begin(), spatial.end());
  return order;
}

bool isPermutation(const Dims &order, int64_t rank) {
  Dims sorted = order;
  llvm::sort(sorted);
  return llvm::equal(sorted, llvm::seq<int64_t>(0, rank));
}

/// Reverses the elements of w along the spatial dimensions whose flag is set (`window_reversal`).
Value reverseWindow(Build &b, Value w, const std::vector<bool> &flags) {
  for (size_t i = 0; i < flags.size(); ++i)
    if (flags[i])
      w = b.reverse(w, int64_t(i) + 2);
  return w;
}

/// batch_group_count: moves the groups from the batch to the features, [G * N, C, ..] to [N, G * C,
/// ..].
Value batchGroupsToFeatures(Build &b, Value x, int64_t groups) {
  Dims shape = b.dims(x), split = shape, order{1, 0};
  split[0] /= groups;
  split.insert(split.begin(), groups);
  for (int64_t d = 2; d < int64_t(split.size()); ++d)
    order.push_back(d);
  shape[0] /= groups;
  shape[1] *= groups;
  return b.reshape(b.transpose(b.reshape(x, split), order), shape);
}

/// Applies negative padding by removing elements of x, and sets it to 0. The remaining padding is
/// not negative.
void applyNegativePadding(Build &b, Convolution &c) {
  Dims low(2, 0), high(2, 0);
  for (size_t i = 0; i < c.spatial(); ++i) {
    low.push_back(std::min<int64_t>(c.padding.low[i], 0));
    high.push_back(std::min<int64_t>(c.padding.high[i], 0));
    c.padding.low[i] -= low.back();
    c.padding.high[i] -= high.back();
  }
  c.x = b.padZero(c.x, low, high);
}

/// Builds dlc.conv. The dilation of x (`lhs_dilation`) is applied by inserting zeros between its
/// elements.
Value buildConv(Build &b, Convolution c) {
  for (size_t i = 0; i < c.spatial(); ++i)
    c.x = dilate(b, c.x, b.like(c.x, 0), int64_t(i) + 2, c.xDilation[i] - 1);
  applyNegativePadding(b, c);
  return b.op<ConvOp>({c.x, reverseWindow(b, c.w, c.isReversed)},
                      {b.attr("strides", ArrayRef(c.strides)),
                       b.attr("dilations", ArrayRef(c.wDilation)),
                       b.attr("low", ArrayRef(c.padding.low)),
                       b.attr("high", ArrayRef(c.padding.high)), b.attr("groups", c.groups)});
}

/// Builds dlc.conv_transpose for a convolution with a dilated x and a stride of 1: the dilations of
/// x are the strides of the transposed convolution, and the window is reversed. Returns null for
/// other convolutions.
Value buildConvTranspose(Build &b, const Convolution &c) {
  Dims low, high, extra;
  bool isDilated = false;
  for (size_t i = 0; i < c.spatial(); ++i) {
    const int64_t reach = c.wDilation[i] * (b.dim(c.w, int64_t(i) + 2) - 1);
    isDilated |= c.xDilation[i] > 1;
    low.push_back(reach - c.padding.low[i]);
    high.push_back(std::max<int64_t>(reach - c.padding.high[i], 0));
    extra.push_back(std::max<int64_t>(c.padding.high[i] - reach, 0));
    if (c.strides[i] != 1 || low.back() < 0 || extra.back() >= c.xDilation[i])
      return {};
  }
  if (!isDilated || !b.isFloat(c.x))
    return {};
  // Permutes the weights from [O, C / G, ..] to [C, O / G, ..].
  Dims shape = b.dims(c.w), split = shape, order{0, 2, 1};
  split[0] /= c.groups;
  split.insert(split.begin(), c.groups);
  for (int64_t d = 3; d < int64_t(split.size()); ++d)
    order.push_back(d);
  shape[0] = split[2] * c.groups;
  shape[1] = split[1];
  Value w = b.reshape(b.transpose(b.reshape(c.w, split), order), shape);
  std::vector<bool> flags = c.isReversed;
  flags.flip();
  return b.op<ConvTransposeOp>({c.x, reverseWindow(b, w, flags)},
                               {b.attr("strides", ArrayRef(c.xDilation)),
                                b.attr("dilations", ArrayRef(c.wDilation)),
                                b.attr("low", ArrayRef(low)), b.attr("high", ArrayRef(high)),
                                b.attr("extra", ArrayRef(extra)), b.attr("groups", c.groups)});
}

/// Builds dlc.conv_weight_grad for a convolution whose window is larger than its result, which is
/// how the gradient of a convolution with respect to its weights is expressed: batch and features
/// of x are exchanged, and the window is the gradient of the result. Returns null for other
/// convolutions.
Value buildConvWeightGrad(Build &b, Convolution c, ArrayRef<int64_t> result) {
  int64_t windowSize = 1, resultSize = 1;
  for (size_t i = 0; i < c.spatial(); ++i) {
    windowSize *= b.dim(c.w, int64_t(i) + 2);
    resultSize *= result[i];
    if (c.xDilation[i] != 1 || c.isReversed[i] || result[i] < 1)
      return {};
    // Index of the last padded element that a window reads.
    const int64_t last =
        c.strides[i] * (result[i] - 1) + c.wDilation[i] * (b.dim(c.w, int64_t(i) + 2) - 1);
    c.padding.high[i] = last + 1 - b.dim(c.x, int64_t(i) + 2) - c.padding.low[i];
  }
  if (windowSize <= resultSize || c.groups != 1 || !b.isFloat(c.x))
    return {};
  applyNegativePadding(b, c);
  Dims swap{1, 0};
  for (size_t i = 0; i < c.spatial(); ++i)
    swap.push_back(int64_t(i) + 2);
  Value gradient = b.op<ConvWeightGradOp>(
      {b.transpose(c.x, swap), b.transpose(c.w, swap)},
      {b.attr("window", result), b.attr("strides", ArrayRef(c.wDilation)),
       b.attr("dilations", ArrayRef(c.strides)), b.attr("low", ArrayRef(c.padding.low)),
       b.attr("high", ArrayRef(c.padding.high)), b.attr("groups", int64_t(1))});
  return b.transpose(gradient, swap);
}

/// Adds a spatial dimension of size 1 to a convolution that has none.
void addSpatialDim(Build &b, Convolution &c) {
  c.x = b.expandDims(c.x, 2);
  c.w = b.expandDims(c.w, 2);
  c.strides = c.xDilation = c.wDilation = {1};
  c.padding = {{0}, {0}};
  c.isReversed = {false};
}

void convolution(Node &n, Build &b) {
  auto d = n.attr<ConvDimensionsAttr>("dimension_numbers");
  const int64_t rank = b.rank(n.in(0));
  Dims xOrder = concatDimOrder(d.getInputBatch(), d.getInputFeature(), d.getInputSpatial());
  Dims wOrder =
      concatDimOrder(d.getKernelOutputFeature(), d.getKernelInputFeature(), d.getKernelSpatial());
  Dims yOrder = concatDimOrder(d.getOutputBatch(), d.getOutputFeature(), d.getOutputSpatial());
  if (!b.require(b.rank(n.in(1)) == rank && n.resultType().getRank() == rank && rank <= 5 &&
                     isPermutation(xOrder, rank) && isPermutation(wOrder, rank) &&
                     isPermutation(yOrder, rank),
                 "required: operands of one rank up to 5, and dimension_numbers that name each "
                 "dimension once"))
    return;
  const size_t spatial = size_t(rank) - 2;
  Convolution c;
  c.x = b.transpose(n.in(0), xOrder);
  c.w = b.transpose(n.in(1), wOrder);
  widenOperands(b, c.x, c.w, n.resultElement());
  c.strides = n.ints("window_strides", spatial, 1);
  c.xDilation = n.ints("lhs_dilation", spatial, 1);
  c.wDilation = n.ints("rhs_dilation", spatial, 1);
  c.padding = n.padding(spatial);
  auto flags = n.attr<DenseBoolArrayAttr>("window_reversal");
  c.isReversed.assign(spatial, false);
  for (size_t i = 0; flags && i < spatial && i < size_t(flags.size()); ++i)
    c.isReversed[i] = flags[int64_t(i)];
  const int64_t batchGroups = n.integer("batch_group_count", 1);
  c.groups = n.integer("feature_group_count", 1);
  if (!b.ok() ||
      !b.require(batchGroups > 0 && c.groups > 0 && (batchGroups == 1 || c.groups == 1) &&
                     b.dim(c.x, 0) % batchGroups == 0,
                 "required: feature_group_count and batch_group_count of 1 or more, one "
                 "of them 1, and a batch that the latter divides"))
    return;
  if (batchGroups > 1) {
    c.x = batchGroupsToFeatures(b, c.x, batchGroups);
    c.groups = batchGroups;
  }
  Dims shape, inverse(yOrder.size());
  for (auto [i, position] : llvm::enumerate(yOrder)) {
    shape.push_back(n.resultShape()[position]);
    inverse[position] = int64_t(i);
  }
  if (spatial == 0)
    addSpatialDim(b, c);
  Value y = buildConvTranspose(b, c);
  if (!y && b.ok() && spatial > 0)
    y = buildConvWeightGrad(b, c, ArrayRef(shape).drop_front(2));
  if (!y && b.ok())
    y = buildConv(b, c);
  n.set(b.transpose(b.reshape(b.cast(y, n.resultElement()), shape), inverse));
}

const OperatorEntry table[] = {
    {"stablehlo.convolution", convolution},
};

} // namespace

ArrayRef<OperatorEntry> convEntries() { return table; }

} // namespace dlc::stablehlo
