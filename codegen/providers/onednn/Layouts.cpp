//===- Layouts.cpp - layouts that oneDNN prefers --------------------------===//
#include "codegen/providers/onednn/Layouts.h"

#include "codegen/providers/onednn/Describe.h"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"
#include "passes/layout/Tag.h"
#include "runtime/library/onednn/Describe.h"

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

/// Adds to the description the rounding of operands that `--matmul-precision` permits for the
/// operation (fpmath mode).
void addMathMode(json &desc, Operation *op) {
  if (auto math = op->getAttrOfType<StringAttr>(kMathAttr); math && math == "bf16")
    desc["math"] = math.str();
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

std::optional<LayoutPair> answer(const json &desc, const char *sourceName,
                                 const char *destinationName, int threads) {
  std::shared_ptr<const onednn::OperationDescription> described = onednn::ask(desc, threads);
  if (!described->ok)
    return std::nullopt;
  // Excludes oneDNN's reference kernels, and its kernels that run a GEMM over unfolded images
  // (im2col) of floats or integers.
  StringRef name = described->implementation;
  if (onednn::isReference(name.str()) || name.contains("gemm:") || name.contains("gemm_"))
    return std::nullopt;
  auto source = getSupportedLayout(*described, sourceName),
       destination = getSupportedLayout(*described, destinationName);
  if (!source || !destination)
    return std::nullopt;
  return LayoutPair{*source, *destination};
}

/// Describes weights [O, I, ..] in the layout that oneDNN prefers, with a separate dimension for
/// several groups. `isTransposed`: exchanges the dimensions O and I.
json describeWeights(ArrayRef<int64_t> shape, int64_t groups, Type element, bool isTransposed) {
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
  json from = describeArgument(shapeOf(x), typeOf(x).getElementType(), tags.source);
  json to = describeArgument(shapeOf(conv.getY()), element, tags.destination);
  ArrayRef<int64_t> weights = shapeOf(conv.getW());
  json desc;
  addMathMode(desc, conv);
  addWindowParameters(desc, conv);
  if constexpr (isTransposed) {
    // As in kernel selection, a transposed convolution is queried as the data gradient of a
    // convolution if oneDNN has a kernel for it.
    if (!bias) {
      json gradient = desc;
      gradient["kind"] = "convolution_backward_data";
      gradient["diff_dst"] = from;
      gradient["diff_src"] = to;
      gradient["weights"] = describeWeights(weights, conv.getGroups(), weightElement, false);
      if (auto preferred = answer(gradient, "diff_dst", "diff_src", threads))
        return preferred;
    }
    for (auto [pad, extra] : llvm::zip(desc["pads_r"], conv.getExtra()))
      pad = pad.template get<int64_t>() - extra;
  }
  desc["kind"] = isTransposed ? "deconvolution" : "convolution";
  desc["src"] = from;
  desc["dst"] = to;
  // oneDNN's weights have the output channels first, so that the weights of transposed convolutions
  // are swapped.
  desc["weights"] = describeWeights(weights, conv.getGroups(), weightElement, isTransposed);
  if (bias)
    desc["bias"] = describeArgument(shapeOf(bias), element, "a");
  return answer(desc, "src", "dst", threads);
}

std::optional<LayoutPair> queryWeightGrad(ConvWeightGradOp op, const RequestedTags &tags,
                                          int threads) {
  if (!canPropagateLayout(op.getX(), op.getDy()))
    return std::nullopt;
  Type element = typeOf(op.getDw()).getElementType();
  json desc;
  addMathMode(desc, op);
  addWindowParameters(desc, op);
  desc["kind"] = "convolution_backward_weights";
  desc["src"] = describeArgument(shapeOf(op.getX()), element, tags.source);
  desc["diff_dst"] = describeArgument(shapeOf(op.getDy()), element, tags.destination);
  desc["diff_weights"] = describeWeights(shapeOf(op.getDw()), op.getGroups(), element, false);
  return answer(desc, "src", "diff_dst", threads);
}

/// Describes a pool, or a pool's gradient. Both images have the layout of the operand.
std::optional<LayoutPair> queryPool(Operation *op, StringRef tag, int threads) {
  bool isBytes = isa<MaxPoolOp>(op) && isInt8(op->getOperand(0).getType());
  if (!canPropagateLayout(op->getOperand(0), op->getResult(0), isBytes))
    return std::nullopt;
  json desc;
  auto common = [&](auto pool) { return addPoolParameters(desc, pool); };
  auto average = [&](auto pool) {
    std::optional<std::string> algorithm = getAvgPoolAlgorithm(pool);
    if (algorithm)
      desc["alg"] = *algorithm;
    return algorithm && common(pool);
  };
  desc["alg"] = "max";
  bool fits = llvm::TypeSwitch<Operation *, bool>(op)
                  .Case<MaxPoolOp, MaxPoolPositionsOp, MaxPoolGradOp>(common)
                  .Case<AvgPoolOp, AvgPoolGradOp>(average);
  if (!fits)
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  Type element = typeOf(op->getResult(0)).getElementType(),
       byte = IntegerType::get(op->getContext(), 8, IntegerType::Unsigned);
  bool isGradient = isa<MaxPoolGradOp, AvgPoolGradOp>(op);
  const char *from = isGradient ? "diff_dst" : "src", *to = isGradient ? "diff_src" : "dst";
  desc["kind"] = isGradient ? "pooling_backward" : "pooling";
  desc[from] = describeArgument(shape, element, tag);
  desc[to] = describeArgument(shapeOf(op->getResult(0)), element, tag);
  if (auto pool = dyn_cast<MaxPoolPositionsOp>(op))
    desc["workspace"] = describeArgument(shapeOf(pool.getPosition()), byte, tag);
  if (isa<MaxPoolGradOp>(op))
    desc["workspace"] = describeArgument(shape, byte, tag);
  return answer(desc, from, to, threads);
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
