//===- Control.cpp - calls, branches and loops ----------------------------===//
// Control flow that is constant at import is resolved in this file: a branch on a constant is
// inlined, and a short loop with a constant trip count is unrolled.
#include "frontend/mlir/stablehlo/Importer.h"
#include "frontend/mlir/stablehlo/dialect/Attributes.h"

using namespace mlir;

namespace dlc::stablehlo {
namespace {

/// Maximum number of operations that result from unrolling a loop at import. Longer loops become a
/// dlc.loop.
constexpr int64_t maxUnrolled = 512;

void yield(Build &b, const Values &values) { YieldOp::create(b.b, b.getLoc(), ValueRange(values)); }

/// Runs f with the builder at the end of a new block of the region.
template <typename F> bool buildInRegion(Build &b, Region &region, F f) {
  OpBuilder::InsertionGuard guard(b.b);
  Block *block = new Block;
  region.push_back(block);
  b.b.setInsertionPointToEnd(block);
  return f(block) && b.ok();
}

void setResults(Node &n, const Values &values) {
  for (size_t i = 0; i < n.outs.size() && i < values.size(); ++i)
    n.set(i, values[i]);
}

//===--- Calls --------------------------------------------------------------------------------===//

void callFunction(Node &n, Build &b, StringRef callee) {
  Location loc = b.getLoc();
  std::string prefix = b.getPrefix();
  Values results;
  if (n.importer.call(callee, n.ins, results))
    setResults(n, results);
  b.setNode(loc, prefix);
}

void call(Node &n, Build &b) { callFunction(n, b, n.attr<FlatSymbolRefAttr>("callee").getValue()); }

void composite(Node &n, Build &b) {
  callFunction(n, b, n.attr<FlatSymbolRefAttr>("decomposition").getValue());
}

void identity(Node &n, Build &) { setResults(n, n.ins); }

//===--- Branches -----------------------------------------------------------------------------===//

/// Builds a dlc.if on the condition. The function `build` computes the results of a branch:
/// build(0, ..) of the then branch and build(1, ..) of the else branch.
Values branches(Node &n, Build &b, Value condition,
                llvm::function_ref<bool(int branch, Values &results)> build) {
  OperationState state(b.getLoc(), IfOp::getOperationName());
  state.addOperands(condition);
  state.addTypes(n.op->getResultTypes());
  for (int branch : {0, 1}) {
    Region *region = state.addRegion();
    bool good = buildInRegion(b, *region, [&](Block *) {
      Values results;
      if (!build(branch, results))
        return false;
      yield(b, results);
      return true;
    });
    if (!good)
      return {};
  }
  Operation *op = b.b.create(state);
  return Values(op->result_begin(), op->result_end());
}

void ifElse(Node &n, Build &b) {
  auto known = b.known(n.in(0));
  Values results;
  if (known && known->size() == 1)
    n.inlineRegion(known->getInt(0) ? 0 : 1, {}, results);
  else
    results = branches(n, b, n.in(0), [&](int branch, Values &values) {
      return n.inlineRegion(unsigned(branch), {}, values);
    });
  setResults(n, results);
}

/// Builds a chain of dlc.if that runs the region selected by the index, among the regions from
/// `first` on. An index out of range selects the last region.
bool buildCaseChain(Node &n, Build &b, unsigned first, Values &results) {
  if (first + 1 == n.op->getNumRegions())
    return n.inlineRegion(first, {}, results);
  Value isThis = b.compare(Predicate::eq, n.in(0), b.scalarInt(b.elem(n.in(0)), first));
  results = branches(n, b, isThis, [&](int branch, Values &values) {
    return branch == 0 ? n.inlineRegion(first, {}, values)
                       : buildCaseChain(n, b, first + 1, values);
  });
  return b.ok();
}

void importCase(Node &n, Build &b) {
  const unsigned regions = n.op->getNumRegions();
  if (!b.require(regions > 0, "required: at least one branch"))
    return;
  Values results;
  if (auto known = b.known(n.in(0)); known && known->size() == 1) {
    const int64_t index = known->getInt(0);
    n.inlineRegion(index < 0 || index >= regions ? regions - 1 : unsigned(index), {}, results);
  } else {
    buildCaseChain(n, b, 0, results);
  }
  setResults(n, results);
}

//===--- Loops ------------------------------------------------------------------------------===//

/// If the value is an argument of the block, returns the argument's number. Returns nothing
/// otherwise.
std::optional<unsigned> getArgumentNumber(Value value, Block &block) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || argument.getOwner() != &block)
    return std::nullopt;
  return argument.getArgNumber();
}

