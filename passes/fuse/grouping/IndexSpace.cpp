//===- IndexSpace.cpp - index maps of the values that a kernel computes ----===//
#include "passes/fuse/grouping/IndexSpace.h"
#include "ir/dlc/Shape.h"
#include "passes/fuse/analysis/MonotonicGather.h"
#include "passes/layout/Tag.h"

using namespace mlir;

namespace dlc {
namespace {

constexpr int rootMap = 0;
/// Maximum number of cheap operations that one kernel computes redundantly (more often than they
/// have elements).
constexpr int maxRedundantOps = 8;

SmallVector<int64_t> toVector(ArrayRef<int64_t> shape) { return llvm::to_vector(shape); }

int64_t elements(Value value) { return staticElements(typeOf(value)); }

/// Returns whether each element is reduced from one contiguous run of memory, so that further
/// operations on this row find it in the cache. Returns false for a few long rows, which exceed the
/// cache and occupy few cores.
bool reducesContiguousRuns(ReduceOp op) {
  constexpr int64_t few = 4, longRow = 32768;
  ArrayRef<int64_t> shape = shapeOf(op.getX());
  int64_t rows = elements(op.getY());
  if (rows > 0 && rows < few && elements(op.getX()) / rows >= longRow)
    return false;
  // Dimensions in memory order, as pairs of the size and whether the dimension is reduced.
  SmallVector<std::pair<int64_t, bool>> dims;
  auto take = [&](int64_t d, int64_t size) {
    dims.push_back({size, llvm::is_contained(op.getAxes(), d)});
  };
  StringRef tag = layoutOf(op.getX().getType());
  auto parsed = Tag::parse(tag);
  if (tag.empty() || !parsed) {
    for (auto [d, size] : llvm::enumerate(shape))
      take(d, size);
  } else {
    for (int64_t d : parsed->order)
      take(d, d == parsed->blockedDim ? (shape[d] + parsed->block - 1) / parsed->block : shape[d]);
    if (parsed->blockedDim >= 0)
      take(parsed->blockedDim, parsed->block);
  }
  bool reduced = false;
  for (auto [size, isReduced] : dims) {
    if (size == 1)
      continue;
    if (reduced && !isReduced)
      return false;
    reduced |= isReduced;
  }
  return true;
}

} // namespace

IndexSpace::IndexSpace(Operation *root) {
  rootShape = toVector(shapeOf(root->getResult(0)));
  Place place;
  place.maps.push_back(rootMap);
  places[root] = place;
  if (auto reduce = dyn_cast<ReduceOp>(root))
    setReduce(reduce, rootMap);
}

IndexSpace::IndexSpace(ArrayRef<int64_t> shape, ReduceOp reduce) : rootShape(toVector(shape)) {
  if (reduce)
    setReduce(reduce, derived(rootMap, toVector(shapeOf(reduce.getY())), nullptr, -1));
}

int IndexSpace::rootMapOf(Operation *op) const {
  Shape shape = toVector(shapeOf(op->getResult(0)));
  if (isa<ReduceOp>(op) ? hasReduce && shape == rowShape : shape == rootShape)
    return isa<ReduceOp>(op) ? rowMap : rootMap;
  return hasReduce && shape == rowShape ? rowMap : -1;
}

bool IndexSpace::acceptsRoot(Operation *op) const {
  int map = rootMapOf(op);
  if (map < 0)
    return false;
  Place place;
  place.maps.push_back(map);
  auto reduce = dyn_cast<ReduceOp>(op);
  return !reduce || acceptsReduce(reduce, place);
}

void IndexSpace::addRoot(Operation *op) { places[op].maps.push_back(rootMapOf(op)); }

void IndexSpace::setReduce(ReduceOp op, int row) {
  hasReduce = true;
  fullShape = toVector(shapeOf(op.getX()));
  rowShape = toVector(shapeOf(op.getY()));
  axes = toVector(op.getAxes());
  rowMap = row;
  fullMap = rootShape == fullShape ? rootMap : derived(rootMap, fullShape, nullptr, -1);
}

int IndexSpace::derived(int map, const Shape &shape, Operation *by, int operand) const {
  auto key = std::make_tuple(map, std::vector<int64_t>(shape.begin(), shape.end()), by, operand);
  return numbers.try_emplace(key, int(numbers.size()) + 1).first->second;
}

IndexSpace::Place IndexSpace::placeOf(Operation *op, ArrayRef<Operation *> usersInside) const {
  Place place;
  auto addMap = [&](int map) {
    if (!llvm::is_contained(place.maps, map))
      place.maps.push_back(map);
  };
  for (Operation *user : usersInside) {
    const Place &at = places.find(user)->second;
    for (OpOperand &operand : user->getOpOperands()) {
      Value value = operand.get();
      if (value.getDefiningOp() != op)
        continue;
      Shape shape = toVector(shapeOf(value));
      if (isa<ReduceOp>(user)) {
        addMap(fullMap);
        continue;
      }
      bool sameShape = shapeOf(user->getResult(0)) == ArrayRef<int64_t>(shape);
      bool stretched = elements(user->getResult(0)) > elements(value);
      for (int map : at.maps) {
        place.stretched |= stretched || at.stretched;
        if (isElementwise(user) && sameShape) {
          addMap(map);
          place.redundant |= at.redundant;
          continue;
        }
        // The derived index map of a broadcast depends only on the user's index map and on the
        // value's shape, so that different users share it. The index map of any other read also
        // depends on the user and its operand.
        bool broadcasts = isElementwise(user) || isa<BroadcastOp>(user);
        int own = broadcasts ? derived(map, shape, nullptr, -1)
                             : derived(map, shape, user, int(operand.getOperandNumber()));
        addMap(own);
        place.redundant |= (at.redundant || stretched) && own != rowMap;
      }
    }
  }
  return place;
}

bool IndexSpace::acceptsReduce(ReduceOp op, const Place &place) const {
  Shape full = toVector(shapeOf(op.getX())), row = toVector(shapeOf(op.getY()));
  if (!op.getKeepdims() || place.maps.size() != 1 ||
      (place.stretched && !reducesContiguousRuns(op)))
    return false;
  int map = place.maps.front();
  if (hasReduce)
    return full == fullShape && row == rowShape && toVector(op.getAxes()) == axes && map == rowMap;
  if (rootShape == row)
    return map == rootMap;
  return rootShape == full && map == derived(rootMap, row, nullptr, -1);
}

ReduceOp IndexSpace::upcomingReduce(Operation *op, const Place &place) const {
  Shape row = toVector(shapeOf(op->getResult(0)));
  if (hasReduce || place.maps.size() != 1 ||
      place.maps.front() != derived(rootMap, row, nullptr, -1))
    return {};
  SmallVector<Operation *> work{op};
  for (int steps = 0; !work.empty() && steps < 16; ++steps) {
    Operation *next = work.pop_back_val();
    auto reduce = dyn_cast<ReduceOp>(next);
    if (reduce && reduce.getKeepdims() && reducesContiguousRuns(reduce) &&
        shapeOf(reduce.getX()) == ArrayRef<int64_t>(rootShape))
      return reduce;
    if (!isElementwise(next))
      continue;
    for (Value operand : next->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && def->getBlock() == op->getBlock() && shapeOf(operand) == ArrayRef<int64_t>(row))
        work.push_back(def);
  }
  return {};
}

bool IndexSpace::accepts(Operation *op, ArrayRef<Operation *> usersInside, bool asOutput) const {
  Place place = placeOf(op, usersInside);
  Shape shape = toVector(shapeOf(op->getResult(0)));
  if (asOutput) {
    // An output is stored once, at its own index. Its shape must be the kernel's shape, or the
    // operand's or result's shape of the kernel's reductions.
    if (place.maps.size() != 1 || place.redundant)
      return false;
    int map = place.maps.front();
    bool own = (map == rootMap && shape == rootShape) ||
               (hasReduce &&
                ((map == fullMap && shape == fullShape) || (map == rowMap && shape == rowShape))) ||
               (isa<ReduceOp>(op) && !hasReduce);
    if (!own)
      return false;
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return acceptsReduce(reduce, place);
  auto gather = dyn_cast<GatherOp>(op);
  bool cheap = isCheapMath(op) || isMovement(op) || (gather && isMonotonic(gather)) ||
               elements(op->getResult(0)) == 1;
  if (place.maps.size() > (cheap ? 2u : 1u))
    return false;
  if (place.redundant)
    return upcomingReduce(op, place) || (cheap && redundantOps < maxRedundantOps);
  return true;
}

void IndexSpace::add(Operation *op, ArrayRef<Operation *> usersInside) {
  Place place = placeOf(op, usersInside);
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    if (!hasReduce)
      setReduce(reduce, place.maps.front());
    place.redundant = false;
  } else if (ReduceOp upcoming = place.redundant ? upcomingReduce(op, place) : ReduceOp()) {
    setReduce(upcoming, place.maps.front());
    place.redundant = false;
  }
  redundantOps += place.redundant;
  places[op] = std::move(place);
}

} // namespace dlc
