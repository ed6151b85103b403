//===- Contraction.cpp - matmuls, convolutions and pools as oneDNN calls ---===//
#include "codegen/providers/onednn/Describe.h"
#include "ir/dlc/Attributes.h"
#include "passes/fuse/epilogue/StateUpdate.h"

#include <cmath>
#include <utility>

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

/// Masks of an operand: a member of schema::QuantizationMasks, and the argument's name.
struct QuantizedArgument {
  schema::Maybe<schema::Size> schema::QuantizationMasks::*mask;
  const char *name;

  /// Sets the mask in the scales or zero points of a call.
  void set(schema::Maybe<schema::QuantizationMasks> &masks, int64_t value) const {
    if (!masks)
      masks.emplace();
    (*masks).*mask = value;
  }
};
constexpr QuantizedArgument kSrc{&schema::QuantizationMasks::src, "src"};
constexpr QuantizedArgument kWeights{&schema::QuantizationMasks::weights, "weights"};

void addZeroPoint(const QuantizedArgument &argument, int64_t value, MLIRContext *context,
                  PendingCall &call) {
  auto tensor = ref::Tensor::empty(RankedTensorType::get({1}, IntegerType::get(context, 32)));
  tensor.setInt(0, value);
  argument.set(call.desc.call.zeroPoints, 0);
  call.packs.push_back({std::string("zero_points.") + argument.name, tensor, "a"});
}

/// Adds a zero point, given as a value of the fusion's body, to the call. A null value means a zero
/// point of 0.
void addZeroPoint(const QuantizedArgument &argument, FusionOp fusion, Value value,
                  PendingCall &call) {
  if (!value)
    return;
  if (std::optional<double> constant = splatValue(value))
    return addZeroPoint(argument, int64_t(*constant), value.getContext(), call);
  argument.set(call.desc.call.zeroPoints, 0);
  call.sources.push_back(
      {std::string("zero_points.") + argument.name, makeSourceArgument(fusion, value)});
}

/// Returns the elements of an epilogue op's operand if it is constant; otherwise std::nullopt.
std::optional<ref::Tensor> constantOperand(const EpilogueStep &step) {
  ConstantOp constant =
      step.source.kind == CallArgument::Kind::Value ? constantOf(step.source.value) : ConstantOp();
  FailureOr<ref::Tensor> read = failure();
  if (constant)
    read = ref::Tensor::fromAttr(constant.getValue());
  if (failed(read) || read->size() != step.operand.size())
    return std::nullopt;
  ref::Tensor tensor = *read;
  return tensor;
}

bool startsWithBinary(const std::vector<EpilogueStep> &steps, EpilogueBinary binary) {
  return !steps.empty() && steps[0].is(binary) && steps[0].operand.isF32();
}

/// Moves a leading multiplication of integer sums, by one factor or one per channel, from the
/// epilogue to oneDNN's scales, which are applied while the sums are in registers. `mask`: oneDNN's
/// mask for weight scales per channel. Returns false if the first op is not such a multiplication.
bool extractScales(std::vector<EpilogueStep> &steps, int64_t channels, int mask,
                   PendingCall &call) {
  if (!startsWithBinary(steps, EpilogueBinary::Mul))
    return false;
  int64_t size = steps[0].operand.size();
  if (size != 1 && size != channels)
    return false;
  const QuantizedArgument &argument = size == 1 ? kSrc : kWeights;
  argument.set(call.desc.call.scales, size == 1 ? 0 : mask);
  call.sources.push_back({std::string("scales.") + argument.name, steps[0].source});
  steps.erase(steps.begin());
  return true;
}

