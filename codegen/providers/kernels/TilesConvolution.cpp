//===- TilesConvolution.cpp - convolutions in bf16 parts on AMX tiles -----===//
//
// With channels last, a convolution with a 1x1 window is a matmul of [pixels, channels] by its
// weights, and its gradients are matmuls of the same matrices, transposed. Larger windows have a
// separate kernel (runtime/library/tiles/Convolution.h).
//
//===-----------------------------------------------------------------------===//
#include "codegen/providers/kernels/MatmulCall.h"
#include "codegen/providers/kernels/Tiles.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "runtime/library/tiles/Convolution.h"
#include "runtime/library/tiles/Describe.h"

#include <cstdlib>

using namespace mlir;

namespace dlc::tiles_desc {

using nlohmann::json;

namespace {

bool areAllEqual(ArrayRef<int64_t> values, int64_t wanted) {
  return llvm::all_of(values, [=](int64_t v) { return v == wanted; });
}

/// Sizes of an image tensor, whose channels are stored last.
struct ImageSizes {
  int64_t count, channels, height, width;

  explicit ImageSizes(Value value) {
    auto shape = typeOf(value).getShape();
    count = shape[0], channels = shape[1], height = shape[2], width = shape[3];
  }
  int64_t pixels() const { return count * height * width; }
};

/// Checks the requirements of all convolutions on AMX tiles: 2-D images with one group, f32, and
/// channels last for input and output.
template <typename Op>
bool checkSupported(Op op, Value x, Value y, Value w, const Refusal &refuse) {
  auto source = typeOf(x), result = typeOf(y), weights = typeOf(w);
  if (source.getRank() != 4 || op.getGroups() != 1)
    return refuse("required: two spatial dimensions and groups of 1"), false;
  for (RankedTensorType type : {source, result, weights})
    if (!type.getElementType().isF32() || type.getNumElements() == 0)
      return refuse("only f32 operands can be split into bf16 parts"), false;
  if (layoutOf(source) != "acdb" || layoutOf(result) != "acdb" || !layoutOf(weights).empty())
    return refuse("required: channels last"), false;
  return true;
}

/// Returns true if the window is 1x1 without padding or strides: output and input pixels coincide.
template <typename Op> bool isPointwise(Op op, Value w) {
  return areAllEqual(typeOf(w).getShape().drop_front(2), 1) && areAllEqual(op.getLow(), 0) &&
         areAllEqual(op.getHigh(), 0) && areAllEqual(op.getStrides(), 1);
}

/// Returns the strides of an epilogue operand that has `result`'s shape, one element per channel,
/// or a single element; std::nullopt for other operands.
std::optional<std::vector<int64_t>> describeOperandStrides(Value operand, RankedTensorType result,
                                                           std::vector<int64_t> strides) {
  auto type = typeOf(operand);
  if (!type.getElementType().isF32())
    return std::nullopt;
  if (type.getShape() == result.getShape())
    return layoutOf(type) == layoutOf(result) ? std::optional(strides) : std::nullopt;
  llvm::fill(strides, 0);
  if (type.getNumElements() == 1)
    return strides;
  if (type.getNumElements() != result.getDimSize(1) || !layoutOf(type).empty())
    return std::nullopt;
  strides.back() = 1;
  return strides;
}

/// Returns an argument for the constant weights of a windowed convolution, which are packed during
/// lowering.
CallArgument makePackedWindow(const ref::Tensor &plain, const schema::TilesConvolution &fields) {
  auto convolution = tiles::Convolution::of(fields);
  std::string layout = std::string("tiles:window:") +
                       (convolution.unfoldsRows()  ? "rows:"
                        : convolution.isTransposed ? "transposed:"
                                                   : "") +
                       std::to_string(convolution.parts);
  return dlc::makePackedArgument(int64_t(convolution.packedBytes()), layout, [=](void *to) {
    convolution.packWeights(reinterpret_cast<const float *>(plain.data()), to, 1);
  });
}

LibraryCall startCall(int parts) {
  LibraryCall call;
  call.library = "tiles";
  call.implementation = implementationOf(parts);
  return call;
}

/// Returns the description of a matmul of [m, k] by [k, n], both of which are dense.
schema::Product makeProduct(int64_t m, int64_t n, int64_t k, schema::Integers a) {
  schema::Product product;
  product.m = m, product.n = n, product.k = k;
  product.a = std::move(a);
  product.dst = {n, 1};
  return product;
}

json toJson(const schema::Product &product, int parts) {
  schema::TilesKernel kernel;
  kernel.parts = parts;
  json desc = product.toJson();
  desc.update(kernel.toJson());
  return desc;
}

std::vector<int64_t> pairOf(ArrayRef<int64_t> values) { return {values[0], values[1]}; }

std::vector<int64_t> toSizes(const ImageSizes &image) {
  return {image.count, image.channels, image.height, image.width};
}

/// Sets the fields of the window.
template <typename Op>
void setWindow(schema::WindowFields &fields, Op op, ArrayRef<int64_t> window) {
  fields.window = pairOf(window);
  fields.strides = pairOf(op.getStrides());
  fields.dilations = pairOf(op.getDilations());
  fields.pads = pairOf(op.getLow());
}

/// Describes the forward convolution or its data gradient (a transposed convolution).
template <typename Op>
std::optional<LibraryCall> throughWeights(FusionOp fusion, const Epilogue &epilogue, Op op,
                                          int parts, const Refusal &refuse) {
  constexpr bool transposed = std::is_same_v<Op, ConvTransposeOp>;
  Value x = op.getX(), w = op.getW(), y = fusion.getResult(0);
  if (!checkSupported(op, x, y, w, refuse))
    return std::nullopt;
  if (fusion->hasAttr(kUpdatesAttr))
    return refuse("in-place updates of a state are not supported");
  if (transposed && (!areAllEqual(op.getStrides(), 1) || !areAllEqual(op.getDilations(), 1)))
    return refuse("gradients with strides or dilations are not supported");
  ImageSizes from(x), to(y);
  int64_t k = from.channels, n = to.channels;
  auto window = typeOf(w).getShape().drop_front(2);
  bool product = isPointwise(op, w);
  LibraryCall call = startCall(parts);
  schema::Product matmul = makeProduct(to.pixels(), n, k, {k, 1});
  schema::TilesConvolution convolution;
  convolution.parts = parts;
  convolution.src = toSizes(from);
  convolution.dst = toSizes(to);
  convolution.isTransposed = transposed;
  setWindow(convolution, op, window);
  if (transposed && !product)
    for (unsigned d : {0, 1}) {
      int64_t &pad = convolution.pads[d];
      pad = window[d] - 1 - pad;
      if (pad < 0)
        return refuse("the padding is larger than the window");
    }
  call.addValue(getOuterValue(fusion, x));
  ConstantOp constant = constantOf(getOuterValue(fusion, w));
  if (constant) {
    auto plain = ref::Tensor::fromAttr(constant.getValue());
    if (failed(plain))
      return refuse(ref::kMissingData);
    matmul.b.isPacked = true;
    convolution.weights = schema::WeightsForm::Packed;
    call.arguments.push_back(product ? packedWeights(*plain, !transposed, k, n, parts)
                                     : makePackedWindow(*plain, convolution));
    call.bytes += double(call.arguments.back().bytes);
  } else {
    matmul.b.strides = transposed ? schema::Integers{n, 1} : schema::Integers{1, k};
    call.addValue(getOuterValue(fusion, w));
  }
  Value bias = epilogue.bias;
  if constexpr (!transposed)
    bias = bias ? bias : op.getBias();
  if (bias) {
    if (!typeOf(bias).getElementType().isF32() || !layoutOf(typeOf(bias)).empty())
      return refuse("its bias is not f32");
    matmul.bias = convolution.bias = true;
    call.addValue(getOuterValue(fusion, bias));
  }
  unsigned result = call.arguments.size();
  call.addResult(0, typeOf(y));
  std::vector<EpilogueStep> steps;
  std::optional<CallArgument> accumulates;
  auto operandOf = [&](const EpilogueOp &op) -> std::optional<TensorDesc> {
    return TensorDesc::of(op.operand);
  };
  if (!describeSteps(fusion, epilogue, operandOf, steps, accumulates))
    return refuse("an epilogue operand has an unsupported factor");
  for (auto [step, op] : llvm::zip(steps, epilogue.epilogueOps)) {
    if (step.kind == EpilogueStep::Kind::Activation) {
      convolution.postOps.push_back(describeStep<schema::PostOp>(step));
      continue;
    }
    auto operand = describeOperandStrides(op.operand, typeOf(y), {n, 1});
    if (!operand)
      return refuse("unsupported operand of epilogue op " + step.name());
    auto binary = describeStep<schema::PostOp>(step);
    binary.strides = *operand;
    convolution.postOps.push_back(std::move(binary));
    // A matmul with a larger reduction dimension stores partial sums in the result before the
    // epilogue runs, so the result cannot share a buffer with an operand of the epilogue.
    if (call.inplace.empty() && (!product || k <= products::kSummedDepth) &&
        typeOf(op.operand).getShape() == typeOf(y).getShape())
      call.inplace.push_back({result, unsigned(call.arguments.size())});
    call.addValue(getOuterValue(fusion, op.operand));
  }
  if (!supportsEpilogue(steps, k, refuse))
    return std::nullopt;
  matmul.postOps = convolution.postOps;
  call.desc = product ? toJson(matmul, parts) : convolution.toJson();
  call.flops = 2.0 * double(to.pixels()) * double(n) * double(k) * double(window[0] * window[1]);
  return call;
}

std::optional<LibraryCall> weightGradient(FusionOp fusion, ConvWeightGradOp op, int parts,
                                          const Refusal &refuse) {
  auto &body = fusion.getBody().front();
  if (std::distance(body.begin(), body.end()) != 2 || fusion.getNumResults() != 1)
    return refuse("the operation is not a single weight gradient");
  if (!checkSupported(op, op.getX(), op.getDy(), fusion.getResult(0), refuse))
    return std::nullopt;
  if (!isPointwise(op, fusion.getResult(0)))
    return refuse("required: a weight gradient of a 1x1 window");
  ImageSizes x(op.getX()), dy(op.getDy());
  LibraryCall call = startCall(parts);
  schema::Product matmul = makeProduct(dy.channels, x.channels, x.pixels(), {1, dy.channels});
  matmul.b.strides = {x.channels, 1};
  call.desc = toJson(matmul, parts);
  call.addValue(getOuterValue(fusion, op.getDy()));
  call.addValue(getOuterValue(fusion, op.getX()));
  call.addResult(0, typeOf(fusion.getResult(0)));
  call.flops = 2.0 * double(x.pixels()) * double(x.channels) * double(dy.channels);
  return call;
}

/// Describes a weight gradient of bf16 operands with f32 results.
std::optional<LibraryCall> narrowWeightGradient(FusionOp fusion, ConvWeightGradOp op,
                                                const Refusal &refuse) {
  auto &body = fusion.getBody().front();
  auto widening = dyn_cast_or_null<CastOp>(op->getNextNode());
  if (std::distance(body.begin(), body.end()) != 3 || fusion.getNumResults() != 1 || !widening ||
      widening.getX() != op.getDw())
    return refuse("the operation is not a single weight gradient that is cast to f32");
  auto x = typeOf(op.getX()), dy = typeOf(op.getDy()), dw = typeOf(fusion.getResult(0));
  if (x.getRank() != 4 || op.getGroups() != 1 || x.getNumElements() == 0 ||
      dy.getNumElements() == 0)
    return refuse("required: two spatial dimensions and groups of 1");
  if (!x.getElementType().isBF16() || !dy.getElementType().isBF16() || !dw.getElementType().isF32())
    return refuse("required: a bf16 weight gradient that is cast to f32");
  if (layoutOf(x) != "acdb" || layoutOf(dy) != "acdb" || !layoutOf(dw).empty())
    return refuse("required: channels last");
  LibraryCall call;
  call.library = "tiles";
  call.implementation = "tiles:bf16";
  schema::TilesWeightGradient fields;
  fields.src = toSizes(ImageSizes(op.getX()));
  fields.diffDst = toSizes(ImageSizes(op.getDy()));
  setWindow(fields, op, dw.getShape().drop_front(2));
  call.desc = fields.toJson();
  call.addValue(getOuterValue(fusion, op.getX()));
  call.addValue(getOuterValue(fusion, op.getDy()));
  call.addResult(0, dw);
  // Each element of dy is multiplied with the weights of one output channel.
  call.flops =
      2.0 * double(dy.getNumElements()) * double(dw.getNumElements()) / double(dw.getDimSize(0));
  return call;
}

} // namespace

std::optional<LibraryCall> describeTilesConvolution(FusionOp fusion, int parts,
                                                    const Refusal &refuse) {
  for (Operation &op : fusion.getBody().front())
    if (auto gradient = dyn_cast<ConvWeightGradOp>(op)) {
      if (!typeOf(gradient.getX()).getElementType().isBF16())
        return weightGradient(fusion, gradient, parts, refuse);
      return parts == 2 ? narrowWeightGradient(fusion, gradient, refuse)
                        : refuse("splitting bf16 operands into three parts is not supported");
    }
  auto epilogue = matchEpilogue(fusion);
  if (epilogue && fusion.getNumResults() == 1 && !epilogue->isInteger()) {
    if (auto op = dyn_cast<ConvOp>(epilogue->anchor))
      return throughWeights(fusion, *epilogue, op, parts, refuse);
    if (auto op = dyn_cast<ConvTransposeOp>(epilogue->anchor))
      return throughWeights(fusion, *epilogue, op, parts, refuse);
  }
  return refuse("the operation is not a single convolution with an epilogue");
}

namespace {

/// Cost of a dilated window relative to a dense one. Rows are padded to fit the dilated window, and
/// taps that read only padding are skipped for each block of rows.
double estimateDilationCost(const tiles::Convolution &c) {
  if (c.window.dilations == std::vector<int64_t>{1, 1})
    return 1;
  double live = 0;
  for (int64_t y = 0; y < c.dst[0]; ++y) {
    auto rows = c.liveTaps(0, y, std::min(y + tiles::kBlock / c.pitch(), c.dst[0] - 1));
    live += double(rows.end - rows.begin);
  }
  // Row pitch of a dense window. The padding between two adjacent rows serves both rows, so that it
  // is half as wide as the window.
  int64_t dense = c.dst[1] + (c.window.sizes[1] - 1) / 2;
  double room = double(c.pitch()) / double(dense);
  return std::max(1.0, room) * live / double(c.dst[0] * c.window.sizes[0]);
}

} // namespace

double estimateWindowTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const auto fields = schema::TilesConvolution::read(call.desc, call.library);
  std::vector<int64_t> src = fields.src, dst = fields.dst;
  double parts = double(fields.parts), cores = cost.coresFor(call.flops);
  // With few channels, one tile instruction reduces over the channels of several adjacent pixels in
  // the row.
  double channels = double(src[1]),
         rate = machine.tileGflops * laneShare(double(dst[1]), machine.tileColumns);
  rate *= channels < machine.tileDepth / 2 ? 0.45 : laneShare(channels, machine.tileDepth);
  double products = call.flops * estimateDilationCost(tiles::Convolution::of(fields)) * parts *
                        (parts + 1) / 2 / (rate * cores) +
                    multiplySizes(dst) / (machine.tileResults * cores);
  double weights = fields.weights == schema::WeightsForm::Packed
                       ? 0
                       : call.flops / (2 * multiplySizes(dst)) * double(dst[1]);
  double split = (multiplySizes(src) + weights) * parts / 2 / (machine.splitParts * cores);
  return std::max(products + split, cost.traffic(call.bytes, cores));
}

