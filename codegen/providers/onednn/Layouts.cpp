//===- Layouts.cpp - layouts that oneDNN prefers --------------------------===//
#include "codegen/providers/onednn/Layouts.h"

#include "codegen/providers/onednn/Describe.h"
#include "ir/dlc/Contraction.h"
#include "passes/layout/Tag.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::onednn_desc {
namespace {

/// Layouts of both images in oneDNN's notation. "any" leaves the choice to oneDNN.
struct RequestedTags {
  std::string source = "any", destination = "any";

  RequestedTags(const std::optional<LayoutPair> &required, int64_t rank) {
    if (!required)
      return;
    source = required->source.empty() ? plainTag(rank) : required->source;
    destination = required->destination.empty() ? plainTag(rank) : required->destination;
  }
};

bool isFloatOf32Or16Bits(Type element) {
  return element.isF32() || element.isBF16() || element.isF16();
}

/// Returns whether both values are non-empty static images of rank 3 to 5 with the same supported
/// element type.
bool canPropagateLayout(Value from, Value to, bool isInteger = false) {
  RankedTensorType x = typeOf(from), y = typeOf(to);
  return x.hasStaticShape() && y.hasStaticShape() && x.getNumElements() > 0 &&
         y.getNumElements() > 0 && x.getRank() >= 3 && x.getRank() <= 5 &&
         (isInteger ||
          (isFloatOf32Or16Bits(x.getElementType()) && x.getElementType() == y.getElementType()));
}

/// Returns the layout of an argument in oneDNN's description, or nullopt if the passes do not
/// support this layout.
std::optional<std::string> getSupportedLayout(const onednn::OperationDescription &described,
                                              const char *name) {
  const onednn::Argument *found = described.find(name);
  if (!found)
    return std::nullopt;
  std::string tag = normalizeTag(found->tag);
  if (!tag.empty() && !Tag::parse(tag))
    return std::nullopt;
  return tag;
}

std::optional<LayoutPair> answer(const Description &desc, const char *sourceName,
                                 const char *destinationName, int threads) {
  std::shared_ptr<const onednn::OperationDescription> described =
      onednn::ask(desc.toJson(), threads);
  if (!described->ok)
    return std::nullopt;
  // Excludes oneDNN's reference kernels, and its kernels that run a GEMM over unfolded images
  // (im2col) of floats or integers.
  const onednn::Implementation &implementation = described->properties;
  if (implementation.isReference || implementation.isGemm || implementation.isIntegerGemm)
    return std::nullopt;
  auto source = getSupportedLayout(*described, sourceName),
       destination = getSupportedLayout(*described, destinationName);
  if (!source || !destination)
    return std::nullopt;
  return LayoutPair{*source, *destination};
}

/// Describes weights [O, I, ..] in the layout that oneDNN prefers, with a separate dimension for
/// several groups. `isTransposed`: exchanges the dimensions O and I.
schema::Layout describeWeights(ArrayRef<int64_t> shape, int64_t groups, Type element,
                               bool isTransposed) {
  SmallVector<int64_t> dims(shape);
  dims[0] /= groups;
  if (isTransposed)
    std::swap(dims[0], dims[1]);
  if (groups > 1)
    dims.insert(dims.begin(), groups);
  return describeArgument(dims, element, "any");
}

/// Describes everything but the window of a convolution or transposed convolution.
template <typename Conv>
std::optional<LayoutPair> queryConv(Conv conv, const RequestedTags &tags, int threads) {
  constexpr bool isTransposed = std::is_same_v<Conv, ConvTransposeOp>;
  const bool isInteger = isIntegerContraction(conv);
  Value x = conv.getX(), bias = biasOf(conv);
  if (!canPropagateLayout(x, conv.getY(), isInteger) || (isInteger && !onednn::sumsInt8Exactly()))
    return std::nullopt;
  Type element = typeOf(conv.getY()).getElementType(),
       weightElement = isInteger ? IntegerType::get(conv.getContext(), 8) : element;
  schema::Layout from = describeArgument(shapeOf(x), typeOf(x).getElementType(), tags.source);
  schema::Layout to = describeArgument(shapeOf(conv.getY()), element, tags.destination);
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  Description desc;
  desc.setMathMode(conv);
  auto &window = desc.parameters.emplace<schema::OnednnConvolution>();
  setWindow(window, conv);
  if constexpr (isTransposed) {
    // As in kernel selection, a transposed convolution is queried as the data gradient of a
    // convolution if oneDNN has a kernel for it.
    if (!bias) {
      Description gradient = desc;
      gradient.call.kind = schema::OnednnKind::ConvolutionBackwardData;
      gradient.arguments.diffDst = from;
      gradient.arguments.diffSrc = to;
      gradient.arguments.weights = describeWeights(weights, conv.getGroups(), weightElement, false);
      if (auto preferred = answer(gradient, "diff_dst", "diff_src", threads))
        return preferred;
    }
    for (auto [pad, extra] : llvm::zip(window.high, conv.getExtra()))
      pad -= extra;
  }
  desc.call.kind =
      isTransposed ? schema::OnednnKind::Deconvolution : schema::OnednnKind::Convolution;
  desc.arguments.src = from;
  desc.arguments.dst = to;
  // oneDNN's weights have the output channels first, so that the weights of transposed convolutions
  // are swapped.
  desc.arguments.weights = describeWeights(weights, conv.getGroups(), weightElement, isTransposed);
  if (bias)
    desc.arguments.bias = describeArgument(shapeOf(bias), element, "a");
  return answer(desc, "src", "dst", threads);
}

std::optional<LayoutPair> queryWeightGrad(ConvWeightGradOp op, const RequestedTags &tags,
                                          int threads) {
  if (!canPropagateLayout(op.getX(), op.getDy()))
    return std::nullopt;
  Type element = typeOf(op.getDw()).getElementType();
  Description desc;
  desc.setMathMode(op);
  setWindow(desc.parameters.emplace<schema::OnednnConvolution>(), op);
  desc.call.kind = schema::OnednnKind::ConvolutionBackwardWeights;
  desc.arguments.src = describeArgument(shapeOf(op.getX()), element, tags.source);
  desc.arguments.diffDst = describeArgument(shapeOf(op.getDy()), element, tags.destination);
  desc.arguments.diffWeights = describeWeights(shapeOf(op.getDw()), op.getGroups(), element, false);
  return answer(desc, "src", "diff_dst", threads);
}

/// Describes a pool, or a pool's gradient. Both images have the layout of the operand.
std::optional<LayoutPair> queryPool(Operation *op, StringRef tag, int threads) {
  bool isBytes = isa<MaxPoolOp>(op) && isInt8(op->getOperand(0).getType());
  if (!canPropagateLayout(op->getOperand(0), op->getResult(0), isBytes))
    return std::nullopt;
  Description desc;
  auto &fields = desc.parameters.emplace<schema::OnednnPool>();
  auto common = [&](auto pool) { return setPoolWindow(fields, pool); };
  auto average = [&](auto pool) {
    std::optional<schema::PoolAlgorithm> algorithm = getAvgPoolAlgorithm(pool);
    fields.alg = algorithm.value_or(fields.alg);
    return algorithm && common(pool);
  };
  bool fits = llvm::TypeSwitch<Operation *, bool>(op)
                  .Case<MaxPoolOp, MaxPoolPositionsOp, MaxPoolGradOp>(common)
                  .Case<AvgPoolOp, AvgPoolGradOp>(average);
  if (!fits)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Type element = typeOf(op->getResult(0)).getElementType(),
       byte = IntegerType::get(op->getContext(), 8, IntegerType::Unsigned);
  bool isGradient = isa<MaxPoolGradOp, AvgPoolGradOp>(op);
  schema::OnednnArguments &arguments = desc.arguments;
  desc.call.kind = isGradient ? schema::OnednnKind::PoolingBackward : schema::OnednnKind::Pooling;
  (isGradient ? arguments.diffDst : arguments.src) = describeArgument(shape, element, tag);
  (isGradient ? arguments.diffSrc : arguments.dst) =
      describeArgument(shapeOf(op->getResult(0)), element, tag);
  if (auto pool = dyn_cast<MaxPoolPositionsOp>(op))
    arguments.workspace = describeArgument(shapeOf(pool.getPosition()), byte, tag);
  if (isa<MaxPoolGradOp>(op))
    arguments.workspace = describeArgument(shape, byte, tag);
  return isGradient ? answer(desc, "diff_dst", "diff_src", threads)
                    : answer(desc, "src", "dst", threads);
}

} // namespace

std::optional<LayoutPair> queryLayouts(Operation *op, const std::optional<LayoutPair> &required,
                                       int threads) {
  RequestedTags tags(required, typeOf(op->getOperand(0)).getRank());
  if (auto conv = dyn_cast<ConvOp>(op))
    return queryConv(conv, tags, threads);
  if (auto conv = dyn_cast<ConvTransposeOp>(op))
    return queryConv(conv, tags, threads);
  if (auto gradient = dyn_cast<ConvWeightGradOp>(op))
    return queryWeightGrad(gradient, tags, threads);
  return op->hasTrait<Pooling>() ? queryPool(op, tags.source, threads) : std::nullopt;
}

} // namespace dlc::onednn_desc
