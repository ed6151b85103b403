//===- Gradients.cpp - the gradient of an activation within the product before it -===//
#include "codegen/select/Gradients.h"

#include "codegen/select/Select.h"
#include "passes/TensorBuilder.h"
#include "passes/fuse/Classify.h"
#include "passes/fuse/EpilogueEltwise.h"
#include "passes/fuse/StateUpdate.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

namespace dlc {

namespace {

YieldOp endOf(FusionOp fusion) { return cast<YieldOp>(fusion.getBody().front().getTerminator()); }

bool isProduct(FusionOp fusion) {
  return llvm::any_of(fusion.getBody().front(), [](Operation &op) { return isa<MatmulOp>(op); });
}

double timeOf(const Candidate &c) { return c.measured.value_or(c.estimate); }

/// A kernel of values that others compute: their operations, as far as they are needed, and what
/// comes from outside.
class Weaver {
public:
  Weaver(OpBuilder &b, Location loc, TypeRange types)
      : fusion(FusionOp::create(b, loc, types, ValueRange())),
        body(fusion.getBody().empty() ? fusion.getBody().emplaceBlock()
                                      : fusion.getBody().front()) {
    body.clear();
  }

  /// `inner`, of another kernel's body, is `value`: of yet another one's, or from outside.
  void stands(Value inner, Value value) { instead[inner] = value; }

  FusionOp yield(ValueRange values) {
    SmallVector<Value> yielded;
    for (Value v : values)
      yielded.push_back(get(v));
    OpBuilder b = OpBuilder::atBlockEnd(&body);
    YieldOp::create(b, fusion.getLoc(), yielded);
    return fusion;
  }

private:
  Value get(Value v) {
    if (Value known = map.lookupOrNull(v))
      return known;
    Value made;
    auto argument = dyn_cast<BlockArgument>(v);
    auto of = dyn_cast<FusionOp>(v.getParentBlock()->getParentOp());
    if (auto at = instead.find(v); at != instead.end()) {
      made = get(at->second);
    } else if (!of) {
      made = body.addArgument(v.getType(), v.getLoc());
      fusion.getInputsMutable().append(v);
    } else if (argument) {
      made = get(of.getInputs()[argument.getArgNumber()]);
    } else {
      Operation *op = v.getDefiningOp();
      for (Value operand : op->getOperands())
        get(operand);
      OpBuilder b = OpBuilder::atBlockEnd(&body);
      b.clone(*op, map);
      return map.lookup(v);
    }
    map.map(v, made);
    return made;
  }

  FusionOp fusion;
  Block &body;
  IRMapping map;
  llvm::DenseMap<Value, Value> instead;
};

/// A product, the kernel that has a part in its gradient, and what becomes of both.
class Absorption {
public:
  Absorption(FusionOp product, const CompileOptions &options, const cpu::Target &target,
             Choices &choices)
      : product(product), options(options), target(target), choices(choices) {}

  bool run() {
    for (auto [i, input] : llvm::enumerate(product.getInputs()))
      if (makesFactor(input) &&
          absorbs(product.getBody().getArgument(i), endOf(kernel).getOperand(number), Value()))
        return true;
    return readsResult() && absorbs(argument, endOf(product).getOperand(0), step.result);
  }

private:
  bool isKernel(Operation *op) {
    kernel = dyn_cast_or_null<FusionOp>(op);
    return kernel && kernel->getBlock() == product->getBlock() && runsOn(kernel, "generated") &&
           choices.contains(kernel) && !isProduct(kernel) && !kernel->hasAttr(kUpdatesAttr);
  }

  /// Whether a kernel makes it for the product alone, element by element.
  bool makesFactor(Value input) {
    if (!input.hasOneUse() || !isKernel(input.getDefiningOp()))
      return false;
    number = cast<OpResult>(input).getResultNumber();
    Operation *last = endOf(kernel).getOperand(number).getDefiningOp();
    return last && isElementwise(last) && typeOf(input).getElementType().isF32();
  }

  /// Whether a kernel alone reads the product's result, and first turns it into a gradient.
  bool readsResult() {
    Value result = product.getResult(0);
    if (!result.hasOneUse() || !isKernel(*result.getUsers().begin()))
      return false;
    argument = kernel.getBody().getArgument(result.use_begin()->getOperandNumber());
    auto found = matchGradient(argument, [](Operation *) { return true; });
    if (found)
      step = *found;
    return found.has_value();
  }

