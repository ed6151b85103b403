//===- Rewrite.cpp - rewrites a function for execution on each rank -------===//
#include "passes/share/Rewrite.h"

#include "ir/dlc/Attributes.h"
#include "passes/share/Parts.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace dlc::share {

namespace {

class RankRewriter {
public:
  RankRewriter(func::FuncOp function, const ProgramShares &shares)
      : function(function), shares(shares), old(function.front()), ranks(shares.ranks),
        builder(function.getContext()) {}

  void run() {
    Block *body = new Block;
    function.getBody().push_back(body);
    builder.setInsertionPointToEnd(body);
    for (BlockArgument argument : old.getArguments()) {
      const Share share = shares.values.lookup(argument);
      RankedTensorType type = typeOf(argument);
      made[argument].push_back(
          {share, body->addArgument(partType(type, share, ranks), argument.getLoc())});
      describe(share, function.getArgAttrDict(argument.getArgNumber()),
               [&](DictionaryAttr attributes) {
                 function.setArgAttrs(argument.getArgNumber(), attributes);
               });
    }
    for (Operation &op : old.without_terminator())
      visit(op);
    finish(*body);
  }

private:
  struct Made {
    Share share;
    Value value;
  };

  /// Replaces the attribute `dlc.split`, which requests a split, by `dlc.part`, which describes the
  /// part.
  void describe(const Share &share, DictionaryAttr given,
                function_ref<void(DictionaryAttr)> set) const {
    NamedAttrList attributes(given);
    attributes.erase(kSplitAttr);
    if (share.isSplit())
      attributes.set(kPartAttr, DenseI64ArrayAttr::get(builder.getContext(),
                                                       {share.dimension, ranks, share.blocks}));
    set(attributes.getDictionary(builder.getContext()));
  }

  Value find(Value value, const Share &wanted) {
    for (const Made &each : made[value])
      if (each.share.isLike(wanted))
        return each.value;
    return {};
  }

  /// Returns the value in the distribution `wanted`. Conversions are cached, so that all users
  /// share them.
  Value as(Value value, const Share &wanted) {
    if (Value known = find(value, wanted))
      return known;
    const Share have = shares.values.lookup(value);
    PartBuilder parts(builder, value.getLoc(), ranks);
    Value result;
    if (have.isTerms() && wanted.isWhole())
      result = parts.reduce(ReduceKind::sum, find(value, have));
    else if (have.isSplit() && wanted.isWhole())
      result = parts.gather(find(value, have), have);
    else if (!have.isWhole())
      result = parts.part(as(value, {}), wanted);
    else if (!(result = madeInParts(value, wanted)))
      result = parts.part(find(value, have), wanted);
    made[value].push_back({wanted, result});
    return result;
  }

