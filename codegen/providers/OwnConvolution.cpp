//===- OwnConvolution.cpp - convolutions by our own kernels in vectors ----===//
#include "codegen/providers/OwnConvolution.h"

#include "passes/TensorBuilder.h"
#include "runtime/device/cpu/Features.h"
#include "runtime/library/describe/Activations.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc::own_convolution {

using nlohmann::json;

static bool isChannelsLast(Type type) {
  return layoutOf(type) == "acdb" || layoutOf(type) == "acb";
}

/// Channels that are taken together in the layout: a block's, or with channels last as many as a
/// vector has. Nothing for other layouts.
static std::optional<int64_t> blockOf(Type type) {
  StringRef tag = layoutOf(type);
  if (isChannelsLast(type))
    return runtime::hostLanes() == 16 ? 16 : 8;
  if (tag == "aBcd16b" || tag == "aBc16b")
    return 16;
  return tag == "aBcd8b" || tag == "aBc8b" ? std::optional<int64_t>(8) : std::nullopt;
}

std::vector<int64_t> withRow(ArrayRef<int64_t> sizes, bool isSequence, int64_t row) {
  std::vector<int64_t> all = list(sizes);
  if (isSequence)
    all.insert(all.end() - 1, row);
  return all;
}

std::optional<json> images(Value x, Value y, const Refusal &no) {
  auto source = typeOf(x), result = typeOf(y);
  auto block = blockOf(source);
  bool isSequence = source.getRank() == 3;
  if (!block || layoutOf(source) != layoutOf(result))
    return no("both sides must lie in blocks of 16 or 8 channels, or with channels last");
  for (RankedTensorType type : {source, result})
    if (type.getDimSize(1) % *block != 0)
      return no(llvm::formatv("whole blocks of {0} channels required, found {1}", *block,
                              type.getDimSize(1))
                    .str());
  if (source.getNumElements() == 0 || result.getNumElements() == 0)
    return no("an empty tensor");
  if (runtime::hostLanes() < *block)
    return no("this processor has neither AVX-512 nor AVX2 with FMA");
  return json{{"block", *block},
              {"src", withRow(source.getShape(), isSequence, 1)},
              {"dst", withRow(result.getShape(), isSequence, 1)},
              {"channels_last", isChannelsLast(source)}};
}

/// A post-op as the library's step; nothing where it has none.
static std::optional<json> stepOf(const PostOp &postOp, RankedTensorType result) {
  if (postOp.kind == PostOp::Kind::Eltwise) {
    if (!describe::activationNamed(postOp.alg))
      return std::nullopt;
    return json{{"do", postOp.alg}, {"alpha", postOp.alpha}, {"beta", postOp.beta}};
  }
  auto type = typeOf(postOp.operand);
  if (!type.getElementType().isF32() || postOp.scale != 1)
    return std::nullopt;
  if (type.getShape() == result.getShape())
    return postOp.alg == "add" && layoutOf(type) == layoutOf(result)
               ? std::optional(json{{"do", "add"}})
               : std::nullopt;
  if (type.getNumElements() != result.getDimSize(1) || !layoutOf(type).empty() ||
      (postOp.alg != "add" && postOp.alg != "mul"))
    return std::nullopt;
  return json{{"do", postOp.alg == "add" ? "add_channels" : "multiply_channels"}};
}

std::optional<json> steps(const Epilogue &epilogue, RankedTensorType result, const Refusal &no) {
  json all = json::array();
  for (const PostOp &postOp : epilogue.postOps) {
    auto step = stepOf(postOp, result);
    if (!step)
      return no("a step after it (" + postOp.alg + ") that is not done with it");
    all.push_back(*step);
  }
  return all;
}

void addEpilogue(LibraryCall &call, FusionOp fusion, const Epilogue &epilogue, Value bias,
                 const json &steps) {
  if (bias)
    call.addValue(outside(fusion, bias));
  std::optional<unsigned> addend;
  for (auto [postOp, step] : llvm::zip(epilogue.postOps, steps))
    if (postOp.kind == PostOp::Kind::Binary) {
      if (step["do"] == "add")
        addend = call.arguments.size();
      call.addValue(outside(fusion, postOp.operand));
    }
  if (addend)
    call.inplace.push_back({unsigned(call.arguments.size()), *addend});
  for (auto [i, result] : llvm::enumerate(fusion.getResults()))
    call.addResult(i, typeOf(result));
}

} // namespace dlc::own_convolution
