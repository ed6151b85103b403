//===- JoinParts.cpp - on GPUs, fuses producers that are read in slices ----===//
#include "ir/dlc/Shape.h"
#include "passes/Devices.h"
#include "passes/fuse/grouping/FuseSteps.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc {

namespace {

Block &bodyOf(FusionOp fusion) { return fusion.getBody().front(); }

/// Returns whether the fusion is a GPU kernel that computes each element from a few operand
/// elements, and all tensors are row-major.
bool isElementwiseGpuFusion(FusionOp fusion) {
  auto isPlain = [](Type type) { return layoutOf(type).empty(); };
  return can(deviceOf(fusion->getResult(0).getType()), DLC_DEVICE_GPU_CODE) &&
         llvm::all_of(fusion->getOperandTypes(), isPlain) &&
         llvm::all_of(fusion->getResultTypes(), isPlain) &&
         llvm::all_of(bodyOf(fusion).without_terminator(), [](Operation &op) {
           // Transpositions are excluded, because they read elements that are far apart in memory.
           return op.hasTrait<Elementwise>() || isa<ConstantOp>(op) ||
                  (op.hasTrait<ViewLike>() && !isa<TransposeOp>(op));
         });
}

/// Returns the fusion that is the only reader of the single result of `made`, or null. It must read
/// this result in slices, which together have at most as many elements as the result.
FusionOp findSlicingReader(FusionOp made) {
  if (made.getNumResults() != 1 || !made->getResult(0).hasOneUse() || !isElementwiseGpuFusion(made))
    return nullptr;
  OpOperand &use = *made->getResult(0).use_begin();
  auto reader = dyn_cast<FusionOp>(use.getOwner());
  if (!reader || reader->getBlock() != made->getBlock() || !isElementwiseGpuFusion(reader))
    return nullptr;
  int64_t elements = 0;
  for (Operation *user : bodyOf(reader).getArgument(use.getOperandNumber()).getUsers()) {
    if (!isa<SliceOp>(user))
      return nullptr;
    elements += staticElements(typeOf(user->getResult(0)));
  }
  auto count = [](FusionOp fusion) { return bodyOf(fusion).getOperations().size(); };
  bool fits = elements <= staticElements(typeOf(made->getResult(0))) &&
              count(made) + count(reader) <= maxFusionOps &&
              made->getNumOperands() + reader->getNumOperands() <= maxFusionInputs;
  return fits ? reader : nullptr;
}

void fuseIntoReader(FusionOp made, FusionOp reader) {
  Block &body = bodyOf(reader);
  const unsigned number = made->getResult(0).use_begin()->getOperandNumber();
  IRMapping map;
  for (auto [inner, value] : llvm::zip(bodyOf(made).getArguments(), made.getInputs())) {
    auto inputs = reader.getInputs();
    auto known = llvm::find(inputs, value);
    if (known != inputs.end()) {
      map.map(inner, body.getArgument(unsigned(known - inputs.begin())));
      continue;
    }
    reader.getInputsMutable().append(value);
    map.map(inner, body.addArgument(inner.getType(), inner.getLoc()));
  }
  OpBuilder b = OpBuilder::atBlockBegin(&body);
  for (Operation &op : bodyOf(made).without_terminator())
    b.clone(op, map);
  body.getArgument(number).replaceAllUsesWith(
      map.lookup(bodyOf(made).getTerminator()->getOperand(0)));
  body.eraseArgument(number);
  reader.getInputsMutable().erase(number);
  reader->setLoc(b.getFusedLoc({made.getLoc(), reader.getLoc()}));
  made.erase();
}

} // namespace

void fuseIntoSlicingReaders(Block &block) {
  for (FusionOp made : llvm::make_early_inc_range(block.getOps<FusionOp>()))
    if (FusionOp reader = findSlicingReader(made))
      fuseIntoReader(made, reader);
}

} // namespace dlc