  /// Computes this rank's part of a value directly if that is less work than extracting it from the
  /// whole value: for splats, broadcasts and elementwise operations. Returns null for other
  /// operations.
  Value madeInParts(Value value, const Share &wanted) {
    Operation *op = value.getDefiningOp();
    RankedTensorType type = partType(typeOf(value), wanted, ranks);
    if (auto constant = dyn_cast_or_null<ConstantOp>(op)) {
      auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!dense || !dense.isSplat())
        return {};
      return ConstantOp::create(builder, op->getLoc(), cast<ElementsAttr>(dense.resizeSplat(type)));
    }
    const bool isStretched = isa_and_nonnull<BroadcastOp>(op);
    if (!isStretched && !(op && op->hasTrait<Elementwise>() && value.hasOneUse()))
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      int64_t d = wanted.dimension - (type.getRank() - typeOf(operand).getRank());
      const bool isPart = d >= 0 && shapeOf(operand)[size_t(d)] > 1;
      operands.push_back(
          as(operand, isPart ? Share::split(d, wanted.blocks, wanted.origin) : Share()));
    }
    return clone(*op, operands, type)->getResult(0);
  }

  Operation *clone(Operation &op, ArrayRef<Value> operands, TypeRange types) {
    IRMapping map;
    for (auto [from, to] : llvm::zip(op.getOperands(), operands))
      map.map(from, to);
    for (Region &region : op.getRegions()) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(region, captured);
      for (Value value : captured)
        map.map(value, as(value, {}));
    }
    Operation *result = builder.clone(op, map);
    // The operands of the clone are set explicitly: one value may be several operands with
    // different distributions, which an IRMapping cannot express.
    result->setOperands(operands);
    for (auto [value, type] : llvm::zip(result->getResults(), types))
      value.setType(type);
    return result;
  }

  void visit(Operation &op) {
    const OpShares &how = shares.operations.find(&op)->second;
    SmallVector<Value> operands;
    for (auto [operand, needed] : llvm::zip(op.getOperands(), how.operands))
      operands.push_back(as(operand, needed));
    PartBuilder parts(builder, op.getLoc(), ranks);
    if (how.divided)
      operands[*how.divided] = parts.divide(operands[*how.divided]);
    SmallVector<Value> results;
    if (how.byRows) {
      auto gather = dyn_cast<GatherOp>(op);
      results.push_back(gather ? parts.lookUp(operands[0], operands[1], int64_t(gather.getAxis()))
                               : parts.addRows(operands[0], operands[1], operands[2]));
    } else {
      SmallVector<Type> types;
      for (auto [result, share] : llvm::zip(op.getResults(), how.results))
        types.push_back(partType(typeOf(result),
                                 how.after == Completion::Gather ? how.gathered : share, ranks));
      Operation *local = clone(op, operands, types);
      fitSizes(local, op);
      llvm::append_range(results, local->getResults());
    }
    if (how.after == Completion::Divide)
      results[0] = parts.divide(results[0]);
    else if (how.after == Completion::Greatest)
      results[0] = parts.reduce(ReduceKind::max, results[0]);
    else if (how.after == Completion::Gather)
      results[0] = parts.gather(results[0], how.gathered);
    for (auto [result, share, value] : llvm::zip(op.getResults(), how.results, results))
      made[result].push_back({share, value});
  }

  /// Adjusts the sizes in the attributes of slices and pads, which describe the whole tensor, to
  /// this rank's part.
  void fitSizes(Operation *local, Operation &op) const {
    auto slice = dyn_cast<SliceOp>(local);
    auto pad = dyn_cast<PadOp>(local);
    if (!slice && !pad)
      return;
    ArrayRef<int64_t> whole = shapeOf(op.getOperand(0)), part = shapeOf(local->getOperand(0));
    auto fitted = [&](ArrayRef<int64_t> sizes) {
      SmallVector<int64_t> result(sizes);
      for (auto [d, size] : llvm::enumerate(result))
        if (whole[d] != part[d])
          size /= ranks;
      return result;
    };
    if (slice) {
      slice.setStart(fitted(slice.getStart()));
      slice.setSize(fitted(slice.getSize()));
    } else {
      pad.setLow(fitted(pad.getLow()));
      pad.setHigh(fitted(pad.getHigh()));
    }
  }

  void finish(Block &body) {
    SmallVector<Value> results;
    for (auto [i, value] : llvm::enumerate(old.getTerminator()->getOperands())) {
      const Share &share = shares.results[i];
      results.push_back(as(value, share));
      describe(share, function.getResultAttrDict(unsigned(i)), [&](DictionaryAttr attributes) {
        function.setResultAttrs(unsigned(i), attributes);
      });
    }
    func::ReturnOp::create(builder, old.getTerminator()->getLoc(), results);
    old.dropAllReferences();
    old.erase();
    function.setFunctionType(FunctionType::get(function.getContext(), body.getArgumentTypes(),
                                               TypeRange(ValueRange(results))));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  func::FuncOp function;
  const ProgramShares &shares;
  Block &old;
  int64_t ranks;
  OpBuilder builder;
  DenseMap<Value, SmallVector<Made, 2>> made;
};

} // namespace

void rewriteForRanks(func::FuncOp function, const ProgramShares &shares) {
  RankRewriter(function, shares).run();
}

} // namespace dlc::share
