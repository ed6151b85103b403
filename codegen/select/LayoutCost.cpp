//===- LayoutCost.cpp - what operations cost in each layout ---------------===//
#include "codegen/select/LayoutCost.h"

#include "codegen/select/Candidates.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

/// A function with operands of these types, constants as they are, for an operation to be put in.
struct Stage {
  Stage(Operation *op, ArrayRef<Type> operands) : builder(op->getContext()) {
    module = ModuleOp::create(op->getLoc());
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, op->getLoc(), "main",
                                               builder.getFunctionType(operands, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      auto constant = operand.getDefiningOp<ConstantOp>();
      bool asItIs = constant && operand.getType() == operands[i];
      values.push_back(asItIs ? builder.clone(*constant)->getResult(0)
                              : Value(block->getArgument(unsigned(i))));
    }
  }

  OwningOpRef<ModuleOp> module;
  OpBuilder builder;
  SmallVector<Value> values;
};

std::optional<double> bestEstimate(Operation *op, bool generated, const CompileOptions &options,
                                   const cpu::Target &target) {
  std::string refusals;
  std::vector<Candidate> candidates =
      candidatesFor(op, options, target, /*every=*/false, refusals, generated);
  if (candidates.empty())
    return std::nullopt;
  return candidates.front().estimate;
}

} // namespace

LayoutCosts layoutCosts(const CompileOptions &options, const cpu::Target &target) {
  LayoutCosts costs;
  costs.operation = [&](Operation *op, ArrayRef<Type> operands,
                        ArrayRef<Type> results) -> std::optional<double> {
    ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
    Stage stage(op, operands);
    auto fusion = FusionOp::create(stage.builder, op->getLoc(), results, stage.values);
    Block &body =
        fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : fusion.getBody().front();
    body.clear();
    IRMapping map;
    for (Value value : stage.values)
      body.addArgument(value.getType(), value.getLoc());
    stage.builder.setInsertionPointToEnd(&body);
    Operation *inner = stage.builder.clone(*op, map);
    for (unsigned i = 0; i < inner->getNumOperands(); ++i)
      inner->setOperand(i, body.getArgument(i));
    for (auto [result, type] : llvm::zip(inner->getResults(), results))
      result.setType(type);
    YieldOp::create(stage.builder, op->getLoc(), inner->getResults());
    // Generated convolutions are for plain images, where nothing of a library will do.
    bool isPlain = llvm::all_of(llvm::concat<const Type>(operands, results), [](Type type) {
      auto on = dyn_cast_or_null<OnAttr>(cast<RankedTensorType>(type).getEncoding());
      return !on || on.getLayout().empty();
    });
    return bestEstimate(fusion, isPlain, options, target);
  };
  costs.reorder = [&](Type from, Type to) {
    MLIRContext *context = from.getContext();
    OpBuilder builder(context);
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
    builder.setInsertionPointToEnd(module->getBody());
    auto function = mlir::func::FuncOp::create(builder, module->getLoc(), "main",
                                               builder.getFunctionType({from}, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    Operation *reorder = ReorderOp::create(builder, module->getLoc(), to, block->getArgument(0));
    return bestEstimate(reorder, true, options, target).value_or(1e6);
  };
  return costs;
}

} // namespace dlc
