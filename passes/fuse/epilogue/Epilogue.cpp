//===- Epilogue.cpp - matches a contraction with its fused epilogue -------===//
#include "passes/fuse/epilogue/Epilogue.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Contraction.h"

#include "ir/dlc/Shape.h"
#include "passes/ConstantRewrites.h"
#include "passes/Devices.h"
#include "passes/Rounding.h"
#include "passes/fuse/analysis/Classify.h"
#include "passes/fuse/epilogue/MatchActivation.h"

#include "llvm/ADT/DenseSet.h"

#include <algorithm>
#include <limits>

using namespace mlir;

namespace dlc {
namespace {

bool isLibraryFloat(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  return element.isF32() || element.isBF16() || element.isF16();
}

bool isEpilogueAnchor(Operation *op) {
  NodeClass kind = classify(op);
  return !op->hasTrait<StandaloneOp>() &&
         (kind == NodeClass::Contraction || kind == NodeClass::Pool);
}

int64_t channelDim(Operation *anchor) {
  return isa<MatmulOp>(anchor) ? typeOf(anchor->getResult(0)).getRank() - 1 : 1;
}

/// Returns whether `operand` has exactly one element per channel of `shape`, and all of its other
/// dimensions are 1.
bool isPerChannel(Value operand, ArrayRef<int64_t> shape, int64_t channel) {
  ArrayRef<int64_t> own = shapeOf(operand);
  int64_t shift = int64_t(shape.size()) - int64_t(own.size());
  if (shift < 0 || channel < shift)
    return false;
  for (auto [d, size] : llvm::enumerate(own))
    if (size != (int64_t(d) + shift == channel ? shape[channel] : 1))
      return false;
  return true;
}

/// Returns whether the cast converts a 16-bit float to f32.
bool isWideningCast(CastOp cast) {
  return isLibraryFloat(cast.getX().getType()) &&
         typeOf(cast.getX()).getElementTypeBitWidth() == 16 &&
         typeOf(cast.getY()).getElementType().isF32();
}

/// If an operand of `mul` is a splat constant, returns this constant and sets `x` to the other
/// operand. Returns nullopt if neither operand is a splat constant, or if the multiplication
/// broadcasts `x`.
std::optional<double> matchConstantFactor(MulOp mul, Value &x) {
  for (int i : {0, 1})
    if (std::optional<double> c = splatValue(mul->getOperand(i))) {
      x = mul->getOperand(1 - i);
      return shapeOf(x) == shapeOf(mul.getY()) ? c : std::nullopt;
    }
  return std::nullopt;
}

/// Matches add, sub, mul or div of `value` and a tensor from outside of the fusion, or the addition
/// of a multiple of such a tensor, as a binary op. The library rounds only once after scaling
/// and adding, so that multiples are not matched if `exact` is set. Sets `negated` if `value` is
/// subtracted from the operand.
std::optional<EpilogueOp> matchBinary(Operation *op, Value value, int64_t channel, OpFilter inside,
                                      bool exact, bool &negated,
                                      llvm::DenseSet<Operation *> &used) {
  // Binary maximum and minimum are not matched, because libraries do not propagate NaN.
  if (!isa<AddOp, SubOp, MulOp, DivOp>(op) || !value.hasOneUse())
    return std::nullopt;
  bool first = op->getOperand(0) == value;
  negated = !first && isa<SubOp>(op);
  if (!first && isa<DivOp>(op))
    return std::nullopt;
  EpilogueOp epilogueOp;
  epilogueOp.operand = op->getOperand(first ? 1 : 0);
  Operation *def = epilogueOp.operand.getDefiningOp();
  if (auto wide = dyn_cast_or_null<CastOp>(def); wide && inside(def) && isWideningCast(wide)) {
    // The operand of the epilogue op is the 16-bit tensor before the cast, which the library reads
    // directly.
    epilogueOp.operand = wide.getX();
    Operation *base = epilogueOp.operand.getDefiningOp();
    if (!wide.getY().hasOneUse() || (base && inside(base)))
      return std::nullopt;
    used.insert(wide);
  } else if (def && inside(def)) {
    auto mul = dyn_cast<MulOp>(def);
    if (exact || !mul || !mul.getY().hasOneUse() || !(negated || isa<AddOp>(op)))
      return std::nullopt;
    std::optional<double> factor = matchConstantFactor(mul, epilogueOp.operand);
    Operation *base = factor ? epilogueOp.operand.getDefiningOp() : nullptr;
    if (!factor || (base && inside(base)))
      return std::nullopt;
    epilogueOp.scale = *factor;
    used.insert(mul);
  }
  if (!isLibraryFloat(epilogueOp.operand.getType()))
    return std::nullopt;
  auto type = typeOf(value);
  if (staticShape(typeOf(op->getResult(0))) != staticShape(type))
    return std::nullopt;
  bool full = staticShape(typeOf(epilogueOp.operand)) == staticShape(type);
  if (!full && epilogueOp.scale != 1)
    return std::nullopt;
  if (full ? layoutOf(epilogueOp.operand.getType()) != layoutOf(type)
           : !hasOneElement(typeOf(epilogueOp.operand)) &&
                 !isPerChannel(epilogueOp.operand, staticShape(type), channel))
    return std::nullopt;
  epilogueOp.kind = EpilogueOp::Kind::Binary;
  epilogueOp.binary = isa<AddOp>(op) || negated ? EpilogueBinary::Add
                      : isa<SubOp>(op)          ? EpilogueBinary::Sub
                      : isa<MulOp>(op)          ? EpilogueBinary::Mul
                                                : EpilogueBinary::Div;
  return epilogueOp;
}

/// Returns whether libraries support the strides of a matrix: one of the last two dimensions must
/// be contiguous, and neither of them may be broadcast.
bool isLibraryMatrix(const StridedView &view) {
  size_t rank = view.shape.size();
  auto unit = [&](size_t d) { return view.shape[d] == 1 || view.strides[d] == 1; };
  auto repeats = [&](size_t d) { return view.shape[d] != 1 && view.strides[d] == 0; };
  return (unit(rank - 1) || unit(rank - 2)) && !repeats(rank - 1) && !repeats(rank - 2);
}

} // namespace

std::optional<StridedView> matrixView(Value value, bool transpose, OpFilter inside) {
  std::optional<StridedView> view = matchStridedView(value, inside);
  if (!view)
    return std::nullopt;
  if (transpose)
    view->swapLastTwo();
  if (!isLibraryMatrix(*view))
    return std::nullopt;
  for (size_t d = 0; d + 2 < view->shape.size(); ++d)
    if (view->strides[d] == 0)
      view->shape[d] = 1;
  return view;
}

namespace {

/// Marks the view operations between the contraction's operands and values from outside of the
/// fusion as used.
void markOperandViews(Value value, OpFilter inside, llvm::DenseSet<Operation *> &used) {
  Operation *op = value.getDefiningOp();
  if (!op || !inside(op) || !op->hasTrait<ViewLike>())
    return;
  used.insert(op);
  markOperandViews(op->getOperand(0), inside, used);
}

/// Sets the zero points of an integer contraction. Returns false for zero points that kernels do
/// not support: those with several elements, or computed inside of the fusion.
bool matchZeroPoints(Epilogue &epilogue, OpFilter inside) {
  epilogue.lhsZeroPoint = zeroPointOf(epilogue.anchor, 0);
  epilogue.rhsZeroPoint = zeroPointOf(epilogue.anchor, 1);
  auto isInside = [&](Value zero) {
    Operation *def = zero ? zero.getDefiningOp() : nullptr;
    return def && inside(def);
  };
  return hasSingleZeroPoints(epilogue.anchor) && !isInside(epilogue.lhsZeroPoint) &&
         !isInside(epilogue.rhsZeroPoint);
}

bool matchOperands(Epilogue &epilogue, OpFilter inside) {
  Operation *anchor = epilogue.anchor;
  std::optional<StridedView> lhs, rhs;
  if (auto matmul = dyn_cast<MatmulOp>(anchor)) {
    lhs = matrixView(matmul.getA(), matmul.getTransposeA(), inside);
    rhs = matrixView(matmul.getB(), matmul.getTransposeB(), inside);
    if (!lhs || !rhs)
      return false;
  } else {
    auto none = [](Operation *) { return false; };
    lhs = matchStridedView(anchor->getOperand(0), none);
    rhs = anchor->getNumOperands() > 1 ? matchStridedView(anchor->getOperand(1), none)
                                       : StridedView();
  }
  epilogue.lhs = *lhs;
  epilogue.rhs = *rhs;
  epilogue.bias = biasOf(anchor);
  return !epilogue.isInteger() || matchZeroPoints(epilogue, inside);
}

/// Returns whether the epilogue clips its result to the range of the 8-bit integer type, so that
/// the library may convert the result to this type.
bool isClippedToType(Type element, ArrayRef<EpilogueOp> steps) {
  if (!element.isInteger(8))
    return false;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = -kInfinity, high = kInfinity;
  for (const EpilogueOp &step : steps) {
    bool isRelu = step.is(Activation::Relu) && step.alpha == 0;
    if (isRelu || step.is(Activation::Clip)) {
      double from = isRelu ? 0 : step.alpha, to = isRelu ? kInfinity : step.beta;
      low = std::clamp(low, from, to);
      high = std::clamp(high, from, to);
    } else {
      low = -kInfinity, high = kInfinity;
    }
  }
  double least = element.isUnsignedInteger() ? 0 : -128;
  return low >= least && high <= least + 255;
}

/// Returns whether the library can store the contraction's result in this type. An f32 convolution
/// can only store the element type of its own result.
bool canStoreAs(const Epilogue &epilogue, Type type) {
  bool isSingle = isa<ConvOp, ConvTransposeOp>(epilogue.anchor) &&
                  typeOf(epilogue.anchor->getOperand(0)).getElementType().isF32();
  return isSingle ? typeOf(epilogue.anchor->getResult(0)).getElementType() ==
                        cast<RankedTensorType>(type).getElementType()
                  : isLibraryFloat(type);
}

/// Matches the addition of one i32 per channel to the i32 result of an integer matmul as an
/// epilogue op. Generated code adds it before the result is scaled; libraries would convert the
/// sums to f32 first.
std::optional<EpilogueOp> biasOfSums(Operation *user, Value sums, ArrayRef<int64_t> shape,
                                     int64_t channel, OpFilter inside) {
  if (!isa<AddOp>(user) || !sums.getDefiningOp() ||
      !sums.getDefiningOp()->hasAttr(kGeneratedSumsAttr))
    return std::nullopt;
  Value other = user->getOperand(user->getOperand(0) == sums ? 1 : 0);
  Operation *def = other.getDefiningOp();
  if ((def && inside(def)) || !isInt32(other.getType()) || !isPerChannel(other, shape, channel))
    return std::nullopt;
  EpilogueOp add;
  add.kind = EpilogueOp::Kind::Binary;
  add.operand = other;
  return add;
}

/// Matches the operations from the contraction's result to `result` as epilogue ops, and marks them
/// as used.
bool matchSteps(Epilogue &epilogue, Value result, OpFilter inside, bool gradients,
                llvm::DenseSet<Operation *> &used) {
  constexpr size_t kMaxEpilogueOps = 12;
  Value value = epilogue.anchor->getResult(0);
  int64_t channel = channelDim(epilogue.anchor);
  ArrayRef<int64_t> shape = shapeOf(value);
  const bool exact = requiresStrictAccuracy(epilogue.anchor);
  while (value != result) {
    if (epilogue.epilogueOps.size() > kMaxEpilogueOps)
      return false;
    // Activations are computed in f32, so that they are not matched on i32 sums of integer
    // contractions.
    bool isSum = isInt32(value.getType());
    std::optional<EpilogueMatch> step =
        isSum ? std::nullopt : matchActivation(value, inside, exact);
    if (!step && gradients && !isSum)
      step = matchGradient(value, inside);
    if (step) {
      for (EpilogueOp &epilogueOp : step->epilogueOps)
        appendEpilogueOp(epilogue.epilogueOps, epilogueOp, epilogue.anchor);
      used.insert(step->ops.begin(), step->ops.end());
      value = step->result;
      continue;
    }
    if (!value.hasOneUse() || !inside(*value.getUsers().begin()))
      return false;
    Operation *user = *value.getUsers().begin();
    if (auto bias = isSum ? biasOfSums(user, value, shape, channel, inside) : std::nullopt) {
      epilogue.epilogueOps.push_back(*bias);
      used.insert(user);
      value = user->getResult(0);
      continue;
    }
    bool negated = false;
    std::optional<EpilogueOp> binary =
        isSum ? std::nullopt : matchBinary(user, value, channel, inside, exact, negated, used);
    if (binary) {
      if (negated)
        appendEpilogueOp(epilogue.epilogueOps, makeActivation(Activation::Linear, -1),
                         epilogue.anchor);
      if (binary->is(EpilogueBinary::Add) && !epilogue.bias && epilogue.epilogueOps.empty() &&
          !epilogue.isInteger() && isPerChannel(binary->operand, shape, channel))
        epilogue.bias = binary->operand;
      else
        epilogue.epilogueOps.push_back(*binary);
    } else if (epilogue.isInteger() && isa<RoundOp>(user)) {
      epilogue.epilogueOps.push_back(makeActivation(Activation::Round));
    } else if (isa<TransposeOp, ReshapeOp>(user)) {
      break;
    } else if (!isa<CastOp>(user) || !(canStoreAs(epilogue, user->getResult(0).getType()) ||
                                       (epilogue.isInteger() &&
                                        isClippedToType(typeOf(user->getResult(0)).getElementType(),
                                                        epilogue.epilogueOps)))) {
      return false;
    }
    used.insert(user);
    value = user->getResult(0);
  }
  std::optional<StridedView> destination = matchStridedDestination(value, result);
  if (!destination || (isa<MatmulOp>(epilogue.anchor) && !isLibraryMatrix(*destination)))
    return false;
  for (Value v = result; v != value; v = v.getDefiningOp()->getOperand(0)) {
    if (!inside(v.getDefiningOp()) || (v != result && !v.hasOneUse()))
      return false;
    used.insert(v.getDefiningOp());
  }
  epilogue.destination = *destination;
  return true;
}

/// Returns whether the library, which computes the epilogue in f32, would skip a rounding of
/// `value` to 16 bits that the IR requires.
bool wouldSkipRounding(Value value, Operation *anchor, const llvm::DenseSet<Operation *> &members) {
  Operation *op = value.getDefiningOp();
  if (!op || !members.contains(op) || !isSixteenBitFloat(value.getType()))
    return false;
  bool isComputed = op == anchor || isElementwise(op);
  return (isComputed && isRoundedTo16Bits(value)) ||
         (op != anchor && commutesWithRounding(op) && llvm::any_of(op->getOperands(), [&](Value x) {
            return wouldSkipRounding(x, anchor, members);
          }));
}

/// Returns whether the library's fused kernel returns the same result as the operations `members`
/// with all roundings to 16 bits that the IR requires. This is so if a value whose rounding is
/// skipped is read only by operations that commute with rounding.
bool preservesRoundings(Operation *anchor, const llvm::DenseSet<Operation *> &members) {
  return llvm::all_of(members, [&](Operation *op) {
    return op == anchor || commutesWithRounding(op) ||
           llvm::none_of(op->getOperands(), [&](Value operand) {
             return wouldSkipRounding(operand, anchor, members);
           });
  });
}

} // namespace

bool Epilogue::isInteger() const { return isIntegerContraction(anchor); }

std::optional<Epilogue> matchEpilogue(ArrayRef<Operation *> ops, Value result, bool gradients) {
  llvm::DenseSet<Operation *> members(ops.begin(), ops.end());
  auto inside = [&](Operation *op) { return members.contains(op); };
  Epilogue epilogue;
  for (Operation *op : ops) {
    if (!isEpilogueAnchor(op))
      continue;
    if (epilogue.anchor)
      return std::nullopt;
    epilogue.anchor = op;
  }
  if (!epilogue.anchor)
    return std::nullopt;
  bool isInteger = isIntegerContraction(epilogue.anchor);
  bool isOfBytes = isa<MaxPoolOp>(epilogue.anchor) && isInt8(result.getType());
  if (!isInteger && !isOfBytes && !isLibraryFloat(result.getType()))
    return std::nullopt;
  for (Value operand : epilogue.anchor->getOperands())
    if (!isInteger && !(isOfBytes ? isInt8(operand.getType()) : isLibraryFloat(operand.getType())))
      return std::nullopt;
  llvm::DenseSet<Operation *> used{epilogue.anchor};
  if (!matchOperands(epilogue, inside))
    return std::nullopt;
  for (Value operand : epilogue.anchor->getOperands().take_front(2))
    markOperandViews(operand, inside, used);
  if (!matchSteps(epilogue, result, inside, gradients, used))
    return std::nullopt;
  bool isPool = classify(epilogue.anchor) == NodeClass::Pool;
  if (used.size() != members.size() || (isPool && members.size() > 1) ||
      !preservesRoundings(epilogue.anchor, members))
    return std::nullopt;
  return epilogue;
}

std::optional<Epilogue> matchEpilogue(FusionOp fusion, bool gradients) {
  Block &body = fusion.getBody().front();
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1)
    return std::nullopt;
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    if (!isa<ConstantOp>(op))
      ops.push_back(&op);
  return matchEpilogue(ops, yield->getOperand(0), gradients);
}

} // namespace dlc
