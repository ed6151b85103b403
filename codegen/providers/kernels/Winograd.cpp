//===- Winograd.cpp - Winograd convolutions -------------------------------===//
//
// F(m x m, r x r) needs (m + r - 1)^2 multiplications of a channel with a filter for m x m results;
// the direct sum needs m^2 r^2. The rounding errors are larger: see
// runtime/library/winograd/Desc.md. dlc.accuracy = "strict" (or --accuracy) forbids it.
//
//===-----------------------------------------------------------------------===//
#include "codegen/providers/Accuracy.h"
#include "codegen/providers/ChannelStatistics.h"
#include "codegen/providers/kernels/ConvolutionCall.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "runtime/library/schema/Schema.h"
#include "runtime/library/winograd/Describe.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace dlc {

namespace {

bool areAllOnes(ArrayRef<int64_t> values) {
  return llvm::all_of(values, [](int64_t v) { return v == 1; });
}

/// Returns the JSON description of the convolution's shapes, which all Winograd kernels need. `x`
/// and `y` are the convolution's input and output; `weights` is a shape whose last two dimensions
/// are the window. `filled`: the last block of channels may be padded.
template <typename Op>
std::optional<schema::WinogradConvolution> geometry(Op op, Value x, Value y,
                                                    ArrayRef<int64_t> weights, bool filled,
                                                    int tile, const Refusal &refuse) {
  auto source = typeOf(x), result = typeOf(y);
  if (!source.getElementType().isF32() || !result.getElementType().isF32())
    return refuse("Winograd convolutions require f32");
  if (source.getRank() != 4)
    return refuse("required: two spatial dimensions");
  int64_t window = weights[2];
  if (weights[3] != window || (window != 3 && window != 5))
    return refuse(
        llvm::formatv("required: a window of 3x3 or 5x5; found: {0}x{1}", window, weights[3])
            .str());
  if (!areAllOnes(op.getStrides()) || !areAllOnes(op.getDilations()) || op.getGroups() != 1)
    return refuse("required: strides, dilations and groups of 1");
  auto images = convolution_call::describeImages(x, y, filled, refuse);
  if (!images)
    return std::nullopt;
  schema::WinogradConvolution fields;
  images->setIn(fields);
  fields.tile = tile;
  fields.window = window;
  fields.pads = list(op.getLow());
  return fields;
}

template <typename Record> LibraryCall startCall(const Record &fields) {
  LibraryCall call;
  call.library = "winograd";
  call.implementation =
      llvm::formatv("winograd:f{0}x{0}_{1}x{1}", fields.tile.value, fields.window.value).str();
  call.desc = fields.toJson();
  return call;
}

std::optional<LibraryCall> convolution(FusionOp fusion, const Epilogue &epilogue, int tile,
                                       int threads, const Refusal &refuse) {
  auto conv = dyn_cast<ConvOp>(epilogue.anchor);
  auto transposed = dyn_cast<ConvTransposeOp>(epilogue.anchor);
  Value y = fusion.getResult(0), x = epilogue.anchor->getOperand(0),
        w = epilogue.anchor->getOperand(1);
  auto weights = typeOf(w);
  if (weights.getRank() != 4)
    return refuse("required: two spatial dimensions");
  ConstantOp constant = constantOf(getOuterValue(fusion, w));
  const bool filled = constant && fusion.getNumResults() == 1;
  auto fields = conv ? geometry(conv, x, y, weights.getShape(), filled, tile, refuse)
                     : geometry(transposed, x, y, weights.getShape(), filled, tile, refuse);
  if (!fields)
    return std::nullopt;
  if (!layoutOf(weights).empty())
    return refuse("required: row-major weights");
  if (fusion->hasAttr(kUpdatesAttr))
    return refuse("in-place updates of a state are not supported");
  fields->isTransposed = bool(transposed);
  if (transposed)
    for (int64_t &pad : fields->pads)
      pad = weights.getDimSize(2) - 1 - pad;
  Value bias = epilogue.bias ? epilogue.bias : conv ? conv.getBias() : transposed.getBias();
  auto isPlainF32 = [](Value v) {
    return typeOf(v).getElementType().isF32() && layoutOf(v.getType()).empty();
  };
  if (bias && !isPlainF32(bias))
    return refuse("its bias is not f32");
  fields->bias = bool(bias);
  const int64_t inputs = fields->src[1], features = fields->dst[1];
  auto steps = convolution_call::steps(epilogue, fusion, features, bias, refuse);
  if (!steps)
    return std::nullopt;
  fields->steps = *steps;
  fields->statistics = fusion.getNumResults() > 1;
  fields->packed = bool(constant);
  LibraryCall call = startCall(*fields);
  call.addValue(getOuterValue(fusion, x));
  if (constant) {
    auto plain = ref::Tensor::fromAttr(constant.getValue());
    if (failed(plain))
      return refuse(ref::kMissingData);
    CallArgument packed{CallArgument::Kind::Packed};
    packed.bytes = int64_t(winograd::packedBytes(call.desc));
    packed.layout = call.implementation + (transposed ? ":transposed" : "") + ":" +
                    std::to_string(fields->block);
    packed.pack = [desc = call.desc, plain = *plain, first = transposed ? inputs : features,
                   second = transposed ? features : inputs,
                   threads](std::string &error) -> std::shared_ptr<void> {
      convolution_call::PaddedWeights filled(plain, first, second);
      winograd::PackedWeights made = winograd::packWeights(desc, filled.data(), threads);
      error = made.error;
      return made.data;
    };
    call.bytes += double(packed.bytes);
    call.arguments.push_back(packed);
  } else {
    call.addValue(getOuterValue(fusion, w));
  }
  convolution_call::addEpilogue(call, fusion, epilogue, bias, *steps, features);
  // Number of elements for the FLOP count: each element of a convolution's result, or of a
  // transposed convolution's operand, takes one multiply-add for each weight of its channel.
  double multipliedElements = double((conv ? typeOf(y) : typeOf(x)).getNumElements());
  call.flops =
      2 * multipliedElements * double(weights.getNumElements()) / double(weights.getDimSize(0));
  return call;
}

std::optional<LibraryCall> weightGradient(FusionOp fusion, ConvWeightGradOp op, int tile,
                                          const Refusal &refuse) {
  auto dw = typeOf(fusion.getResult(0));
  auto &body = fusion.getBody().front();
  if (std::distance(body.begin(), body.end()) != 2 || fusion.getNumResults() != 1)
    return refuse("the operation is not a single weight gradient");
  if (dw.getRank() != 4)
    return refuse("required: two spatial dimensions");
  auto fields = geometry(op, op.getX(), op.getDy(), dw.getShape(), /*filled=*/false, tile, refuse);
  if (!fields)
    return std::nullopt;
  if (!layoutOf(dw).empty() || !dw.getElementType().isF32())
    return refuse("required: row-major f32 weights");
  fields->kind = schema::WinogradKind::WeightGradient;
  LibraryCall call = startCall(static_cast<const schema::WinogradGeometry &>(*fields));
  call.addValue(getOuterValue(fusion, op.getX()));
  call.addValue(getOuterValue(fusion, op.getDy()));
  call.addResult(0, dw);
  call.flops = 2 * double(typeOf(op.getDy()).getNumElements()) * double(dw.getNumElements()) /
               double(dw.getDimSize(0));
  return call;
}

/// Matches a fusion of one convolution with an epilogue, optionally followed by the statistics of
/// its channels.
std::optional<Epilogue> matchConvolutionEpilogue(FusionOp fusion) {
  if (fusion.getNumResults() == 1)
    return matchEpilogue(fusion);
  Block &body = fusion.getBody().front();
  auto yielded = body.getTerminator()->getOperands();
  auto statistics = matchChannelStatistics(yielded[0]);
  if (!statistics ||
      SmallVector<Value>(yielded.drop_front()) !=
          SmallVector<Value>{statistics->first, statistics->shift, statistics->square})
    return std::nullopt;
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op) && !llvm::is_contained(statistics->ops, &op))
      ops.push_back(&op);
  return matchEpilogue(ops, yielded[0]);
}