double estimateGradientTime(const LibraryCall &call, const CostModel &cost) {
  const Machine &machine = cost.machine;
  const auto fields = schema::TilesWeightGradient::read(call.desc, call.library);
  std::vector<int64_t> src = fields.src, dst = fields.diffDst;
  const std::vector<int64_t> &window = fields.window;
  double taps = multiplySizes(window), cores = cost.coresFor(call.flops);
  // Rate in GFLOP/s. It is lower if the channels do not fill the tiles, which accumulate gradients
  // of tileRows x tileRows channels, and because rows are padded by the window's width - 1.
  double rate =
      machine.tileGflops * machine.tileGradientPart * laneShare(double(src[1]), machine.tileRows) *
      laneShare(double(dst[1]), machine.tileRows) * double(dst[3]) / double(dst[3] + window[1] - 1);
  double weights = taps * double(src[1]) * double(dst[1]);
  // The input pixels are packed twice if the window has more than one column.
  double packed = multiplySizes(src) * (window[1] > 1 ? 2 : 1) + multiplySizes(dst);
  return std::max(call.flops / (rate * cores) + packed / (machine.turnedPixels * cores) +
                      weights / (machine.tileResults * cores),
                  cost.traffic(call.bytes, cores));
}

} // namespace dlc::tiles_desc
