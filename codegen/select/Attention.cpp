//===- Attention.cpp - attention and its gradients without the score matrix, on a processor ---===//
#include "codegen/cuda/Attention.h"
#include "codegen/select/OnednnDesc.h"
#include "codegen/select/Refusal.h"
#include "passes/fuse/StridedView.h"
#include "passes/fuse/WholeAttention.h"
#include "passes/place/Cost.h"
#include "runtime/library/attention/Describe.h"

using namespace mlir;

namespace dlc {

namespace {

using nlohmann::json;
using onednn_desc::list;
using onednn_desc::outside;

/// Rows of one element have any stride; a mask's dimensions of size 1 are the same for all.
json viewOf(const StridedView &view, bool isMask) {
  std::vector<int64_t> strides = list(view.strides);
  for (auto [size, stride] : llvm::zip(view.shape, strides))
    if (size == 1)
      stride = isMask ? 0 : 1;
  return {{"offset", view.offset}, {"strides", strides}};
}

class Maker {
public:
  Maker(FusionOp fusion, Operation *op)
      : fusion(fusion), op(op), rank(typeOf(op->getOperand(0)).getRank()) {}

  LibraryCall make(int parts) {
    auto q = typeOf(op->getOperand(0)), k = typeOf(op->getOperand(1)),
         v = typeOf(op->getOperand(2));
    bool isGradient = isa<AttentionGradOp>(op);
    call.library = "attention";
    call.flops = flopsOf(op);
    call.desc = {{"kind", isGradient ? "attention_grad" : "attention"},
                 {"dtype", elementName(q.getElementType())},
                 {"lanes", attention::lanes()},
                 {"parts", parts},
                 {"scale", op->getAttrOfType<FloatAttr>("scale").getValueAsDouble()},
                 {"causal", op->hasAttr("causal")},
                 {"batch", list(q.getShape().drop_back(2))},
                 {"queries", q.getDimSize(rank - 2)},
                 {"keys", k.getDimSize(rank - 2)},
                 {"depth", q.getDimSize(rank - 1)},
                 {"width", v.getDimSize(rank - 1)}};
    if (parts)
      call.implementation = "attention:bf16x" + std::to_string(parts * (parts + 1) / 2);
    else
      call.implementation = attention::lanes() == 16 ? "attention:avx512" : "attention:avx2";
    if (isGradient) {
      for (auto [i, name] : llvm::enumerate(std::array{"q", "k", "v", "y", "lse", "dy"}))
        reads(name, op->getOperand(i));
      readsMask(6);
      for (auto [i, name] : llvm::enumerate(std::array{"dq", "dk", "dv"}))
        writes(name, op->getResult(i));
    } else {
      for (auto [i, name] : llvm::enumerate(std::array{"q", "k", "v"}))
        reads(name, op->getOperand(i));
      readsMask(3);
      writes("y", op->getResult(0));
      if (op->getNumResults() == 2 && (call.desc["sums"] = yieldedOf(op->getResult(1)).has_value()))
        writes("lse", op->getResult(1));
    }
    return std::move(call);
  }

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  void reads(const char *name, Value operand) {
    StridedView view = *asStrided(operand);
    call.desc[name] = viewOf(view, StringRef(name) == "mask");
    call.arguments.push_back({CallArgument::Kind::Value, outside(fusion, view.base)});
    call.bytes += double(storageBytes(typeOf(operand)));
  }

  void readsMask(unsigned number) {
    if (number >= op->getNumOperands())
      return;
    Value mask = op->getOperand(number);
    reads("mask", mask);
    std::vector<int64_t> strides = call.desc["mask"]["strides"];
    strides.insert(strides.begin(), size_t(rank) - strides.size(), 0);
    call.desc["mask"]["strides"] = strides;
    call.desc["mask"]["dtype"] = elementName(typeOf(mask).getElementType());
  }

  std::optional<unsigned> yieldedOf(OpResult result) {
    ValueRange yielded = fusion.getBody().front().getTerminator()->getOperands();
    for (unsigned i = 0; i < yielded.size(); ++i)
      if (asStridedDestination(result, yielded[i]))
        return i;
    return std::nullopt;
  }

  /// What nobody wants goes to scratch memory.
  void writes(const char *name, OpResult result) {
    CallArgument to{CallArgument::Kind::Scratch};
    auto type = typeOf(result);
    to.bytes = storageBytes(type);
    auto dense = ref::rowMajorStrides(type.getShape());
    StridedView view{result, SmallVector<int64_t>(type.getShape()),
                     SmallVector<int64_t>(dense.begin(), dense.end())};
    if (auto number = yieldedOf(result)) {
      view = *asStridedDestination(result,
                                   fusion.getBody().front().getTerminator()->getOperand(*number));
      to.kind = CallArgument::Kind::Result;
      to.result = *number;
      to.bytes = 0;
    }
    call.desc[name] = viewOf(view, false);
    call.arguments.push_back(to);
    call.bytes += double(storageBytes(type));
  }

  FusionOp fusion;
  Operation *op;
  int64_t rank;
  LibraryCall call;
};

} // namespace

std::optional<LibraryCall> attentionCall(Operation *whole, int parts, std::string *why) {
  Refusal no{why};
  auto fusion = dyn_cast<FusionOp>(whole);
  Operation *op = fusion ? cuda::attentionOf(fusion) : nullptr;
  if (!op)
    return no("not attention");
  Type element = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  if (!element.isF32() && !element.isBF16())
    return no("attention of f32 and bf16 alone, here " + elementName(element));
  if (attention::lanes() == 0)
    return no("this processor has neither AVX-512 nor AVX2 with FMA");
  if (parts && !attention::hasTiles())
    return no("no tiles for bf16 (AMX) here");
  if (!cuda::canAttend(fusion, op, why))
    return std::nullopt;
  return Maker(fusion, op).make(parts);
}

} // namespace dlc