  /// `inner` is what `value` is, and `result` what the product shall give: null where that does not
  /// change.
  bool absorbs(Value inner, Value value, Value result) {
    OpBuilder b(result ? kernel : product);
    Value given = result ? result : endOf(product).getOperand(0);
    Weaver weaver(b, b.getFusedLoc({product.getLoc(), kernel.getLoc()}), given.getType());
    weaver.stands(inner, value);
    made = weaver.yield(given);
    rest = {};
    moved = result ? result : value;
    double time = matchEpilogue(made, /*gradients=*/true) ? choose() : HUGE_VAL;
    if (time < HUGE_VAL && buildRest(result)) {
      double before = timeOf(choices[product].front()) + timeOf(choices[kernel].front());
      if (!options.kernels.empty() ||
          before > time + (rest ? candidatesOfRest.front().estimate : 0)) {
        commit(result);
        return true;
      }
    }
    if (rest)
      rest.erase();
    made.erase();
    return false;
  }

  std::vector<Candidate> candidatesOf(FusionOp fusion) const {
    std::string refusals;
    ScopedDiagnosticHandler quiet(fusion->getContext(), [](Diagnostic &) { return success(); });
    auto candidates = candidatesFor(fusion, options, target, /*every=*/false, refusals);
    preferKernels(candidates, options.kernels);
    return candidates;
  }

  /// Which of our own does both (generated code might, too, but has no say here), and how long that
  /// takes: what it took as a product, and what the estimate says of the rest. Times measured are
  /// compared with such only.
  double choose() {
    candidates = candidatesOf(made);
    const std::vector<Candidate> &before = choices[product];
    auto best = candidates.end();
    double least = HUGE_VAL;
    for (auto c = candidates.begin(); c != candidates.end(); ++c) {
      auto same = llvm::find_if(before, [&](const Candidate &other) {
        return other.kernel == c->kernel && other.implementation == c->implementation;
      });
      if (!hasImplementations(c->kernel) || same == before.end() ||
          same->measured.has_value() != before.front().measured.has_value() ||
          (!options.kernels.empty() && options.kernels != c->kernel))
        continue;
      double time = timeOf(*same) + std::max(0.0, c->estimate - same->estimate);
      if (time < least) {
        least = time;
        best = c;
      }
    }
    if (least < HUGE_VAL)
      std::rotate(candidates.begin(), best, std::next(best));
    return least;
  }

  /// The kernel without what the product does now; there need be none.
  bool buildRest(Value result) {
    kept.clear();
    for (Value v : endOf(kernel).getOperands())
      if (v != moved)
        kept.push_back(v);
    if (kept.empty())
      return true;
    OpBuilder b(kernel);
    Weaver weaver(b, kernel.getLoc(), TypeRange(ValueRange(kept)));
    if (result)
      weaver.stands(result, made.getResult(0));
    rest = weaver.yield(kept);
    candidatesOfRest = candidatesOf(rest);
    return !candidatesOfRest.empty();
  }

  void commit(Value result) {
    unsigned next = 0;
    for (auto [i, v] : llvm::enumerate(endOf(kernel).getOperands()))
      if (v != moved)
        kernel.getResult(i).replaceAllUsesWith(rest.getResult(next++));
      else if (result)
        kernel.getResult(i).replaceAllUsesWith(made.getResult(0));
    if (!result)
      product.getResult(0).replaceAllUsesWith(made.getResult(0));
    // Whoever reads the other comes first.
    for (FusionOp gone : {result ? kernel : product, result ? product : kernel}) {
      choices.erase(gone);
      gone.erase();
    }
    writeChoice(made, candidates);
    choices[made] = std::move(candidates);
    if (rest) {
      writeChoice(rest, candidatesOfRest);
      choices[rest] = std::move(candidatesOfRest);
    }
  }

  FusionOp product;
  const CompileOptions &options;
  const cpu::Target &target;
  Choices &choices;
  FusionOp kernel;
  unsigned number = 0;    ///< of the kernel's result that is the factor
  BlockArgument argument; ///< the product's result within the kernel
  Step step;              ///< what the kernel does with it
  Value moved;            ///< what the kernel gave and the product does now
  FusionOp made, rest;
  SmallVector<Value> kept;
  std::vector<Candidate> candidates, candidatesOfRest;
};

} // namespace

void absorbGradients(ModuleOp module, const CompileOptions &options, const cpu::Target &target,
                     Choices &choices) {
  SmallVector<FusionOp> products;
  module.walk([&](FusionOp fusion) {
    if (choices.contains(fusion) && isProduct(fusion) && fusion.getNumResults() == 1 &&
        !fusion->hasAttr(kUpdatesAttr))
      products.push_back(fusion);
  });
  for (FusionOp product : products)
    Absorption(product, options, target, choices).run();
}

} // namespace dlc
