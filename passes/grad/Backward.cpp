//===- Backward.cpp - one reverse-mode pass over operations ---------------===//
#include "passes/grad/Backward.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Shape.h"
#include "passes/grad/Rules.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace dlc::grad {

/// Returns the location "gradient of conv1" for a forward operation named "conv1".
static Location backwardLocation(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  if (!name || name.getName().strref().starts_with("gradient of "))
    return loc;
  return NameLoc::get(StringAttr::get(loc.getContext(), "gradient of " + name.getName().getValue()),
                      loc);
}

/// Copies the `dlc.precision` attribute of an operation to all operations that are created in its
/// place or for its gradient while this object exists.
class PrecisionScope {
public:
  PrecisionScope(Operation *from, OpBuilder &builder)
      : asked(from->getAttr(kPrecisionAttr)), builder(builder) {
    Block::iterator here = builder.getInsertionPoint();
    if (here != builder.getInsertionBlock()->begin())
      before = &*std::prev(here);
  }
  ~PrecisionScope() {
    if (!asked)
      return;
    Block *block = builder.getInsertionBlock();
    for (Operation &op :
         llvm::make_range(before ? std::next(before->getIterator()) : block->begin(),
                          builder.getInsertionPoint()))
      op.setAttr(kPrecisionAttr, asked);
  }

private:
  Attribute asked;
  OpBuilder &builder;
  Operation *before = nullptr;
};

