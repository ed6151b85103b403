//===- ConvolutionCall.cpp - convolutions by dlc's own vector kernels -----===//
#include "codegen/providers/kernels/ConvolutionCall.h"

#include "passes/TensorBuilder.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/epilogue/ConvertOps.h"
#include "runtime/epilogue/EpilogueTable.h"

#include "llvm/Support/FormatVariadic.h"

#include <cstring>

using namespace mlir;

namespace dlc::convolution_call {

using schema::ConvolutionStep;
using schema::ConvolutionStepOp;

static bool isChannelsLast(Type type) {
  return layoutOf(type) == "acdb" || layoutOf(type) == "acb";
}

/// Returns the number of channels per block of a blocked layout, or the number of vector lanes if
/// channels are the last dimension. std::nullopt for other layouts.
static std::optional<int64_t> getChannelBlock(Type type) {
  StringRef tag = layoutOf(type);
  if (isChannelsLast(type))
    return runtime::hostLanes();
  if (tag == "aBcd16b" || tag == "aBc16b")
    return 16;
  return tag == "aBcd8b" || tag == "aBc8b" ? std::optional<int64_t>(8) : std::nullopt;
}

std::vector<int64_t> insertRowDim(ArrayRef<int64_t> sizes, bool isSequence, int64_t row) {
  std::vector<int64_t> all = list(sizes);
  if (isSequence)
    all.insert(all.end() - 1, row);
  return all;
}

static std::vector<int64_t> getPaddedSizes(RankedTensorType type, int64_t block) {
  std::vector<int64_t> sizes = insertRowDim(type.getShape(), type.getRank() == 3, 1);
  sizes[1] = llvm::alignTo(sizes[1], block);
  return sizes;
}

std::optional<Images> describeImages(Value x, Value y, bool filled, const Refusal &refuse) {
  auto source = typeOf(x), result = typeOf(y);
  auto block = getChannelBlock(source);
  if (!block || layoutOf(source) != layoutOf(result))
    return refuse(
        "required: input and result in blocks of 16 or 8 channels, or with channels last");
  for (RankedTensorType type : {source, result})
    if ((!filled || isChannelsLast(type)) && type.getDimSize(1) % *block != 0)
      return refuse(llvm::formatv("required: a multiple of {0} channels; found: {1}", *block,
                                  type.getDimSize(1))
                        .str());
  if (source.getNumElements() == 0 || result.getNumElements() == 0)
    return refuse("an empty tensor");
  if (runtime::hostLanes() < *block)
    return refuse("this processor has no AVX-512");
  return Images{*block, getPaddedSizes(source, *block), getPaddedSizes(result, *block),
                isChannelsLast(source)};
}

PaddedWeights::PaddedWeights(const ref::Tensor &weights, int64_t first, int64_t second)
    : at(reinterpret_cast<const float *>(weights.data())) {
  auto shape = weights.getShape();
  if (shape[0] == first && shape[1] == second)
    return;
  const int64_t taps = ShapedType::getNumElements(shape.drop_front(2)), row = shape[1] * taps;
  filled.resize(size_t(first * second * taps));
  for (int64_t i = 0; i < shape[0]; ++i)
    std::copy(at + i * row, at + (i + 1) * row, filled.begin() + i * second * taps);
  at = filled.data();
}

/// Returns the constant that defines `inner` if it has one element per channel; otherwise null.
static ConstantOp findChannelConstant(FusionOp fusion, Value inner, int64_t channels) {
  ConstantOp constant = constantOf(getOuterValue(fusion, inner));
  return constant && typeOf(inner).getNumElements() == channels ? constant : ConstantOp();
}

/// Describes an epilogue op; std::nullopt if the op is unsupported.
static std::optional<ConvolutionStep> describeEpilogueOp(const EpilogueOp &op,
                                                         RankedTensorType result) {
  ConvolutionStep step;
  if (op.kind == EpilogueOp::Kind::Activation) {
    step.op = convertOp<ConvolutionStepOp>(op.activation);
    step.alpha = op.alpha;
    step.beta = op.beta;
    return step;
  }
  auto type = typeOf(op.operand);
  if (!type.getElementType().isF32() || op.scale != 1)
    return std::nullopt;
  if (type.getShape() == result.getShape()) {
    if (!op.is(EpilogueBinary::Add) || layoutOf(type) != layoutOf(result))
      return std::nullopt;
    step.op = ConvolutionStepOp::AddTensor;
    return step;
  }
  if (type.getNumElements() != result.getDimSize(1) || !layoutOf(type).empty() ||
      (!op.is(EpilogueBinary::Add) && !op.is(EpilogueBinary::Mul)))
    return std::nullopt;
  step.op = op.is(EpilogueBinary::Add) ? ConvolutionStepOp::AddChannels
                                       : ConvolutionStepOp::MultiplyChannels;
  return step;
}

std::optional<std::vector<ConvolutionStep>> steps(const Epilogue &epilogue, FusionOp fusion,
                                                  int64_t filled, Value bias,
                                                  const Refusal &refuse) {
  auto result = typeOf(fusion.getResult(0));
  const int64_t channels = result.getDimSize(1);
  const bool isFilled = filled != channels;
  auto isKnown = [&](Value value) { return bool(findChannelConstant(fusion, value, channels)); };
  if (isFilled && bias && !isKnown(bias))
    return refuse(
        "the bias must be constant, because it is padded to a multiple of the channel block");
  std::vector<ConvolutionStep> all;
  for (const EpilogueOp &epilogueOp : epilogue.epilogueOps) {
    const bool isActivation = epilogueOp.kind == EpilogueOp::Kind::Activation;
    auto step = describeEpilogueOp(epilogueOp, result);
    if (!step || (isFilled && isActivation &&
                  !preservesZero(epilogueOp.activation, epilogueOp.alpha, epilogueOp.beta)))
      return refuse(
          StringRef("unsupported epilogue op ") +
          (isActivation ? infoOf(epilogueOp.activation).name : infoOf(epilogueOp.binary).name));
    if (isFilled && step->op != ConvolutionStepOp::AddTensor && !isActivation &&
        !isKnown(epilogueOp.operand))
      return refuse("an epilogue operand per channel must be constant, because it is padded to a "
                    "multiple of the channel block");
    all.push_back(*step);
  }
  return all;
}

/// Adds an operand with one element per channel to the call, zero-padded to `filled` channels.
static void addChannelOperand(LibraryCall &call, FusionOp fusion, Value inner, int64_t filled) {
  const int64_t channels = typeOf(fusion.getResult(0)).getDimSize(1);
  if (filled == channels)
    return call.addValue(getOuterValue(fusion, inner));
  auto plain = ref::Tensor::fromAttr(findChannelConstant(fusion, inner, channels).getValue());
  const auto bytes = filled * int64_t(sizeof(float));
  call.add(makePackedArgument(bytes, "channels:" + std::to_string(filled),
                              [plain = *plain, channels, filled](void *to) {
                                auto *values = static_cast<float *>(to);
                                std::fill(values, values + filled, 0.0f);
                                std::memcpy(values, plain.data(), size_t(channels) * sizeof(float));
                              }),
           double(bytes));
}

void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, Value bias,
                 const std::vector<ConvolutionStep> &steps, int64_t filled) {
  if (bias)
    addChannelOperand(call, fusion, bias, filled);
  std::optional<unsigned> addend;
  for (auto [epilogueOp, step] : llvm::zip(epilogue.epilogueOps, steps))
    if (epilogueOp.kind == EpilogueOp::Kind::Binary) {
      if (step.op == ConvolutionStepOp::AddTensor) {
        addend = call.arguments.size();
        call.addValue(getOuterValue(fusion, epilogueOp.operand));
      } else {
        addChannelOperand(call, fusion, epilogueOp.operand, filled);
      }
    }
  if (addend)
    call.inplace.push_back({unsigned(call.arguments.size()), *addend});
  for (auto [i, result] : llvm::enumerate(fusion.getResults()))
    call.addResult(i, typeOf(result));
}

} // namespace dlc::convolution_call
