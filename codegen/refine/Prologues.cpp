//===- Prologues.cpp - computes values that only matmuls read while they are packed ---===//
//
//   kernel -> x -> views -> matmul          x' -> matmul (with the kernel's ops)
//
//===----------------------------------------------------------------------===//
#include "codegen/providers/Product.h"
#include "codegen/refine/Patterns.h"
#include "passes/fuse/analysis/Classify.h"

#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace dlc {

namespace {

/// Alternative in which the matmuls that read a result of a kernel compute this result themselves,
/// as a prologue.
class AbsorbedPrologue : public KernelAlternative {
public:
  AbsorbedPrologue(FusionOp maker, unsigned number, const Refinement &refinement)
      : maker(maker), number(number), refinement(refinement),
        yield(maker.getBody().front().getTerminator()), made(yield->getOperand(number)) {}

  bool build() {
    if (!isWorthALook() || !findReaders(maker.getResult(number)) || products.empty() ||
        !slice(made) || !x)
      return false;
    findSums();
    buildKernels();
    if (fresh.empty())
      drop();
    return !fresh.empty();
  }

  void drop() override {
    for (FusionOp product : llvm::reverse(fresh))
      product.erase();
    if (rest)
      rest.erase();
  }

private:
  bool isWorthALook() const {
    auto type = typeOf(made);
    Operation *op = made.getDefiningOp();
    return op && isElementwise(op) && type.getRank() >= 2 && type.getElementType().isF32() &&
           layoutOf(type).empty() && shapeOf(made).back() > 1 &&
           llvm::count(yield->getOperands(), made) == 1;
  }

  /// Collects the readers of the kernel's result: matmuls that support a prologue, and at most one
  /// column sum. Returns false if there is any other reader.
  bool findReaders(Value v) {
    for (OpOperand &use : v.getUses()) {
      Operation *user = use.getOwner();
      if (user->getBlock() != maker->getBlock())
        return false;
      if (auto reshape = dyn_cast<ReshapeOp>(user)) {
        if (shapeOf(reshape.getY()).empty() ||
            shapeOf(reshape.getY()).back() != shapeOf(made).back() || !findReaders(reshape.getY()))
          return false;
        continue;
      }
      auto fusion = dyn_cast<FusionOp>(user);
      if (!fusion)
        return false;
      if (ReduceOp sum = matchSingleColumnSum(fusion)) {
        if (outerSum)
          return false;
        outerSum = fusion;
        continue;
      }
      if (!hasMatmul(fusion) || !fusesPrologue(fusion) || llvm::count(fusion.getInputs(), v) != 1)
        return false;
      products.push_back({fusion, use.getOperandNumber()});
    }
    return true;
  }

  /// Finds a reduction in the kernel that sums the absorbed value over all dimensions but the last
  /// and that only the kernel's results use. A matmul then computes this sum, too.
  void findSums() {
    for (Operation *user : made.getUsers())
      if (ReduceOp sum = matchColumnSum(user); sum && !outerSum && !innerSum &&
                                               sum.getY().hasOneUse() &&
                                               *sum.getY().getUsers().begin() == yield)
        innerSum = sum;
  }

  /// Collects the elementwise ops that compute `v` from one tensor of the same shape (`x`) and from
  /// values with one element per row (`rows`). Returns false if `v` depends on other values.
  bool slice(Value v) {
    if (splatValue(v))
      return true;
    bool isFull = shapeOf(v) == shapeOf(made);
    if (!isFull && (shapeOf(v).empty() || shapeOf(v).back() == 1)) {
      rows.insert(v);
      return true;
    }
    if (isa<BlockArgument>(v)) {
      if (!isFull || (x && x != v))
        return false;
      x = v;
      return true;
    }
    Operation *op = v.getDefiningOp();
    if (!isa<IotaOp>(op) && (!isFull || !isElementwise(op)))
      return false;
    if (!ops.contains(op)) {
      for (Value operand : op->getOperands())
        if (!slice(operand))
          return false;
      ops.insert(op);
    }
    return true;
  }

