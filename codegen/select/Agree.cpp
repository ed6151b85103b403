//===- Agree.cpp - whether candidates compute the same --------------------===//
#include "codegen/select/Agree.h"

#include "ir/reference/Evaluate.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;

namespace dlc {

namespace {

/// Operations up to so many elements, all operands and results multiplied out, are quick to evaluate slowly.
constexpr double kSmall = 1 << 21;

/// The largest difference in units of the largest number, or why it cannot be said.
double difference(const ref::Tensor &x, const ref::Tensor &y) {
  double most = 0, scale = 0;
  for (int64_t i = 0; i < x.size(); ++i) {
    double a = x.getDouble(i), b = y.getDouble(i);
    if (std::isnan(a) != std::isnan(b))
      return INFINITY;
    if (std::isnan(a) || a == b)
      continue;
    most = std::max(most, std::abs(a - b));
    scale = std::max({scale, std::abs(a), std::abs(b)});
  }
  for (int64_t i = 0; i < x.size() && most > 0; ++i)
    if (double a = std::abs(x.getDouble(i)); std::isfinite(a))
      scale = std::max(scale, a);
  return most == 0 ? 0 : most / scale;
}

double allowed(const ref::Tensor &tensor) {
  switch (tensor.getElement()) {
  case ref::Element::F64:
    return 1e-10;
  case ref::Element::F32:
    return 2e-4;
  default:
    return tensor.isFloat() ? 3e-2 : 0;
  }
}

bool agrees(ArrayRef<ref::Tensor> x, ArrayRef<ref::Tensor> y, double *by = nullptr) {
  for (auto [a, b] : llvm::zip(x, y))
    if (double d = difference(a, b); !(d <= allowed(a))) {
      if (by)
        *by = d;
      return false;
    }
  return true;
}

bool isPlain(Type type) {
  auto on = dyn_cast_or_null<OnAttr>(cast<RankedTensorType>(type).getEncoding());
  return !on || on.getLayout().empty();
}

/// What the operation means; nothing where layouts are not plain or the evaluator has no answer.
std::optional<SmallVector<ref::Tensor>> reference(Operation *op, const TrialOperands &operands) {
  SmallVector<ref::Tensor> inputs, outputs;
  for (auto [value, tensor] : llvm::zip(op->getOperands(), operands.tensors)) {
    if (!isPlain(value.getType()))
      return std::nullopt;
    auto constant = value.getDefiningOp<ConstantOp>();
    auto known = constant ? ref::Tensor::fromAttr(constant.getValue()) : FailureOr<ref::Tensor>(tensor);
    if (failed(known))
      return std::nullopt;
    inputs.push_back(*known);
  }
  if (!llvm::all_of(op->getResultTypes(), isPlain))
    return std::nullopt;
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(ref::evaluateOp(op, inputs, [](Value) { return ref::Tensor(); }, outputs)))
    return std::nullopt;
  return outputs;
}

/// Rough steps of the reference evaluator.
double stepsOf(Operation *op) {
  double steps = 0;
  op->walk([&](Operation *inner) {
    if (inner->getNumResults() == 0)
      return;
    double own = double(cast<RankedTensorType>(inner->getResult(0).getType()).getNumElements());
    if (auto matmul = dyn_cast<MatmulOp>(inner)) {
      auto a = cast<RankedTensorType>(matmul.getA().getType());
      own *= double(a.getDimSize(a.getRank() - (matmul.getTransposeA() ? 2 : 1)));
    } else if (isa<ConvOp, ConvTransposeOp>(inner)) {
      auto w = cast<RankedTensorType>(inner->getOperand(1).getType());
      own *= double(w.getNumElements());
    } else if (isa<LstmOp, GruOp, RnnOp>(inner)) {
      own *= double(cast<RankedTensorType>(inner->getOperand(1).getType()).getNumElements());
    }
    steps += own;
  });
  return steps;
}

} // namespace

std::vector<std::string> whoIsWrong(Operation *op, const TrialOperands &operands,
                                    ArrayRef<const std::vector<ref::Tensor> *> results) {
  std::vector<std::string> reasons(results.size());
  // How many each agrees with, itself included.
  std::vector<size_t> friends(results.size(), 0);
  bool all = true;
  for (size_t i = 0; i < results.size(); ++i)
    for (size_t j = 0; j < results.size(); ++j) {
      bool same = i == j || agrees(*results[i], *results[j]);
      friends[i] += same;
      all &= same;
    }
  if (all && (results.size() < 2 || stepsOf(op) > kSmall))
    return reasons;
  if (auto want = reference(op, operands)) {
    for (size_t i = 0; i < results.size(); ++i)
      if (double by = 0; !agrees(*results[i], *want, &by))
        reasons[i] = llvm::formatv("wrong: differs from the reference by {0:e1} of the largest value", by).str();
    return reasons;
  }
  size_t most = all || friends.empty() ? 0 : *std::max_element(friends.begin(), friends.end());
  for (size_t i = 0; i < results.size(); ++i)
    if (friends[i] < most || (most == 1 && i > 0))
      reasons[i] = "wrong: differs from the other candidates";
  return reasons;
}

} // namespace dlc