/// Returns the value of a scalar integer constant; nothing if the value is not one.
std::optional<int64_t> getScalarConstant(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getName().getStringRef() != "stablehlo.constant")
    return std::nullopt;
  auto elements = op->getAttrOfType<DenseIntElementsAttr>("value");
  if (!elements || elements.getNumElements() != 1)
    return std::nullopt;
  return (*elements.getValues<APInt>().begin()).getSExtValue();
}

/// Returns the constant trip count of a loop `for (i = constant; i < constant; i += constant)`, the
/// form in which JAX writes scan and fori_loop. Returns nothing for other loops.
std::optional<int64_t> computeTripCount(Node &n, Build &b) {
  Block &cond = n.op->getRegion(0).front(), &body = n.op->getRegion(1).front();
  if (!cond.mightHaveTerminator() || !body.mightHaveTerminator() ||
      cond.getTerminator()->getNumOperands() != 1)
    return std::nullopt;
  Operation *compare = cond.getTerminator()->getOperand(0).getDefiningOp();
  if (!compare || compare->getName().getStringRef() != "stablehlo.compare")
    return std::nullopt;
  auto direction = compare->getAttrOfType<DirectionAttr>("comparison_direction");
  auto counter = getArgumentNumber(compare->getOperand(0), cond);
  auto limit = getScalarConstant(compare->getOperand(1));
  if (!direction || direction.getValue() != Direction::LT || !counter || !limit ||
      *counter >= body.getTerminator()->getNumOperands())
    return std::nullopt;
  Operation *next = body.getTerminator()->getOperand(*counter).getDefiningOp();
  if (!next || next->getName().getStringRef() != "stablehlo.add" ||
      getArgumentNumber(next->getOperand(0), body) != counter)
    return std::nullopt;
  auto step = getScalarConstant(next->getOperand(1));
  auto init = b.known(n.in(*counter));
  if (!step || *step < 1 || !init || init->size() != 1)
    return std::nullopt;
  const int64_t distance = std::max<int64_t>(*limit - init->getInt(0), 0);
  return (distance + *step - 1) / *step;
}

int64_t countOperations(Region &region) {
  int64_t count = 0;
  region.walk([&](Operation *) { ++count; });
  return count;
}

/// Builds a dlc.loop: with a constant trip count if `trip` is given, otherwise with a condition
/// that the body computes.
void buildLoop(Node &n, Build &b, std::optional<int64_t> trip) {
  Value times = trip ? b.scalarInt(b.i64, *trip) : Value(), condition;
  Values first;
  if (!trip && n.inlineRegion(0, n.ins, first) && first.size() == 1)
    condition = first[0];
  if (!b.ok())
    return;
  Region region;
  bool good = buildInRegion(b, region, [&](Block *block) {
    block->addArgument(RankedTensorType::get({}, b.i64), b.getLoc());
    Values carried, results, next;
    for (Value value : n.ins)
      carried.push_back(block->addArgument(value.getType(), b.getLoc()));
    if (!n.inlineRegion(1, carried, results) || (!trip && !n.inlineRegion(0, results, next)))
      return false;
    next.insert(next.end(), results.begin(), results.end());
    yield(b, next);
    return true;
  });
  if (!good)
    return;
  auto loop = LoopOp::create(b.b, b.getLoc(), n.op->getResultTypes(), times, condition, n.ins);
  loop.getBody().takeBody(region);
  setResults(n, Values(loop->result_begin(), loop->result_end()));
}

void whileLoop(Node &n, Build &b) {
  auto trip = computeTripCount(n, b);
  if (!trip || *trip > maxUnrolled || *trip * countOperations(n.op->getRegion(1)) > maxUnrolled)
    return buildLoop(n, b, trip);
  Values carried = n.ins;
  for (int64_t i = 0; i < *trip; ++i) {
    Values next;
    if (!n.inlineRegion(1, carried, next))
      return;
    carried = next;
  }
  setResults(n, carried);
}

const OperatorEntry table[] = {
    {"func.call", call},
    {"sdy.sharding_constraint", identity},
    {"stablehlo.case", importCase},
    {"stablehlo.composite", composite},
    {"stablehlo.if", ifElse},
    {"stablehlo.optimization_barrier", identity},
    {"stablehlo.while", whileLoop},
};

} // namespace

ArrayRef<OperatorEntry> controlEntries() { return table; }

} // namespace dlc::stablehlo
