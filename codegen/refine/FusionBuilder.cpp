//===- FusionBuilder.cpp - builds one fusion from the bodies of several ----------===//
#include "codegen/refine/FusionBuilder.h"

using namespace mlir;

namespace dlc {

YieldOp getYield(FusionOp fusion) {
  return cast<YieldOp>(fusion.getBody().front().getTerminator());
}

Value skipReshapes(Value v) {
  while (auto reshape = v.getDefiningOp<ReshapeOp>())
    v = reshape.getX();
  return v;
}

FusionBuilder::FusionBuilder(OpBuilder &b, Location loc, TypeRange types)
    : fusion(FusionOp::create(b, loc, types, ValueRange())),
      body(fusion.getBody().empty() ? fusion.getBody().emplaceBlock() : fusion.getBody().front()) {
  body.clear();
}

FusionOp FusionBuilder::yield(ValueRange values) {
  SmallVector<Value> yielded;
  for (Value v : values)
    yielded.push_back(get(v));
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  YieldOp::create(b, fusion.getLoc(), yielded);
  return fusion;
}

Value FusionBuilder::get(Value v) {
  if (Value known = map.lookupOrNull(v))
    return known;
  Value made;
  auto argument = dyn_cast<BlockArgument>(v);
  auto of = dyn_cast<FusionOp>(v.getParentBlock()->getParentOp());
  if (auto at = instead.find(v); at != instead.end()) {
    made = get(at->second);
  } else if (!of && (!opened || v == opened || skipReshapes(v) != opened)) {
    made = body.addArgument(v.getType(), v.getLoc());
    fusion.getInputsMutable().append(v);
  } else if (of && argument) {
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

} // namespace dlc
