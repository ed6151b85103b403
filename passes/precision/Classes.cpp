//===- Classes.cpp - one table per family ---------------------------------===//
#include "passes/precision/Classes.h"

using namespace mlir;

namespace dlc::precision {
namespace {

using Table = llvm::DenseMap<TypeID, NumericClass>;

template <typename... Ops> void put(Table &table, NumericClass numeric) {
  (table.try_emplace(TypeID::get<Ops>(), numeric), ...);
}

// What no table names is Full: exponentials, logarithms, powers, trigonometry, softmax, reductions,
// scatters, random numbers, control. Recurrent layers too: the library's are of f32; those that a
// gradient opened are products in loops by now.

void addContractions(Table &table) {
  put<MatmulOp, ConvOp, ConvTransposeOp, ConvWeightGradOp, AttentionOp, AttentionTrainOp,
      AttentionGradOp>(table, NumericClass::Product);
}

void addElementwise(Table &table) {
  put<ReluOp, NegOp, AbsOp, SignOp, MaxOp, MinOp, SelectOp, CompareOp, IsNanOp, IsInfOp>(
      table, NumericClass::Exact);
  put<AddOp, SubOp, MulOp, DivOp, GeluOp, SigmoidOp, TanhOp, ErfOp, CeilOp, FloorOp, RoundOp,
      CastOp>(table, NumericClass::Smooth);
}

void addShape(Table &table) {
  put<ReshapeOp, TransposeOp, BroadcastOp, SliceOp, PadOp, ConcatOp, TransferOp>(
      table, NumericClass::Exact);
}

void addGather(Table &table) {
  put<GatherOp, GatherElementsOp, GatherNdOp>(table, NumericClass::Exact);
}

void addPool(Table &table) {
  put<MaxPoolOp, MaxPoolIndicesOp, MaxPoolPositionsOp>(table, NumericClass::Exact);
  put<MaxPoolGradOp, AvgPoolOp, AvgPoolGradOp>(table, NumericClass::Layer);
}

void addNorm(Table &table) {
  put<BatchNormOp, BatchNormTrainOp, BatchNormGradOp, LayerNormOp, RmsNormOp, LrnOp>(
      table, NumericClass::Layer);
}

const Table &allClasses() {
  static const Table table = [] {
    Table all;
    addContractions(all);
    addElementwise(all);
    addShape(all);
    addGather(all);
    addPool(all);
    addNorm(all);
    return all;
  }();
  return table;
}

} // namespace

NumericClass classOf(Operation *op) {
  auto it = allClasses().find(op->getName().getTypeID());
  return it == allClasses().end() ? NumericClass::Full : it->second;
}

SmallVector<OpOperand *> dataOperands(Operation *op) {
  SmallVector<OpOperand *> data;
  // These have one element type; batch norm's scale and statistics may have another than its data.
  bool all = isa<LayerNormOp, RmsNormOp>(op);
  size_t count = all ? op->getNumOperands() : isa<BatchNormGradOp>(op) ? 2 : 1;
  for (OpOperand &operand : op->getOpOperands().take_front(count))
    data.push_back(&operand);
  return data;
}

bool staysWide(const OpOperand &operand) {
  auto gradient = dyn_cast<AttentionGradOp>(operand.getOwner());
  return gradient && operand.get() == gradient.getLse();
}

bool staysWide(OpResult result) {
  auto forward = dyn_cast<AttentionTrainOp>(result.getOwner());
  return forward && result == forward.getLse();
}

bool isViewLike(Operation *op) { return isa<ReshapeOp, TransposeOp, SliceOp>(op); }

} // namespace dlc::precision
