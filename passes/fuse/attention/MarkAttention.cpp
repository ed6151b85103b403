//===- MarkAttention.cpp - marks attention that remains one kernel --------===//
#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/Rounding.h"
#include "passes/fuse/attention/AttentionPattern.h"
#include "passes/fuse/attention/CompareAttention.h"
#include "passes/fuse/attention/FusedAttention.h"

#include "ir/tensor/Tensor.h"

using namespace mlir;

namespace dlc {
namespace {

/// Returns the size in bytes of the scores that the gradient of decomposed attention would retain,
/// or 0 if no fused kernel supports the attention.
double savedScoreBytes(Operation *op) {
  if (!canFuseAttention(op))
    return 0;
  auto q = typeOf(op->getOperand(0)), k = typeOf(op->getOperand(1));
  return double(staticElements(q)) / double(staticShape(q).back()) *
         double(staticDim(k, k.getRank() - 2)) * double(ref::elementBytes(q.getElementType()));
}

/// Returns whether the operation's device has the capabilities. The device is that of its result
/// type, otherwise that of the attribute `dlc.device`, otherwise the default device `most`.
bool hasDeviceCapabilities(Operation *op, StringRef most, uint32_t capabilities) {
  if (OnAttr on = deviceOf(op->getResult(0).getType()))
    return can(on, capabilities);
  auto asked = op->getAttrOfType<StringAttr>(kDeviceAttr);
  return can(asked ? asked.getValue() : most, capabilities);
}

/// Decides which attention operations of a module remain one fused kernel.
class AttentionChoice {
public:
  /// `gradients`: compares the costs of the forward and backward passes together.
  AttentionChoice(const ModelOptions &options, bool gradients, Costs &costs)
      : options(options), gradients(gradients), costs(costs) {}

  /// `isTight`: the memory limit requires fused kernels, even if they are not faster.
  bool shouldKeepFused(Operation *op, bool isTight) {
    // On GPUs, attention is fused whenever a fused kernel supports it, regardless of costs. The
    // attribute is set only before gradients are computed, because later passes check the device
    // instead.
    if (!hasDeviceCapabilities(op, options.device, DLC_DEVICE_HOST_CODE))
      return gradients && hasDeviceCapabilities(op, options.device, DLC_DEVICE_GPU_CODE);
    // A fused kernel is preferred, even if it is not faster, in three cases: memory is tight; the
    // operation is attention_train or attention_grad, which dlc-grad creates only for fused
    // attention; or the attention has an accuracy level that was set by name, which decomposing it
    // would lose.
    auto attention = dyn_cast<AttentionOp>(op);
    bool preferred = isTight || !attention || op->hasAttr(kAccuracyAttr);
    return costs.capabilities().hasFusedAttention && canFuseAttention(op) && hasKernel(costs, op) &&
           (preferred || isFaster(attention));
  }

private:
  /// Answers are cached, since a model has many attention operations of the same kind.
  bool isFaster(AttentionOp op) {
    Question question{op->getAttrDictionary(), SmallVector<Type>(op->getOperandTypes())};
    auto *known = llvm::find_if(answers, [&](auto &each) { return each.first == question; });
    if (known != answers.end())
      return known->second;
    answers.emplace_back(question, isFusedAttentionFaster(op, options.accuracy, costs, gradients));
    return answers.back().second;
  }

  using Question = std::pair<DictionaryAttr, SmallVector<Type>>;

  const ModelOptions &options;
  const bool gradients;
  Costs &costs;
  SmallVector<std::pair<Question, bool>> answers;
};

struct MarkAttentionPass : OptionPass<MarkAttentionPass> {
  MarkAttentionPass(const ModelOptions &options, bool gradients, CostsFactory kernels)
      : OptionPass("dlc-mark-attention",
                   "marks attention that remains one operation in the gradient and when others are "
                   "decomposed",
                   {"device", "max-memory", "accuracy"}, options),
        kernels(std::move(kernels)) {
    this->gradients = gradients;
  }
  MarkAttentionPass(const MarkAttentionPass &other) : OptionPass(other), kernels(other.kernels) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    SmallVector<Operation *> found;
    SmallVector<AttentionPattern> spelled;
    module.walk([&](Operation *op) {
      if (isAttention(op))
        found.push_back(op);
      // With strict accuracy, separate 16-bit operations are not replaced by attention, because a
      // fused kernel does not round the scores to 16 bits.
      auto softmax = dyn_cast<SoftmaxOp>(op);
      if (softmax && !(options.accuracy == "strict" && isSixteenBitFloat(softmax.getX().getType())))
        if (auto attention = AttentionPattern::match(softmax))
          spelled.push_back(*attention);
    });
    if (found.empty() && spelled.empty())
      return success();
    std::unique_ptr<Costs> costs = makeCosts(which, kernels, options, module);
    if (!costs)
      return failure();
    // Memory is tight if the scores of all attention operations together exceed this fraction of
    // the memory limit.
    constexpr double kPart = 0.125;
    double bytes = 0;
    for (Operation *op : found)
      bytes += savedScoreBytes(op);
    bool isTight = options.maxMemory > 0 && bytes > kPart * double(options.maxMemory);
    AttentionChoice choice(options, gradients, *costs);
    for (Operation *op : found)
      if (choice.shouldKeepFused(op, isTight))
        op->setAttr(kKeepFusedAttr, UnitAttr::get(op->getContext()));
    for (AttentionPattern &attention : spelled)
      makeWhole(attention, choice);
    return success();
  }

private:
  /// Replaces the operations that compose attention by an AttentionOp if its fused kernel is
  /// faster.
  void makeWhole(AttentionPattern &spelled, AttentionChoice &choice) {
    OpBuilder builder(&getContext());
    AttentionOp whole = spelled.make(builder);
    if (!choice.shouldKeepFused(whole, /*isTight=*/false)) {
      SmallVector<Operation *> transposed;
      for (Value operand : whole->getOperands())
        if (auto transpose = operand.getDefiningOp<TransposeOp>(); transpose && operand.hasOneUse())
          transposed.push_back(transpose);
      whole.erase();
      for (Operation *transpose : transposed)
        transpose->erase();
      return;
    }
    whole->setAttr(kKeepFusedAttr, UnitAttr::get(whole.getContext()));
    spelled.replaceBy(whole);
  }

  CostsFactory kernels;
  Option<bool> gradients{
      *this, "gradients",
      llvm::cl::desc(
          "before the gradients pass: compare the costs of forward and backward together"),
      llvm::cl::init(false)};
  Option<std::string> which{*this, "costs", llvm::cl::desc(kCostsHelp), llvm::cl::init("kernels")};
};

} // namespace

std::unique_ptr<Pass> createMarkAttentionPass(const ModelOptions &options, bool gradients,
                                              CostsFactory kernels) {
  return std::make_unique<MarkAttentionPass>(options, gradients, std::move(kernels));
}

} // namespace dlc