/// Removes trailing ops that the conversion to 8-bit integers does itself: it saturates and rounds
/// to the nearest even number. An even zero point that is added after rounding can be added before
/// it.
void dropSaturationSteps(std::vector<EpilogueStep> &steps, Type result) {
  if (!result.isInteger(8))
    return;
  auto isAt = [&](size_t fromEnd, Activation activation) {
    return steps.size() > fromEnd && steps[steps.size() - 1 - fromEnd].is(activation);
  };
  double least = result.isUnsignedInteger() ? 0 : -128;
  bool isWhole = isAt(0, Activation::Clip) && steps.back().beta == least + 255 &&
                 (steps.back().alpha == least ||
                  (least == 0 && isAt(1, Activation::Relu) && steps[steps.size() - 2].alpha == 0));
  if (!isWhole)
    return;
  steps.pop_back();
  if (least == 0 && isAt(0, Activation::Relu) && steps.back().alpha == 0)
    steps.pop_back();
  if (isAt(0, Activation::Round)) {
    steps.pop_back();
  } else if (isAt(0, Activation::Linear) && isAt(1, Activation::Round) && steps.back().alpha == 1 &&
             std::fmod(steps.back().beta, 2) == 0) {
    steps.erase(steps.end() - 2);
    // Merges the zero point into a preceding linear op (alpha * x + beta), unless that op already
    // adds a constant.
    if (isAt(1, Activation::Linear) && steps[steps.size() - 2].beta == 0) {
      EpilogueStep &before = steps[steps.size() - 2];
      before.beta = steps.back().beta;
      steps.pop_back();
    }
  }
}

std::optional<QueryResult> queryMatmul(const MatmulDescription &given, const OnednnQuery &query) {
  MatmulDescription p = given;
  PendingCall call;
  call.flops = p.flops;
  call.accumulates = p.accumulates;
  schema::OnednnArguments &arguments = call.desc.arguments;
  call.desc.call.kind = schema::OnednnKind::Matmul;
  arguments.src = describeArgument(p.src);
  arguments.dst = describeArgument(p.dst);
  if (!p.math.empty())
    call.desc.call.math = schema::MathMode::Bf16;
  if (p.constant) {
    arguments.weights = describeArgument(p.weights.dims, p.weights.element, "any");
    call.packs.push_back({"weights", p.constant->plain, p.constant->transposed ? "ba" : "ab"});
  } else {
    arguments.weights = describeArgument(p.weights);
    call.sources.push_back({"weights", p.weightsSource});
  }
  call.sources.push_back({"src", p.srcSource});
  call.sources.push_back({"dst", p.dstSource});
  if (p.bias) {
    arguments.bias = describeArgument(*p.bias);
    call.sources.push_back({"bias", p.biasSource});
  }
  if (p.scale) {
    auto scale = ref::Tensor::empty(
        RankedTensorType::get({1}, Float32Type::get(p.src.element.getContext())));
    scale.setDouble(0, *p.scale);
    kSrc.set(call.desc.call.scales, 0);
    call.packs.push_back({"scales.src", scale, "a"});
  }
  if (p.src.element.isInteger(8)) {
    int64_t rank = p.weights.dims.size(), columns = p.weights.dims.back();
    if (extractScales(p.steps, columns, 1 << (rank - 1), call) &&
        startsWithBinary(p.steps, EpilogueBinary::Add) && p.steps[0].operand.size() == columns &&
        p.steps[0].operand.dims.back() == columns) {
      arguments.bias = describeArgument(p.steps[0].operand);
      call.sources.push_back({"bias", p.steps[0].source});
      p.steps.erase(p.steps.begin());
    }
    dropSaturationSteps(p.steps, p.dst.element);
  }
  addZeroPoint(kSrc, p.fusion, p.srcZeroPoint, call);
  addZeroPoint(kWeights, p.fusion, p.weightsZeroPoint, call);
  if (!addEpilogueOps(p.steps, call, query))
    return std::nullopt;
  return completeCall(std::move(call), query);
}

/// Collects the parameters of a convolution or pool before oneDNN is queried.
struct CallBuilder {
  FusionOp fusion;
  Epilogue epilogue;
  PendingCall call;
  const OnednnQuery &query;

  std::nullopt_t refuse(const Twine &reason) { return query.refuse(reason); }

  void addSource(StringRef name, Value inner) {
    call.sources.push_back({name.str(), makeSourceArgument(fusion, inner)});
  }
  void addResult() { call.sources.push_back({"dst", makeResultArgument(fusion)}); }
};

/// Returns true if the call uses a reference implementation, or im2col followed by a GEMM.
bool isReferenceOrIm2col(const QueryResult &answer) {
  return answer.call.isReference || answer.implementation.isGemm;
}