static LogicalResult requireStaticShapes(Operation *op) {
  for (Value value : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (auto type = dyn_cast<RankedTensorType>(value.getType()); type && !type.hasStaticShape())
      return op->emitError("has no gradient for a dynamic shape: found ")
             << type << "; give the inputs' shapes (--shape NAME=1x3x224x224)";
  return success();
}

SmallVector<Operation *> BackwardPass::operations(Block *within) const {
  SmallVector<Operation *> ops;
  Block *block = builder.getInsertionBlock();
  Block::iterator end = builder.getInsertionPoint();
  while (true) {
    for (Operation &op : llvm::reverse(llvm::make_range(block->begin(), end)))
      ops.push_back(&op);
    Operation *parent = block->getParentOp();
    if (block == within || !parent || isa<FunctionOpInterface>(parent) || !parent->getBlock())
      break;
    block = parent->getBlock();
    end = parent->getIterator();
  }
  return llvm::to_vector(llvm::reverse(ops));
}

Value BackwardPass::latest(Value value) const {
  for (auto it = replaced.find(value); it != replaced.end(); it = replaced.find(value))
    value = it->second;
  return value;
}

void BackwardPass::replace(Operation *op, ValueRange values) {
  for (auto [before, after] : llvm::zip_equal(op->getResults(), values)) {
    if (!after)
      continue;
    before.replaceAllUsesWith(after);
    replaced[before] = after;
    if (Value gradient = gradients.lookup(before))
      gradients[after] = gradient;
  }
  // Replaced operations are erased at the end of the pass. If they were erased earlier, a new value
  // could get the address of an erased value, which is still a key of maps.
  dead.push_back(op);
}

bool BackwardPass::open(ArrayRef<Operation *> ops) {
  bool opened = false;
  for (Operation *op : ops) {
    const GradientRules::Opening *opening = rules.findOpening(op);
    if (!opening || !activity->isActive(op) || llvm::is_contained(dead, op))
      continue;
    OpBuilder here(op);
    TensorBuilder forward(here, op->getLoc());
    PrecisionScope heir(op, here);
    SmallVector<Value> values = (*opening)(op, forward);
    if (values.empty())
      continue;
    replace(op, values);
    opened = true;
  }
  return opened;
}

void BackwardPass::moveTo(Location loc) {
  where = loc;
  tensors.emplace(builder, loc);
}

FailureOr<SmallVector<Value>> BackwardPass::run(const GradientRequest &question) {
  SmallVector<Value> ys(question.ys), xs(question.xs);
  SmallVector<Operation *> ops;
  do {
    for (SmallVector<Value> *values : {&ys, &xs})
      for (Value &value : *values)
        value = latest(value);
    ops = operations(question.within);
    activity.emplace(rules, ops, ys, xs);
  } while (open(ops));
  moveTo(question.location);
  for (auto [y, seed] : llvm::zip_equal(ys, question.seeds))
    if (activity->isActive(y))
      accumulate(y, seed);
  LogicalResult done = success();
  for (Operation *op : llvm::reverse(ops))
    if (activity->isActive(op) && failed(done = apply(op)))
      break;
  SmallVector<Value> results;
  moveTo(question.location);
  if (succeeded(done))
    for (Value x : xs)
      results.push_back(of(latest(x)));
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  if (failed(done))
    return failure();
  return results;
}

LogicalResult BackwardPass::apply(Operation *op) {
  moveTo(backwardLocation(op->getLoc()));
  // If the gradients of all results are 0 (null), the gradients of the operands are 0, too, and no
  // rule is applied.
  if (llvm::none_of(op->getResults(), [&](Value result) { return bool(of(result)); }))
    return success();
  const GradientRules::Rule *rule = rules.find(op);
  if (!rule)
    return op->emitError("'")
           << op->getName()
           << "' is on the path from the loss to a differentiated value, but has no gradient; "
              "compute this value in another way, or leave it out of the loss";
  if (failed(requireStaticShapes(op)))
    return failure();
  PrecisionScope heir(op, builder);
  return (*rule)(op, *this);
}

Expr BackwardPass::of(Value result) {
  if (auto it = partial.find(result); it != partial.end()) {
    SmallVector<Part> parts = std::move(it->second);
    partial.erase(it);
    accumulate(result, joined(result, std::move(parts)));
  }
  return {*tensors, gradients.lookup(result)};
}

void BackwardPass::accumulate(Value value, Value gradient) {
  Value &sum = gradients[value];
  sum = sum ? tensors->make<AddOp>(sum, gradient) : gradient;
}

void BackwardPass::add(Value operand, function_ref<Value()> gradient) {
  if (!needsGradient(operand))
    return;
  if (Value value = gradient()) {
    RankedTensorType type = typeOf(operand);
    accumulate(operand, Expr(*tensors, value).fit(staticShape(type)).cast(type.getElementType()));
  }
}

void BackwardPass::addPart(Value operand, ArrayRef<int64_t> start, function_ref<Value()> gradient) {
  if (needsGradient(operand))
    partial[operand].push_back({SmallVector<int64_t>(start), gradient()});
}

/// Returns the only dimension in which a slice of shape `part` is smaller than the whole tensor, or
/// -1 if there is no such single dimension.
static int64_t findSlicedAxis(ArrayRef<int64_t> part, ArrayRef<int64_t> whole) {
  int64_t axis = -1;
  for (auto [d, size] : llvm::enumerate(part)) {
    if (size == whole[d])
      continue;
    if (axis >= 0)
      return -1;
    axis = int64_t(d);
  }
  return axis;
}

Expr BackwardPass::joined(Value value, SmallVector<Part> parts) {
  ArrayRef<int64_t> whole = shapeOf(value);
  // Slices that cover one dimension without gaps are concatenated. Other slices are padded to the
  // whole shape and added.
  int64_t axis = findSlicedAxis(shapeOf(parts.front().gradient), whole), end = 0;
  bool tiles = axis >= 0;
  if (tiles)
    llvm::stable_sort(parts,
                      [&](const Part &a, const Part &b) { return a.start[axis] < b.start[axis]; });
  for (const Part &part : parts) {
    tiles =
        tiles && findSlicedAxis(shapeOf(part.gradient), whole) == axis && part.start[axis] == end;
    end += tiles ? shapeOf(part.gradient)[axis] : 0;
  }
  if (tiles && end == whole[axis]) {
    SmallVector<Value> values;
    for (const Part &part : parts)
      values.push_back(part.gradient);
    return concat(values, axis, *tensors);
  }
  Expr sum;
  for (const Part &part : parts) {
    Expr gradient(*tensors, part.gradient);
    SmallVector<int64_t> high;
    for (auto [d, size] : llvm::enumerate(gradient.shape()))
      high.push_back(whole[d] - part.start[d] - size);
    Expr padded = gradient.pad(part.start, high);
    sum = sum ? sum + padded : padded;
  }
  return sum;
}

} // namespace dlc::grad
