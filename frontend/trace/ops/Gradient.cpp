//===- Gradient.cpp - derivatives, and the parameters that a value depends on --===//
#include "frontend/trace/State.h"
#include "ir/dlc/Attributes.h"
#include "ir/dlc/CustomGradient.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc::trace {

namespace {
std::vector<Tensor> gradient(ApiCall &call, ArrayRef<Value> ys, ArrayRef<Value> seeds,
                             const Operands &xs, bool allowUnused) {
  SmallVector<Value> operands(ys), targets;
  llvm::append_range(operands, seeds);
  for (const Operand &x : xs) {
    if (x.kind != Operand::Kind::Tensor && x.kind != Operand::Kind::Parameter)
      call.fail("gradients can be taken for tensors and parameters; found a number or nothing");
    targets.push_back(call.value(x));
  }
  llvm::append_range(operands, targets);
  GradientOp::Adaptor::Properties properties;
  properties.allow_unused = call.flag(allowUnused);
  properties.operandSegmentSizes = {int32_t(ys.size()), int32_t(seeds.size()),
                                    int32_t(targets.size())};
  std::vector<Tensor> results;
  for (Value result :
       call.makeAllAs<GradientOp>(TypeRange(ValueRange(targets)), operands, properties))
    results.push_back(call.tensor(result));
  return results;
}
} // namespace

std::vector<Tensor> grad(const Operand &loss, const Operands &xs, bool allowUnused) {
  ApiCall call("grad", {&loss});
  RankedTensorType type = call.type(loss);
  if (!type.hasStaticShape() || type.getNumElements() != 1)
    call.fail("the loss must have one element; found ", type,
              "; reduce it with sum() or mean(), or give seeds");
  return gradient(call, call.value(loss), {}, xs, allowUnused);
}

std::vector<Tensor> grad(const Operands &ys, const Operands &seeds, const Operands &xs,
                         bool allowUnused) {
  ApiCall call("grad", ys);
  if (ys.size() != seeds.size())
    call.fail("required: one seed for each value; found ", seeds.size(), " for ", ys.size());
  SmallVector<Value> values, weights;
  for (const Operand &y : ys)
    values.push_back(call.value(y));
  for (const Operand &seed : seeds)
    weights.push_back(call.value(seed));
  return gradient(call, values, weights, xs, allowUnused);
}

std::vector<Parameter> parametersOf(const Operand &value) {
  ApiCall call("parametersOf", {&value});
  // Values to which gradients flow from `value`. Gradients flow only through floating-point values.
  llvm::SetVector<Value> reached;
  auto reach = [&](Value operand) {
    if (isa<FloatType>(getElementTypeOrSelf(operand.getType())))
      reached.insert(operand);
  };
  reach(call.value(value));
  for (size_t i = 0; i < reached.size(); ++i) {
    Operation *op = reached[i].getDefiningOp();
    // The argument of a region needs no visit, because the operands of the enclosing operation have
    // been reached already.
    if (!op || op->hasAttr(kNoGradientAttr))
      continue;
    op->walk([&](Operation *inner) {
      auto custom = dyn_cast<CustomGradientOp>(inner);
      for (Value operand : custom ? custom.getXs() : inner->getOperands())
        reach(operand);
    });
  }
  std::vector<Parameter> parameters;
  for (const Parameter &parameter : call.state().argumentParameters)
    if (!parameter.isBuffer() && reached.contains(call.state().start(parameter)))
      parameters.push_back(parameter);
  return parameters;
}

} // namespace dlc::trace