/// Describes a transposed convolution without bias as the data gradient of a convolution, for which
/// the library has more implementations.
PendingCall describeAsDataGradient(const PendingCall &call, ConvTransposeOp op, Type element) {
  PendingCall gradient = call;
  schema::OnednnArguments &arguments = gradient.desc.arguments;
  gradient.desc.call.kind = schema::OnednnKind::ConvolutionBackwardData;
  arguments.diffDst = std::exchange(arguments.src, std::nullopt);
  arguments.diffSrc = std::exchange(arguments.dst, std::nullopt);
  // High padding of the corresponding forward convolution. Output padding (`extra`) reduces it only
  // if it is not smaller than the stride.
  std::vector<int64_t> high;
  for (auto [pad, extra, stride] : llvm::zip(op.getHigh(), op.getExtra(), op.getStrides()))
    high.push_back(extra < stride ? pad : pad - extra);
  std::get<schema::OnednnConvolution>(gradient.desc.parameters).high = high;
  SmallVector<int64_t> dims(typeOf(op.getW()).getShape());
  if (int64_t groups = op.getGroups(); groups > 1) {
    dims[0] /= groups;
    dims.insert(dims.begin(), groups);
  }
  if (StringRef tag = layoutOf(op.getW().getType()); !tag.empty()) {
    arguments.weights = describeArgument(op.getW());
  } else if (gradient.packs.empty()) {
    arguments.weights = describeRepackedWeights(dims, element, plainTag(dims.size()));
  } else {
    arguments.weights = describeArgument(dims, element, "any");
    gradient.packs.front().tag = plainTag(dims.size());
  }
  for (auto &[name, source] : gradient.sources)
    name = name == "src" ? "diff_dst" : name == "dst" ? "diff_src" : name;
  return gradient;
}

/// Sets the scales and the bias of an integer convolution. oneDNN adds the bias after it applies
/// the scales. A bias that the fusion adds before the scales is multiplied by them if both are
/// constant; otherwise the scales remain an epilogue op.
void addIntegerBias(CallBuilder &b, Value bias, std::vector<EpilogueStep> &steps, bool isGrouped) {
  schema::OnednnArguments &arguments = b.call.desc.arguments;
  int64_t channels = typeOf(b.fusion.getResult(0)).getDimSize(1);
  int mask = isGrouped ? 3 : 1;
  if (!bias) {
    if (extractScales(steps, channels, mask, b.call) &&
        startsWithBinary(steps, EpilogueBinary::Add) && steps[0].operand.size() == channels) {
      arguments.bias = describeArgument({channels}, steps[0].operand.element);
      b.call.sources.push_back({"bias", steps[0].source});
      steps.erase(steps.begin());
    }
    return;
  }
  ConstantOp constant = constantOf(getOuterValue(b.fusion, bias));
  FailureOr<ref::Tensor> sums = failure();
  if (constant)
    sums = ref::Tensor::fromAttr(constant.getValue());
  auto scales =
      startsWithBinary(steps, EpilogueBinary::Mul) ? constantOperand(steps[0]) : std::nullopt;
  if (succeeded(sums) && scales && extractScales(steps, channels, mask, b.call)) {
    auto scaled =
        ref::Tensor::empty(RankedTensorType::get({channels}, Float32Type::get(bias.getContext())));
    for (int64_t i = 0; i < channels; ++i)
      scaled.setDouble(i, sums->getDouble(i) * scales->getDouble(scales->size() == 1 ? 0 : i));
    arguments.bias = describeArgument({channels}, scaled.getElementType());
    b.call.packs.push_back({"bias", scaled, "a"});
    return;
  }
  arguments.bias = describeArgument({channels}, typeOf(bias).getElementType());
  b.addSource("bias", bias);
}

