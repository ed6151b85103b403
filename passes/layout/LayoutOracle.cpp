//===- LayoutOracle.cpp - queries oneDNN for preferred layouts ------------===//
#include "passes/layout/LayoutOracle.h"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"

#include "passes/layout/Geometry.h"
#include "passes/layout/Tag.h"
#include "runtime/library/onednn/Describe.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc {
using namespace onednn_desc;
namespace {

std::optional<std::string> typeName(Type element) {
  if (element.isF32())
    return "f32";
  if (element.isBF16())
    return "bf16";
  if (element.isF16())
    return "f16";
  return std::nullopt;
}

json describeArgument(ArrayRef<int64_t> dims, const std::string &type, StringRef tag) {
  return {{"dims", list(dims)}, {"dtype", type}, {"tag", tag.str()}};
}

std::string plainTag(size_t rank) { return std::string("abcdefgh").substr(0, rank); }

std::string int8TypeName(Value value) {
  return typeOf(value).getElementType().isUnsignedInteger() ? "u8" : "i8";
}

/// Returns whether both values are non-empty static images of rank 3 to 5 with the same supported
/// element type.
bool canPropagateLayout(Value from, Value to, bool isInteger = false) {
  RankedTensorType x = typeOf(from), y = typeOf(to);
  return x.hasStaticShape() && y.hasStaticShape() && x.getNumElements() > 0 &&
         y.getNumElements() > 0 && x.getRank() >= 3 && x.getRank() <= 5 &&
         (isInteger || (typeName(x.getElementType()) && x.getElementType() == y.getElementType()));
}

/// Adds to the oneDNN description the rounding of operands that `--matmul-precision` permits for
/// the operation (fpmath mode).
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

std::optional<LayoutPair> ask(const json &desc, const char *sourceName, const char *destinationName,
                              int threads) {
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

} // namespace

bool libraryHasExactSums() { return onednn::sumsInt8Exactly(); }

std::optional<LayoutPair> LayoutOracle::preferredByConv(Operation *op) {
  return queryConv(op, "any", "any");
}

bool LayoutOracle::sumsIntegers(Operation *op) {
  return libraryHasExactSums() && (!isa<ConvOp>(op) || preferredByConv(op));
}

std::optional<LayoutPair> LayoutOracle::offerForConv(Operation *op, StringRef source,
                                                     StringRef destination) {
  std::string plain = plainTag(shapeOf(op->getOperand(0)).size());
  return queryConv(op, source.empty() ? StringRef(plain) : source,
                   destination.empty() ? StringRef(plain) : destination);
}

std::optional<LayoutPair> LayoutOracle::answer(const json &desc, const char *source,
                                               const char *destination) {
  auto [it, isNew] = answers.try_emplace(desc.dump());
  if (isNew)
    it->second = ask(desc, source, destination, threads);
  return it->second;
}

std::optional<LayoutPair> LayoutOracle::queryConv(Operation *op, StringRef source,
                                                  StringRef destination) {
  bool isInteger = isIntegerContraction(op);
  if (!canPropagateLayout(op->getOperand(0), op->getResult(0), isInteger))
    return std::nullopt;
  auto conv = dyn_cast<ConvOp>(op);
  auto transposed = dyn_cast<ConvTransposeOp>(op);
  Value read = op->getOperand(0);
  if (isInteger && (!conv || !libraryHasExactSums()))
    return std::nullopt;
  std::string type = isInteger ? "i32" : *typeName(typeOf(op->getResult(0)).getElementType());
  json from = describeArgument(shapeOf(read), isInteger ? int8TypeName(read) : type, source);
  json to = describeArgument(shapeOf(op->getResult(0)), type, destination);
  int64_t groups = conv ? conv.getGroups() : transposed.getGroups();
  auto grouped = [&](SmallVector<int64_t> weights, bool swapped) {
    weights[0] /= groups;
    if (swapped)
      std::swap(weights[0], weights[1]);
    if (groups > 1)
      weights.insert(weights.begin(), groups);
    return describeArgument(weights, isInteger ? "i8" : type, "any");
  };
  ArrayRef<int64_t> weights = shapeOf(op->getOperand(1));
  Value bias = biasOf(op);
  json desc;
  addMathMode(desc, op);
  if (conv)
    addWindowParameters(desc, conv);
  else
    addWindowParameters(desc, transposed);
  if (transposed && !bias) {
    // As in kernel selection, a transposed convolution is queried as the data gradient of a
    // convolution if oneDNN has a kernel for it.
    json gradient = desc;
    gradient["kind"] = "convolution_backward_data";
    gradient["diff_dst"] = from;
    gradient["diff_src"] = to;
    gradient["weights"] = grouped(SmallVector<int64_t>(weights), /*swapped=*/false);
    if (auto preferred = answer(gradient, "diff_dst", "diff_src"))
      return preferred;
  }
  if (transposed)
    for (auto [pad, extra] : llvm::zip(desc["pads_r"], transposed.getExtra()))
      pad = pad.get<int64_t>() - extra;
  desc["kind"] = conv ? "convolution" : "deconvolution";
  desc["src"] = from;
  desc["dst"] = to;
  // oneDNN's weights have the output channels first, so that the weights of transposed convolutions
  // are swapped.
  desc["weights"] = grouped(SmallVector<int64_t>(weights), /*swapped=*/bool(transposed));
  if (bias)
    desc["bias"] = describeArgument(shapeOf(bias), type, "a");
  return answer(desc, "src", "dst");
}

std::optional<LayoutPair> LayoutOracle::preferredByWeightGrad(ConvWeightGradOp op) {
  return queryWeightGrad(op, "any", "any");
}

std::optional<LayoutPair> LayoutOracle::offerForWeightGrad(ConvWeightGradOp op, StringRef source,
                                                           StringRef destination) {
  std::string plain = plainTag(shapeOf(op.getX()).size());
  return queryWeightGrad(op, source.empty() ? StringRef(plain) : source,
                         destination.empty() ? StringRef(plain) : destination);
}

std::optional<LayoutPair> LayoutOracle::queryWeightGrad(ConvWeightGradOp op, StringRef source,
                                                        StringRef destination) {
  if (!canPropagateLayout(op.getX(), op.getDy()))
    return std::nullopt;
  std::string type = *typeName(typeOf(op.getDw()).getElementType());
  SmallVector<int64_t> weights(shapeOf(op.getDw()));
  if (int64_t groups = op.getGroups(); groups > 1) {
    weights[0] /= groups;
    weights.insert(weights.begin(), groups);
  }
  json desc;
  addMathMode(desc, op);
  addWindowParameters(desc, op);
  desc["kind"] = "convolution_backward_weights";
  desc["src"] = describeArgument(shapeOf(op.getX()), type, source);
  desc["diff_dst"] = describeArgument(shapeOf(op.getDy()), type, destination);
  desc["diff_weights"] = describeArgument(weights, type, "any");
  return answer(desc, "src", "diff_dst");
}

std::optional<LayoutPair> LayoutOracle::preferredByPool(Operation *op, StringRef source) {
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
  std::string type = isBytes ? int8TypeName(op->getOperand(0))
                             : *typeName(typeOf(op->getResult(0)).getElementType());
  std::string tag = source.empty() ? plainTag(shape.size()) : source.str();
  bool isGradient = isa<MaxPoolGradOp, AvgPoolGradOp>(op);
  const char *from = isGradient ? "diff_dst" : "src", *to = isGradient ? "diff_src" : "dst";
  desc["kind"] = isGradient ? "pooling_backward" : "pooling";
  desc[from] = describeArgument(shape, type, tag);
  desc[to] = describeArgument(shapeOf(op->getResult(0)), type, tag);
  if (auto pool = dyn_cast<MaxPoolPositionsOp>(op))
    desc["workspace"] = describeArgument(shapeOf(pool.getPosition()), "u8", tag);
  if (isa<MaxPoolGradOp>(op))
    desc["workspace"] = describeArgument(shape, "u8", tag);
  return answer(desc, from, to);
}

} // namespace dlc