  /// Builds the fusions that replace the kernel `maker` and its readers. Matmuls that read the
  /// kernel's result `made` compute it in their prologues. `rest` computes the other results of the
  /// kernel, if there are any.
  void buildKernels() {
    OpBuilder b(maker);
    SmallVector<Value> kept; // values that the remaining kernel (`rest`) yields
    for (Value v : yield->getOperands())
      if (v != made && !(innerSum && v == innerSum.getY()))
        kept.push_back(v);
    for (Value row : rows)
      if (!isa<BlockArgument>(row) && !llvm::is_contained(kept, row))
        kept.push_back(row);
    if (!kept.empty()) {
      rest = cast<FusionOp>(b.clone(*maker));
      Operation *end = rest.getBody().front().getTerminator();
      IRMapping map;
      for (auto [from, to] :
           llvm::zip(maker.getBody().getArguments(), rest.getBody().getArguments()))
        map.map(from, to);
      for (auto [from, to] : llvm::zip(maker.getBody().front(), rest.getBody().front()))
        for (auto [result, copy] : llvm::zip(from.getResults(), to.getResults()))
          map.map(result, copy);
      SmallVector<Value> yielded;
      SmallVector<Type> types;
      for (Value v : kept) {
        yielded.push_back(map.lookupOrDefault(v));
        types.push_back(v.getType());
      }
      end->setOperands(yielded);
      auto narrowed = FusionOp::create(b, rest.getLoc(), types, rest.getInputs());
      narrowed->setAttrs(rest->getAttrs());
      narrowed.getBody().takeBody(rest.getBody());
      rest.erase();
      rest = narrowed;
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(rest.getBody().front())))
        if (isOpTriviallyDead(&op))
          op.erase();
      for (auto [i, v] : llvm::enumerate(kept))
        outer[v] = rest.getResult(i);
    }
    for (BlockArgument argument : maker.getBody().getArguments())
      outer[argument] = maker.getInputs()[argument.getArgNumber()];
    bool wantsSums = outerSum || innerSum;
    for (auto [product, operand] : products) {
      FusionOp made;
      if (wantsSums && (made = buildProduct(product, operand, true)))
        wantsSums = false;
      else
        made = buildProduct(product, operand, false);
      if (!made)
        break;
      fresh.push_back(made);
    }
    if (fresh.size() < products.size() || wantsSums) {
      for (FusionOp product : fresh)
        product.erase();
      fresh.clear();
    }
  }

  /// Builds the matmul with a prologue that computes its input `operand`. `withSums`: it also
  /// yields the column sums of this operand. Returns null if the matmul's kernel does not support
  /// the prologue.
  FusionOp buildProduct(FusionOp product, unsigned operand, bool withSums) {
    OpBuilder b(product);
    SmallVector<Value> inputs(product.getInputs());
    inputs[operand] = outer[x];
    SmallVector<unsigned> places;
    for (Value row : rows) {
      auto *at = llvm::find(inputs, outer[row]);
      places.push_back(at - inputs.begin());
      if (at == inputs.end())
        inputs.push_back(outer[row]);
    }
    SmallVector<Type> types(product.getResultTypes());
    ReduceOp sum = innerSum ? innerSum : outerSum ? matchSingleColumnSum(outerSum) : ReduceOp();
    if (withSums)
      types.push_back(sum.getY().getType());
    auto made = FusionOp::create(b, product.getLoc(), types, inputs);
    made->setAttrs(product->getAttrs());
    Block &body = made.getBody().empty() ? made.getBody().emplaceBlock() : made.getBody().front();
    body.clear();
    for (Value input : inputs)
      body.addArgument(input.getType(), input.getLoc());
    b.setInsertionPointToEnd(&body);
    IRMapping map;
    map.map(x, body.getArgument(operand));
    for (auto [row, place] : llvm::zip(rows, places))
      map.map(row, body.getArgument(place));
    auto cloned = [&](Operation *op) {
      for (Value v : op->getOperands())
        if (Operation *constant = v.getDefiningOp<ConstantOp>(); constant && !map.contains(v))
          b.clone(*constant, map);
      return b.clone(*op, map);
    };
    for (Operation *op : ops)
      cloned(op);
    Value value = map.lookup(this->made);
    auto shaped = [&](Type type) {
      return type == value.getType() ? value
                                     : Value(ReshapeOp::create(b, product.getLoc(), type, value));
    };
    Value sums;
    if (withSums) {
      map.map(sum.getX(), shaped(sum.getX().getType()));
      sums = b.clone(*sum, map)->getResult(0);
    }
    Block &old = product.getBody().front();
    for (BlockArgument argument : old.getArguments())
      map.map(argument, argument.getArgNumber() == operand
                            ? shaped(argument.getType())
                            : Value(body.getArgument(argument.getArgNumber())));
    for (Operation &op : old.without_terminator())
      b.clone(op, map);
    SmallVector<Value> yielded;
    for (Value v : old.getTerminator()->getOperands())
      yielded.push_back(map.lookup(v));
    if (sums)
      yielded.push_back(sums);
    YieldOp::create(b, product.getLoc(), yielded);
    if (auto prologue = matchPrologue(made);
        prologue && describeLibraryCall(made, refinement.options.selection.threads)) {
      exponential |= prologue->exponential;
      return made;
    }
    made.erase();
    return {};
  }

