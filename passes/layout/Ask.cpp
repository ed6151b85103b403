//===- Ask.cpp - which layouts oneDNN wants for an operation --------------===//
#include "passes/layout/Ask.h"

#include "passes/layout/Tag.h"
#include "runtime/library/onednn/Describe.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using nlohmann::json;

namespace dlc {
namespace {

std::vector<int64_t> list(ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

std::vector<int64_t> lessOne(ArrayRef<int64_t> values) {
  std::vector<int64_t> result = list(values);
  for (int64_t &value : result)
    --value;
  return result;
}

std::optional<std::string> typeName(Type element) {
  if (element.isF32())
    return "f32";
  if (element.isBF16())
    return "bf16";
  if (element.isF16())
    return "f16";
  return std::nullopt;
}

json argument(ArrayRef<int64_t> dims, const std::string &type, StringRef tag) {
  return {{"dims", list(dims)}, {"dtype", type}, {"tag", tag.str()}};
}

std::string plainTag(size_t rank) { return std::string("abcdefgh").substr(0, rank); }

/// Only spatial dimensions, one of the types, and layouts that can be followed.
bool isFollowable(Operation *op) {
  RankedTensorType x = typeOf(op->getOperand(0)), y = typeOf(op->getResult(0));
  return x.hasStaticShape() && y.hasStaticShape() && x.getNumElements() > 0 &&
         y.getNumElements() > 0 && (x.getRank() == 4 || x.getRank() == 5) &&
         typeName(x.getElementType()) && x.getElementType() == y.getElementType();
}

template <typename Op> void addGeometry(json &desc, Op op) {
  desc["strides"] = list(op.getStrides());
  desc["dilations"] = lessOne(op.getDilations());
  desc["pads_l"] = list(op.getLow());
  desc["pads_r"] = list(op.getHigh());
}

/// A layout that passes can follow, or nothing.
std::optional<std::string> followable(const onednn::Described &described, const char *name) {
  const onednn::Argument *found = described.find(name);
  if (!found)
    return std::nullopt;
  std::string tag = normalTag(found->tag);
  if (!tag.empty() && !Tag::parse(tag))
    return std::nullopt;
  return tag;
}

std::optional<Wanted> ask(const json &desc, int threads) {
  onednn::Described described = onednn::describe(desc, threads);
  if (!described.ok)
    return std::nullopt;
  // Neither the slow general code nor products over unfolded images.
  StringRef implementation = described.implementation;
  if (implementation.starts_with("ref") || implementation.contains("gemm:"))
    return std::nullopt;
  auto source = followable(described, "src"), destination = followable(described, "dst");
  if (!source || !destination)
    return std::nullopt;
  return Wanted{*source, *destination};
}

} // namespace

std::optional<Wanted> LayoutOracle::wantedByConv(Operation *op) {
  return askConv(op, "any", "any");
}

std::optional<Wanted> LayoutOracle::wantedByConv(Operation *op, StringRef tag) {
  if (tag.empty())
    return wantedByConv(op);
  std::string plain = plainTag(shapeOf(op->getOperand(0)).size());
  // Three channels fill no block: the first convolution of a network often reads images as they
  // come.
  if (llvm::any_of(tag, llvm::isUpper))
    if (auto wanted = askConv(op, plain, tag))
      return wanted;
  if (auto wanted = askConv(op, tag, tag))
    return wanted;
  return wantedByConv(op);
}

std::optional<Wanted> LayoutOracle::askConv(Operation *op, StringRef source,
                                            StringRef destination) {
  if (!isFollowable(op))
    return std::nullopt;
  auto conv = dyn_cast<ConvOp>(op);
  auto transposed = dyn_cast<ConvTransposeOp>(op);
  std::string type = *typeName(typeOf(op->getResult(0)).getElementType());
  int64_t groups = conv ? conv.getGroups() : transposed.getGroups();
  SmallVector<int64_t> weights(shapeOf(op->getOperand(1)));
  json desc;
  if (conv) {
    addGeometry(desc, conv);
    weights[0] /= groups;
  } else {
    addGeometry(desc, transposed);
    for (auto [pad, extra] : llvm::zip(desc["pads_r"], transposed.getExtra()))
      pad = pad.get<int64_t>() - extra;
    weights[0] /= groups;
    std::swap(weights[0], weights[1]); // the library's are output channels first
  }
  if (groups > 1)
    weights.insert(weights.begin(), groups);
  desc["kind"] = conv ? "convolution" : "deconvolution";
  desc["src"] = argument(shapeOf(op->getOperand(0)), type, source);
  desc["dst"] = argument(shapeOf(op->getResult(0)), type, destination);
  desc["weights"] = argument(weights, type, "any");
  if (op->getNumOperands() > 2)
    desc["bias"] = argument(shapeOf(op->getOperand(2)), type, "a");
  auto [it, isNew] = answers.try_emplace(desc.dump());
  if (isNew)
    it->second = ask(desc, threads);
  return it->second;
}

std::optional<Wanted> LayoutOracle::wantedByPool(Operation *op, StringRef source) {
  if (!isFollowable(op))
    return std::nullopt;
  json desc;
  desc["kind"] = "pooling";
  auto common = [&](auto pool) {
    addGeometry(desc, pool);
    desc["kernel"] = list(pool.getWindow());
    for (auto [low, high, window] : llvm::zip(pool.getLow(), pool.getHigh(), pool.getWindow()))
      if (low >= window || high >= window)
        return false;
    return true;
  };
  if (auto max = dyn_cast<MaxPoolOp>(op)) {
    if (!common(max))
      return std::nullopt;
    desc["alg"] = "max";
  } else {
    auto avg = cast<AvgPoolOp>(op);
    if (!common(avg) || (avg.getIncludePad() && avg.getCountedHigh() != avg.getHigh()))
      return std::nullopt;
    desc["alg"] = avg.getIncludePad() ? "avg_include" : "avg_exclude";
  }
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  std::string type = *typeName(typeOf(op->getResult(0)).getElementType());
  std::string tag = source.empty() ? plainTag(shape.size()) : source.str();
  desc["src"] = argument(shape, type, tag);
  desc["dst"] = argument(shapeOf(op->getResult(0)), type, tag);
  auto [it, isNew] = answers.try_emplace(desc.dump());
  if (isNew)
    it->second = ask(desc, threads);
  return it->second;
}

} // namespace dlc
