//===- Alternatives.cpp - replacements for operations without fast library kernels ----===//
#include "passes/layout/Alternatives.h"

#include "ir/dlc/Shape.h"
#include "ir/reference/Evaluate.h"
#include "passes/Devices.h"
#include "passes/layout/Tag.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;

namespace dlc {

Value AlternativeBuilder::constant(Value value) {
  Operation *made = value.getDefiningOp();
  if (!made || isa<ConstantOp>(made))
    return value;
  SmallVector<ref::Tensor> inputs, results;
  for (Value operand : made->getOperands()) {
    std::optional<ref::Tensor> input = constantTensor(operand);
    if (!input)
      return value;
    inputs.push_back(*input);
  }
  auto nothing = [](Value) { return ref::Tensor(); };
  if (failed(ref::evaluateOp(made, inputs, nothing, results)))
    return value;
  Value folded = makeConstant(builder, loc, results[0], typeOf(value));
  made->erase();
  return folded;
}

Value deduplicateOp(Value made) {
  Operation *op = made.getDefiningOp();
  if (isa<ConstantOp>(op))
    return made;
  auto isSame = [](Value a, Value b) {
    Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
    return success(a == b || (x && y && isa<ConstantOp>(x) && isa<ConstantOp>(y) &&
                              x->getAttrDictionary() == y->getAttrDictionary()));
  };
  for (Operation *user : op->getOperand(0).getUsers())
    if (user != op && user->getBlock() == op->getBlock() && user->isBeforeInBlock(op) &&
        OperationEquivalence::isEquivalentTo(user, op, isSame, nullptr,
                                             OperationEquivalence::IgnoreLocations)) {
      op->erase();
      return user->getResult(0);
    }
  return made;
}

namespace {

/// Returns the minimum cost of an operation over three layouts: row-major, channels last, and the
/// layout that the library prefers. The library is not queried if that layout cannot cost less than
/// `other`.
std::optional<double> minCost(Operation *op, Costs &costs,
                              std::optional<double> other = std::nullopt) {
  std::optional<double> least;
  // Updates the minimum with the cost for the layouts `source` of the first operand, `destination`
  // of the results and, if the second operand is an image as well, `second` of that operand.
  auto consider = [&](StringRef source, StringRef destination, StringRef second = "") {
    SmallVector<Type> operands(op->getOperandTypes()), results(op->getResultTypes());
    operands[0] = withLayout(typeOf(op->getOperand(0)), source);
    if (!second.empty())
      operands[1] = withLayout(typeOf(op->getOperand(1)), second);
    if (!isa<ConvWeightGradOp>(op))
      for (auto [type, result] : llvm::zip(results, op->getResults()))
        type = withLayout(typeOf(result), destination);
    if (auto cost = costs.operation(op, operands, results);
        cost && (!least || cost->estimated < *least))
      least = cost->estimated;
  };
  consider("", "");
  StringRef last = getChannelsLastTag(typeOf(op->getOperand(0)).getRank());
  bool isPool = op->hasTrait<Pooling>();
  if (!can(deviceOf(op->getResult(0).getType()), DLC_DEVICE_HOST_CODE)) {
    if (shapeOf(op->getOperand(0)).size() > 2)
      consider(last, last, last);
    return least;
  }
  if (isPool)
    consider(last, last, op->getNumOperands() > 1 ? last : "");
  LayoutQuery query;
  if (isa<ConvWeightGradOp>(op)) {
    consider(last, "", last);
    if (std::optional<LayoutPair> preferred = costs.preferredLayouts(op, query))
      consider(preferred->source, "", preferred->destination);
  } else if (!isPool) {
    query.maxCost = other.value_or(query.maxCost);
    if (std::optional<LayoutPair> preferred = costs.preferredLayouts(op, query))
      consider(preferred->source, preferred->destination);
  }
  return least;
}

std::optional<double> computeAlternativeCost(const Alternative &alternative, Costs &costs) {
  double sum = 0;
  for (Operation *op : alternative.work) {
    std::optional<double> cost = minCost(op, costs);
    if (!cost)
      return std::nullopt;
    sum += *cost;
  }
  for (Value value : alternative.moved)
    sum +=
        reorderTime(costs, withLayout(typeOf(value), getChannelsLastTag(typeOf(value).getRank())),
                    typeOf(value));
  return sum;
}

std::optional<Alternative> findAlternative(Operation *op, AlternativeBuilder &b) {
  if (auto transposed = dyn_cast<ConvTransposeOp>(op))
    if (auto alternative = convTransposeToSubPixelConv(transposed, b))
      return alternative;
  if (shapeOf(op->getOperand(0)).size() == 3)
    return expand1dTo2d(op, b);
  if (auto conv = dyn_cast<ConvOp>(op))
    return shapeOf(conv.getX()).size() == 5 ? decompose3dDepthwiseConv(conv, b)
                                            : repeatDepthwiseChannels(conv, b);
  return std::nullopt;
}

} // namespace

std::optional<Alternative> computeInF32(Operation *op, AlternativeBuilder &b) {
  Type half = typeOf(op->getResult(0)).getElementType();
  const bool hasWindow = op->hasTrait<Convolutional>() || op->hasTrait<Pooling>();
  if ((!half.isF16() && !half.isBF16()) || !hasWindow || op->hasTrait<StandaloneOp>())
    return std::nullopt;
  Operation *wide = b.builder.clone(*op);
  for (OpOperand &operand : wide->getOpOperands()) {
    b.builder.setInsertionPoint(wide);
    operand.set(b.cast(operand.get(), b.builder.getF32Type()));
  }
  b.builder.setInsertionPoint(op);
  wide->getResult(0).setType(typeOf(op->getResult(0)).clone(b.builder.getF32Type()));
  return Alternative{
      {b.cast(wide->getResult(0), half)}, {wide}, {op->getOperand(0), op->getResult(0)}};
}

namespace {

std::optional<Alternative> buildFewChannelConv(Operation *op, AlternativeBuilder &b) {
  auto conv = dyn_cast<ConvOp>(op);
  return conv ? convToShiftedMatmuls(conv, b) : std::nullopt;
}

using Maker = std::optional<Alternative>(Operation *, AlternativeBuilder &);

/// Returns whether the operation may have a replacement. Operations on integers have one only if
/// libraries have no kernels for them: transposed convolutions, and depthwise convolutions with a
/// channel multiplier.
bool mayHaveAlternative(Operation *op) {
  Type element = typeOf(op->getResult(0)).getElementType();
  auto conv = dyn_cast<ConvOp>(op);
  return isa<FloatType>(element) ||
         (element.isInteger(32) &&
          (isa<ConvTransposeOp>(op) || (conv && getChannelMultiplier(conv) > 1)));
}

void applyCheaperAlternatives(Block &block, uint32_t capability, Maker &make, Costs &costs) {
  for (Operation &each : llvm::make_early_inc_range(block)) {
    Operation *op = &each;
    if ((!op->hasTrait<Convolutional>() && !op->hasTrait<Pooling>()) ||
        !can(deviceOf(op->getResult(0).getType()), capability) || !mayHaveAlternative(op) ||
        !typeOf(op->getResult(0)).hasStaticShape() || staticElements(typeOf(op->getResult(0))) == 0)
      continue;
    Operation *before = op->getPrevNode();
    AlternativeBuilder b(op);
    std::optional<Alternative> alternative = make(op, b);
    if (!alternative)
      continue;
    for (Operation *made : alternative->work)
      made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    std::optional<double> other = computeAlternativeCost(*alternative, costs),
                          own = minCost(op, costs, other);
    bool isBetter = other && (!own || *other < *own);
    if (isBetter)
      op->replaceAllUsesWith(alternative->results);
    // Erases the operations that remain unused, such as those of the rejected alternative and
    // folded constants.
    for (Operation *made = op->getPrevNode(); made != before;) {
      Operation *next = made->getPrevNode();
      if (made->use_empty())
        made->erase();
      made = next;
    }
    if (isBetter)
      op->erase();
  }
}

} // namespace

void applyAlternatives(Block &block, Costs &costs) {
  applyCheaperAlternatives(block, DLC_DEVICE_HOST_CODE, computeInF32, costs);
  applyCheaperAlternatives(block, DLC_DEVICE_HOST_CODE, findAlternative, costs);
  applyCheaperAlternatives(block, DLC_DEVICE_HOST_CODE, buildFewChannelConv, costs);
  applyCheaperAlternatives(block, DLC_DEVICE_GPU_CODE, convToPatchMatmul, costs);
  applyCheaperAlternatives(block, DLC_DEVICE_GPU_CODE, convToSpaceToDepth, costs);
  applyCheaperAlternatives(block, DLC_DEVICE_GPU_CODE, padChannelsToVector, costs);
}

} // namespace dlc
