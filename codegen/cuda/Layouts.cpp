//===- Layouts.cpp - makes layouts of a kernel's operands and results explicit ---===//
#include "codegen/cuda/Layouts.h"

#include "passes/Dimensions.h"
#include "passes/layout/Tag.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace dlc::cuda {

namespace {

RankedTensorType getRowMajorType(Value value) {
  return RankedTensorType::get(shapeOf(value), typeOf(value).getElementType());
}

/// Returns the row-major type that describes the bytes of the value in memory.
RankedTensorType getMemoryOrderType(Value value) {
  auto order = memoryOrder(typeOf(value));
  assert(order && "layouts of GPUs have no blocks");
  return RankedTensorType::get(permuteBroadcastShape(shapeOf(value), *order),
                               typeOf(value).getElementType());
}

bool isPlain(Value value) { return layoutOf(value.getType()).empty(); }

} // namespace

FusionOp replaceLayoutsByTransposes(FusionOp fusion) {
  OpBuilder b(fusion);
  Block &body = fusion.getBody().front();
  Operation *yield = body.getTerminator();
  auto results = llvm::map_to_vector(yield->getOperands(),
                                     [](Value v) { return Type(getMemoryOrderType(v)); });
  // The types of the new fusion's operands differ from those of its body's arguments, which
  // describe the same bytes in row-major order.
  auto copy = FusionOp::create(b, fusion.getLoc(), results, fusion.getInputs());
  Block *to = copy.getBody().empty() ? b.createBlock(&copy.getBody()) : &copy.getBody().front();
  to->clear();
  IRMapping map;
  for (BlockArgument argument : body.getArguments())
    map.map(argument, to->addArgument(getMemoryOrderType(argument), argument.getLoc()));
  b.setInsertionPointToEnd(to);
  for (BlockArgument argument : body.getArguments())
    if (!isPlain(argument))
      map.map(argument, TransposeOp::create(b, argument.getLoc(), getRowMajorType(argument),
                                            map.lookup(Value(argument)),
                                            invertPermutation(*memoryOrder(typeOf(argument))))
                            .getResult());
  for (Operation &op : body.without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      if (std::optional<ref::Tensor> tensor = constantTensor(constant)) {
        map.map(constant.getResult(),
                makeConstant(b, op.getLoc(), *tensor, getRowMajorType(constant)));
        continue;
      }
    for (auto [from, result] : llvm::zip(op.getResults(), b.clone(op, map)->getResults()))
      result.setType(getRowMajorType(from));
  }
  SmallVector<Value> yielded;
  for (Value value : yield->getOperands()) {
    Value plain = map.lookup(value);
    if (!isPlain(value))
      plain = TransposeOp::create(b, value.getLoc(), getMemoryOrderType(value), plain,
                                  *memoryOrder(typeOf(value)))
                  .getResult();
    yielded.push_back(plain);
  }
  YieldOp::create(b, yield->getLoc(), yielded);
  return copy;
}

} // namespace dlc::cuda