public:
  double savedTime() const override {
    // Kernels requested by --kernels are used wherever they support the prologue, regardless of the
    // cost.
    for (auto &[product, operand] : products)
      if (matchesProviderName(refinement.options.kernels, *findProvider(product)))
        return 1;
    double before = estimate(maker) + (outerSum ? estimate(outerSum) : 0),
           after = rest ? estimate(rest) : 0;
    return before - after -
           double(fresh.size()) *
               refinement.cost.prologue(double(typeOf(made).getNumElements()), exponential);
  }

  void commit(Refinement &refinement) override {
    Value sums;
    for (auto [product, replacement] : llvm::zip(products, fresh)) {
      for (auto [from, to] : llvm::zip(product.first.getResults(), replacement.getResults()))
        from.replaceAllUsesWith(to);
      if (replacement.getNumResults() > product.first.getNumResults())
        sums = replacement.getResults().back();
    }
    if (outerSum)
      outerSum.getResult(0).replaceAllUsesWith(sums);
    for (auto [i, v] : llvm::enumerate(yield->getOperands())) {
      if (innerSum && v == innerSum.getY())
        maker.getResult(i).replaceAllUsesWith(sums);
      else if (v != made)
        maker.getResult(i).replaceAllUsesWith(outer[v]);
    }
    Block *block = maker->getBlock();
    if (outerSum)
      refinement.erase(outerSum);
    for (auto &[product, operand] : products)
      refinement.erase(product);
    SmallVector<Operation *> views(maker.getResult(number).getUsers());
    for (size_t i = 0; i < views.size(); ++i)
      views.append(views[i]->user_begin(), views[i]->user_end());
    for (Operation *view : llvm::reverse(views))
      view->erase();
    refinement.erase(maker);
    sortTopologically(block);
  }

private:
  static bool fusesPrologue(FusionOp fusion) {
    const Provider *provider = findProvider(fusion);
    return provider && provider->about.fusesPrologue;
  }

  double estimate(Operation *op) const {
    auto candidates = refinement.candidates(op);
    auto cheapest =
        llvm::min_element(candidates, [](auto &a, auto &b) { return a.estimate < b.estimate; });
    return cheapest == candidates.end() ? 0 : cheapest->estimate;
  }

  FusionOp maker;
  unsigned number;
  const Refinement &refinement;
  Operation *yield;
  Value made, x;
  /// Matmuls, each with the index of the input that its prologue computes.
  SmallVector<std::pair<FusionOp, unsigned>> products;
  FusionOp outerSum, rest;
  ReduceOp innerSum;
  llvm::SetVector<Value> rows;
  llvm::SetVector<Operation *> ops;
  llvm::DenseMap<Value, Value> outer; ///< value outside of the kernel for each value of its body
  SmallVector<FusionOp> fresh;
  bool exponential = false;
};

class OperandProloguePattern : public AnchorPattern {
public:
  // If a kernel reads another kernel's result, the reader is visited first. If the reader is
  // absorbed, the other kernel's result may be read only by matmuls, so that it can also be
  // absorbed.
  OperandProloguePattern() : AnchorPattern("prologues", /*lastFirst=*/true) {}

  bool isAnchor(FusionOp fusion, const Refinement &) const override {
    return acceptsPartialBody(fusion);
  }
  void propose(FusionOp maker, Refinement &refinement, Offer offer) const override {
    for (unsigned i = 0; i < maker.getNumResults(); ++i) {
      AbsorbedPrologue absorbed(maker, i, refinement);
      if (absorbed.build() && offer(absorbed))
        return;
    }
  }
};

} // namespace

const RefinePattern &getOperandProloguePattern() {
  static const OperandProloguePattern pattern;
  return pattern;
}

} // namespace dlc
