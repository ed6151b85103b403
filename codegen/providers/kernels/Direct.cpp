//===- Direct.cpp - direct convolutions with packed weights ---------------===//
//
// runtime/library/direct streams constant weights at memory bandwidth, which limits the speed of
// convolutions with few pixels.
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/Provider.h"
#include "codegen/providers/kernels/ConvolutionCall.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"
#include "runtime/library/direct/Describe.h"
#include "runtime/library/schema/Schema.h"

using namespace mlir;

namespace dlc {

namespace {

std::optional<LibraryCall> describeDirectConvolution(Operation *op, int threads, std::string *why) {
  Refusal refuse{why};
  auto fusion = dyn_cast<FusionOp>(op);
  auto epilogue = fusion && fusion.getNumResults() == 1 ? matchEpilogue(fusion) : std::nullopt;
  auto conv = epilogue ? dyn_cast<ConvOp>(epilogue->anchor) : nullptr;
  if (!conv)
    return refuse("the operation is not a single convolution with an epilogue");
  auto weights = typeOf(conv.getW());
  Value y = fusion.getResult(0), bias = epilogue->bias ? epilogue->bias : conv.getBias();
  bool isSequence = weights.getRank() == 3;
  if (weights.getRank() != 4 && !isSequence)
    return refuse("required: one or two spatial dimensions");
  auto isPlainF32 = [](Value v) {
    return typeOf(v).getElementType().isF32() && layoutOf(v.getType()).empty();
  };
  if (!isPlainF32(conv.getW()) || (bias && !isPlainF32(bias)) ||
      !typeOf(conv.getX()).getElementType().isF32() || !typeOf(y).getElementType().isF32())
    return refuse("required: f32, and row-major weights");
  if (conv.getGroups() != 1)
    return refuse("required: groups of 1");
  if (fusion->hasAttr(kUpdatesAttr))
    return refuse("in-place updates of a state are not supported");
  ConstantOp constant = constantOf(getOuterValue(fusion, conv.getW()));
  if (!constant)
    return refuse("the weights are not constant");
  auto images = convolution_call::describeImages(conv.getX(), y, /*filled=*/true, refuse);
  auto steps = images ? convolution_call::steps(*epilogue, fusion, images->dst[1], bias, refuse)
                      : std::nullopt;
  if (!steps)
    return std::nullopt;
  auto plain = ref::Tensor::fromAttr(constant.getValue());
  if (failed(plain))
    return refuse(ref::kMissingData);
  using convolution_call::insertRowDim;
  schema::DirectConvolution fields;
  images->setIn(fields);
  fields.window = insertRowDim(weights.getShape().drop_front(2), isSequence, 1);
  fields.strides = insertRowDim(conv.getStrides(), isSequence, 1);
  fields.dilations = insertRowDim(conv.getDilations(), isSequence, 1);
  fields.pads = insertRowDim(conv.getLow(), isSequence, 0);
  fields.bias = bool(bias);
  fields.steps = *steps;
  LibraryCall call;
  call.library = "direct";
  call.desc = fields.toJson();
  call.implementation = "direct:" + std::string(runtime::getKernelSetName(fields.block));
  call.addValue(getOuterValue(fusion, conv.getX()));
  CallArgument packed{CallArgument::Kind::Packed};
  packed.bytes = int64_t(direct::packedBytes(call.desc));
  packed.layout = call.implementation + ":" + std::to_string(weights.getDimSize(0));
  packed.pack = [desc = call.desc, images = *images, plain = *plain,
                 threads](std::string &error) -> std::shared_ptr<void> {
    convolution_call::PaddedWeights filled(plain, images.dst[1], images.src[1]);
    direct::PackedWeights made = direct::packWeights(desc, filled.data(), threads);
    error = made.error;
    return made.data;
  };
  call.bytes += double(packed.bytes);
  call.arguments.push_back(packed);
  convolution_call::addEpilogue(call, fusion, *epilogue, bias, *steps, images->dst[1]);
  call.flops = 2 * double(typeOf(y).getNumElements()) * double(weights.getNumElements()) /
               double(weights.getDimSize(0));
  return call;
}

class DirectProvider : public CallProvider {
public:
  DirectProvider()
      : CallProvider({.name = "direct",
                      .description = "f32 convolutions with constant weights as matmuls"}) {}

  SmallVector<int64_t> variants(CandidateCollector &collector) const override {
    return collector.fusion ? SmallVector<int64_t>{0} : SmallVector<int64_t>();
  }
  std::optional<LibraryCall> make(Operation *op, int64_t, int threads,
                                  std::string *why) const override {
    return describeDirectConvolution(op, threads, why);
  }
  double estimate(const LibraryCall &call, const CostModel &cost) const override {
    const Machine &machine = cost.machine;
    const auto fields = schema::DirectConvolution::read(call.desc, call.library);
    std::vector<int64_t> src = fields.src, dst = fields.dst;
    direct::SourceAccess reading = direct::describeSourceAccess(call.desc, int(cost.threads));
    double results = multiplySizes(dst),
           depth = double(src[1]) * multiplySizes(fields.window) * reading.windowPart,
           flops = 2 * results * depth, cores = cost.coresFor(call.flops);
    double weights = cost.streamed(sumPackedBytes(call), machine.streamedGigabytes, cores);
    double rate = machine.directGflops * cost.laneRate(fields.block);
    double nanoseconds =
        std::max(flops / (rate * cores), weights) + results / (machine.directResults * cores);
    // If each thread reads the whole image, most of the image is in the caches of other cores.
    double parts = reading.whole ? 1 : cores;
    if (!reading.inPlace)
      nanoseconds += results / double(dst[1]) * depth / (machine.directCopied * parts);
    nanoseconds += 4 * multiplySizes(src) /
                   (reading.whole ? machine.directShared : machine.cacheGigabytes * parts);
    return cost.ended(call, nanoseconds);
  }
};

} // namespace

const Provider &provide::direct() {
  static const DirectProvider provider;
  return provider;
}

} // namespace dlc