/// Returns the fusion's convolution; null if there is none.
Operation *findConvolution(FusionOp fusion) {
  for (Operation &op : fusion.getBody().front())
    if (op.hasTrait<Convolutional>())
      return &op;
  return nullptr;
}

std::optional<LibraryCall> describeWinogradCall(Operation *op, int tile, int threads,
                                                std::string *why) {
  Refusal refuse{why};
  auto fusion = dyn_cast<FusionOp>(op);
  Operation *conv = fusion ? findConvolution(fusion) : nullptr;
  if (!conv)
    return refuse("the operation is not a convolution");
  if (auto gradient = dyn_cast<ConvWeightGradOp>(conv))
    return weightGradient(fusion, gradient, tile, refuse);
  auto epilogue = matchConvolutionEpilogue(fusion);
  if (!epilogue)
    return refuse("the operation is not a single convolution with an epilogue");
  return convolution(fusion, *epilogue, tile, threads, refuse);
}

class WinogradProvider : public CallProvider {
public:
  WinogradProvider()
      : CallProvider({.name = "winograd",
                      .description = "f32 convolutions and their gradients by Winograd's algorithm",
                      .parameter = "tile",
                      .computesChannelSums = true}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    if (!collector.fusion)
      return {};
    if (isStrict(collector))
      return collector.refuse(about.name, kForbidden), SmallVector<int64_t>();
    return {2, 4};
  }
  std::optional<LibraryCall> make(Operation *op, int64_t tile, int threads,
                                  std::string *why) const override {
    return describeWinogradCall(op, int(tile), threads, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    const auto fields = schema::WinogradConvolution::read(call.desc, call.library);
    std::vector<int64_t> src = fields.src, dst = fields.dst;
    double side = double(fields.tile), window = double(fields.window),
           points = std::pow(side + window - 1, 2);
    double tiles =
        double(dst[0]) * std::ceil(double(dst[2]) / side) * std::ceil(double(dst[3]) / side);
    double from = double(src[1]), to = double(dst[1]);
    double products = 2 * points * tiles * from * to;
    // The memory traffic includes the transformed data and results, which are written and then
    // read. Transformed weights that are not packed at compile time are also written and then read;
    // packed weights are only read.
    double cores = cost.coresFor(call.flops);
    double asked = cost.streamed(sumPackedBytes(call), machine.streamedGigabytes, cores);
    double weights = asked > 0 ? 0 : 4 * points * from * to * (fields.packed ? 1 : 2);
    double moved = 4 * points * 2 * tiles * (from + to) + weights +
                   4 * (multiplySizes(src) + multiplySizes(dst));
    return cost.ended(call, std::max(products / (machine.convolutionGflops * cores), asked) +
                                moved / (machine.transformedGigabytes * cores));
  }
};

} // namespace

const Provider &provide::winograd() {
  static const WinogradProvider provider;
  return provider;
}

} // namespace dlc