std::optional<QueryResult> queryConvolution(CallBuilder &b) {
  Epilogue &e = b.epilogue;
  auto conv = dyn_cast<ConvOp>(e.anchor);
  auto transposed = dyn_cast<ConvTransposeOp>(e.anchor);
  Value x = e.lhs.base, w = e.rhs.base;
  Value bias = e.bias ? e.bias : conv ? conv.getBias() : transposed.getBias();
  int64_t groups = conv ? conv.getGroups() : transposed.getGroups();
  auto yType = typeOf(b.fusion.getResult(0));
  // Weights have the input's element type, except in integer convolutions, where they are always
  // signed 8-bit.
  Type element = e.isInteger() ? IntegerType::get(x.getContext(), 8) : typeOf(x).getElementType();
  schema::OnednnArguments &arguments = b.call.desc.arguments;
  auto &window = b.call.desc.parameters.emplace<schema::OnednnConvolution>();
  b.call.desc.call.kind =
      conv ? schema::OnednnKind::Convolution : schema::OnednnKind::Deconvolution;
  arguments.src = describeArgument(x);
  arguments.dst = describeArgument(b.fusion.getResult(0));
  SmallVector<int64_t> wDims(typeOf(w).getShape());
  int64_t rank = wDims.size();
  std::string wTag;
  if (conv) {
    if (groups > 1) {
      wDims[0] /= groups;
      wDims.insert(wDims.begin(), groups);
    }
    wTag = plainTag(wDims.size());
    setWindow(window, conv);
  } else {
    // The weights of a transposed convolution are stored as [C, O/groups, ..] (as in ONNX).
    // oneDNN's dimensions are (g) o i .., and the tag describes the order in memory.
    int64_t in = wDims[0] / groups;
    SmallVector<int64_t> dims;
    if (groups > 1)
      dims.push_back(groups);
    dims.push_back(wDims[1]);
    dims.push_back(in);
    dims.append(wDims.begin() + 2, wDims.end());
    wDims = dims;
    wTag = plainTag(wDims.size());
    std::swap(wTag[groups > 1 ? 1 : 0], wTag[groups > 1 ? 2 : 1]);
    setWindow(window, transposed);
    // Output padding (`extra`) at the end is expressed as less high padding.
    for (auto [pad, extra] : llvm::zip(window.high, transposed.getExtra()))
      pad -= extra;
  }
  // Number of elements for the FLOP count: each element of a convolution's result, or of a
  // transposed convolution's operand, takes one multiply-add for each weight of its channel.
  double multipliedElements = double((conv ? yType : typeOf(x)).getNumElements());
  b.call.flops = 2.0 * multipliedElements * double(typeOf(w).getNumElements()) /
                 double(typeOf(w).getDimSize(0));
  if (ConstantOp weights = constantOf(getOuterValue(b.fusion, w))) {
    auto plain = ref::Tensor::fromAttr(weights.getValue());
    if (failed(plain))
      return b.refuse(ref::kMissingData);
    if (e.isInteger() && (e.rhsZeroPoint || !plain->getElementType().isSignlessInteger(8)))
      return b.refuse("integer convolutions require i8 weights without a zero point");
    arguments.weights = describeArgument(wDims, element, "any");
    b.call.packs.push_back({"weights", *plain, wTag});
  } else if (e.isInteger()) {
    return b.refuse("integer convolutions require constant weights");
  } else if (StringRef tag = layoutOf(w.getType()); tag.empty()) {
    arguments.weights = describeRepackedWeights(wDims, element, wTag);
    b.addSource("weights", w);
  } else {
    // The layout tag of the weights refers to the dimensions of the dlc operation. oneDNN has the
    // same dimensions only for a single group: it has a separate dimension for several groups.
    if (groups > 1 || (transposed && bias))
      return b.refuse("weights in layout '" + tag +
                      "', which oneDNN does not support for this operation");
    arguments.weights = describeArgument(w);
    b.addSource("weights", w);
  }
  if (e.lhsZeroPoint && !isInt32(e.lhsZeroPoint.getType()))
    return b.refuse("the zero points do not have the type i32");
  b.addSource("src", x);
  b.addResult();
  addZeroPoint(kSrc, b.fusion, e.lhsZeroPoint, b.call);
  if (bias && !e.isInteger()) {
    arguments.bias = describeArgument({yType.getDimSize(1)}, typeOf(bias).getElementType());
    b.addSource("bias", bias);
  }
  auto operandOf = [&](const EpilogueOp &step) -> std::optional<TensorDesc> {
    auto type = typeOf(step.operand);
    TensorDesc one{SmallVector<int64_t>(rank, 1), type.getElementType()};
    if (type.getNumElements() == 1)
      return one;
    if (type.getShape() == yType.getShape())
      return TensorDesc::of(step.operand);
    if (type.getNumElements() != yType.getDimSize(1))
      return std::nullopt;
    one.dims[1] = yType.getDimSize(1);
    return one;
  };
  std::vector<EpilogueStep> steps;
  if (!describeSteps(b.fusion, e, operandOf, steps, b.call.accumulates))
    return b.refuse("an epilogue operand has a shape or factor that oneDNN does not support");
  if (e.isInteger()) {
    addIntegerBias(b, bias, steps, wDims.size() > size_t(rank));
    dropSaturationSteps(steps, yType.getElementType());
  }
  if (!addEpilogueOps(steps, b.call, b.query))
    return std::nullopt;
  if (!transposed || bias || !b.call.desc.call.postOps.empty())
    return completeCall(std::move(b.call), b.query);
  auto asGradient = completeCall(describeAsDataGradient(b.call, transposed, element), b.query);
  if ((asGradient && !isReferenceOrIm2col(*asGradient)) || !layoutOf(w.getType()).empty())
    return asGradient;
  auto direct = completeCall(b.call, b.query);
  return !direct || (asGradient && isReferenceOrIm2col(*direct)) ? asGradient : direct;
}

std::optional<QueryResult> queryPool(CallBuilder &b) {
  Operation *op = b.epilogue.anchor;
  schema::OnednnArguments &arguments = b.call.desc.arguments;
  auto &pool = b.call.desc.parameters.emplace<schema::OnednnPool>();
  b.call.desc.call.kind = schema::OnednnKind::Pooling;
  arguments.src = describeArgument(op->getOperand(0));
  arguments.dst = describeArgument(b.fusion.getResult(0));
  auto max = dyn_cast<MaxPoolOp>(op);
  auto avg = dyn_cast<AvgPoolOp>(op);
  if (!(max ? setPoolWindow(pool, max) : setPoolWindow(pool, avg)))
    return b.refuse("the padding is at least as large as the window");
  auto algorithm = max ? std::optional(schema::PoolAlgorithm::Max) : getAvgPoolAlgorithm(avg);
  if (!algorithm)
    return b.refuse("count_include_pad covers only a part of the padding");
  pool.alg = *algorithm;
  b.call.flops = countNonPaddingTaps(op);
  b.addSource("src", op->getOperand(0));
  b.addResult();
  return completeCall(std::move(b.call), b.query);
}

} // namespace

std::optional<QueryResult> queryContraction(FusionOp fusion, const OnednnQuery &query) {
  Type element = typeOf(fusion.getResult(0)).getElementType();
  bool isInteger = element.isInteger(32) || element.isInteger(8);
  if (!isInteger && !element.isF32() && !element.isBF16() && !element.isF16())
    return query.refuse("element type " + elementName(element) + " is not supported by oneDNN");
  if (hasMatmul(fusion)) {
    auto product = describeMatmul(fusion, /*own=*/false, Refusal{query.why});
    if (product && product->src.element.isInteger(8) && !onednn::sumsInt8Exactly())
      return query.refuse(
          "this processor lacks VNNI, without which sums of 8-bit integers saturate");
    return product ? queryMatmul(*product, query) : std::nullopt;
  }
  auto epilogue = matchEpilogue(fusion);
  if (!epilogue)
    return query.refuse("the operation is not a single matmul or convolution with an epilogue");
  if (epilogue->isInteger() && (!isa<ConvOp>(epilogue->anchor) || !onednn::sumsInt8Exactly()))
    return query.refuse("this processor lacks VNNI, without which sums of 8-bit integers saturate");
  if (typeOf(fusion.getResult(0)).getNumElements() == 0)
    return query.refuse("the result is empty");
  if (fusion->hasAttr(kUpdatesAttr))
    foldStateUpdate(*epilogue);
  CallBuilder b{fusion, *epilogue, {}, query};
  b.call.desc.setMathMode(epilogue->anchor);
  return isa<ConvOp, ConvTransposeOp>(epilogue->anchor) ? queryConvolution(b) : queryPool(b);
}

} // namespace dlc::onednn_desc
