//===- ResultCheck.cpp - checks the results of candidates -----------------===//
#include "codegen/select/measure/ResultCheck.h"

#include "codegen/select/measure/ReferenceResults.h"
#include "ir/dlc/Attributes.h"
#include "passes/QuantizedWeights.h"
#include "passes/layout/Tag.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace dlc {

namespace {

using Tensors = std::vector<ref::Tensor>;

/// Largest difference between two tensors, and largest value of the compared elements.
struct Difference {
  double most = 0, scale = 0;
  void add(double a, double b) {
    if (std::isfinite(b))
      scale = std::max(scale, std::abs(b));
    if (std::isnan(a) != std::isnan(b))
      most = INFINITY;
    else if (!std::isnan(a) && a != b)
      most = std::max(most, std::abs(a - b));
  }
  double relative() const { return most == 0 ? 0 : most / scale; }
};

double computeDifference(const ref::Tensor &x, const ref::Tensor &y) {
  Difference d;
  if (x.getElement() == ref::Element::F32 && y.getElement() == ref::Element::F32) {
    auto *a = reinterpret_cast<const float *>(x.data()),
         *b = reinterpret_cast<const float *>(y.data());
    for (int64_t i = 0; i < x.size(); ++i)
      d.add(a[i], b[i]);
  } else {
    for (int64_t i = 0; i < x.size(); ++i)
      d.add(x.getDouble(i), y.getDouble(i));
  }
  return d.relative();
}

double computeDifference(const ref::Tensor &x, const ExpectedResult &want) {
  if (want.places.empty())
    return computeDifference(x, want.values);
  Difference d;
  for (size_t i = 0; i < want.places.size(); ++i)
    d.add(x.getDouble(want.places[i]), want.values.getDouble(i));
  return d.relative();
}

/// Returns the relative tolerance for results of this element type.
double getTolerance(ref::Element element) {
  switch (element) {
  case ref::Element::F64:
    return 1e-10;
  case ref::Element::F32:
    return 2e-4;
  default:
    return ref::isFloat(element) ? 3e-2 : 0;
  }
}

/// Returns the additional tolerance for an operation whose intermediate values are, or may be,
/// rounded to fewer bits.
double getExtraTolerance(Operation *op) {
  double most = 0;
  auto narrow = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && (tensor.getElementType().isBF16() || tensor.getElementType().isF16());
  };
  op->walk([&](Operation *inner) {
    if (auto math = inner->getAttrOfType<StringAttr>(kMathAttr))
      most = std::max(most, math.getValue() == "tf32" ? 2e-3 : 3e-2);
    if (inner->hasAttr(kActivationsAttr) || llvm::any_of(inner->getOperandTypes(), narrow) ||
        llvm::any_of(inner->getResultTypes(), narrow))
      most = std::max(most, 3e-2);
  });
  return most;
}

/// Converts the tensor from its layout to row-major order; null if the layout has several blocks.
ref::Tensor convertToRowMajor(Value value, const ref::Tensor &tensor) {
  if (layoutOf(value.getType()).empty())
    return tensor;
  auto type = cast<RankedTensorType>(value.getType());
  std::optional<Tag> tag = Tag::parse(layoutOf(type));
  if (!tag)
    return ref::Tensor();
  ref::Tensor plain = ref::Tensor::empty(tensor.getType());
  ArrayRef<int64_t> shape = type.getShape();
  const int64_t bytes = ref::elementBytes(type.getElementType());
  auto *from = reinterpret_cast<const char *>(tensor.data());
  auto *to = reinterpret_cast<char *>(plain.mutableData());
  SmallVector<int64_t> index(shape.size());
  for (int64_t i = 0; i < type.getNumElements(); ++i, to += bytes) {
    for (int64_t d = int64_t(shape.size()) - 1, rest = i; d >= 0; rest /= shape[d--])
      index[d] = rest % shape[d];
    int64_t offset = 0;
    for (int64_t dim : tag->order) {
      int64_t block = dim == tag->blockedDim ? tag->block : 1;
      offset = offset * llvm::divideCeil(shape[dim], block) + index[dim] / block;
    }
    if (tag->blockedDim >= 0)
      offset = offset * tag->block + index[tag->blockedDim] % tag->block;
    std::memcpy(to, from + offset * bytes, bytes);
  }
  return plain;
}

std::optional<Tensors> convertOperandsToRowMajor(Operation *op, const TrialOperands &operands) {
  Tensors inputs;
  for (auto [value, tensor] : llvm::zip(op->getOperands(), operands.tensors)) {
    auto constant = value.getDefiningOp<ConstantOp>();
    if (constant && !layoutOf(value.getType()).empty())
      return std::nullopt;
    auto known = constant ? ref::Tensor::fromAttr(constant.getValue())
                          : FailureOr<ref::Tensor>(convertToRowMajor(value, tensor));
    if (failed(known) || !*known)
      return std::nullopt;
    inputs.push_back(*known);
  }
  return inputs;
}

class ResultChecker {
public:
  ResultChecker(Operation *op, const TrialOperands &operands, ArrayRef<const Tensors *> results,
                double extra)
      : op(op), operands(operands), results(results), extra(std::max(extra, getExtraTolerance(op))),
        checks(results.size()) {}

  std::vector<ResultCheck> run() {
    inputs = convertOperandsToRowMajor(op, operands);
    auto exact = inputs && bringPlain() ? expectedResults(op, *inputs, false) : std::nullopt;
    if (!exact && inputs && !plain.empty()) {
      exact = expectedResults(op, *inputs, true);
      how = "evaluation in its own types";
    }
    if (exact)
      against(*exact);
    else
      vote();
    return checks;
  }

private:
  double allowance(const ref::Tensor &tensor) const {
    double own = getTolerance(tensor.getElement());
    return tensor.isFloat() ? std::max(own, extra) : own;
  }

  bool agree(size_t i, size_t j) const {
    for (auto [a, b] : llvm::zip(*results[i], *results[j]))
      if (!(computeDifference(a, b) <= allowance(a)))
        return false;
    return true;
  }

  bool bringPlain() {
    for (const Tensors *list : results) {
      plain.emplace_back();
      for (auto [value, tensor] : llvm::zip(op->getResults(), *list)) {
        plain.back().push_back(convertToRowMajor(value, tensor));
        if (!plain.back().back()) {
          plain.clear();
          return false;
        }
      }
    }
    return true;
  }

  bool isNear(size_t i, ArrayRef<ExpectedResult> want, double &error) const {
    bool near = true;
    error = 0;
    for (auto [tensor, each] : llvm::zip(plain[i], want)) {
      double d = computeDifference(tensor, each);
      near &= d <= allowance(tensor);
      error = std::max(error, d);
    }
    return near;
  }

  void against(ArrayRef<ExpectedResult> exact) {
    size_t places = 0;
    for (const ExpectedResult &each : exact)
      places = std::max(places, each.places.size());
    std::string checked = how + (places ? " at " + std::to_string(places) + " positions" : "");
    std::optional<std::optional<std::vector<ExpectedResult>>> rounded;
    std::optional<size_t> nearest;
    for (size_t i = 0; i < results.size(); ++i) {
      ResultCheck &v = checks[i];
      v.checked = checked;
      bool near = isNear(i, exact, v.error);
      if (!near) {
        // If a result depends on rounding, as that of a comparison does, the candidate is compared
        // with an evaluation that rounds to the same types.
        if (!rounded)
          rounded = expectedResults(op, *inputs, true);
        double other;
        near = *rounded && isNear(i, **rounded, other);
      }
      if (!near)
        v.wrong = llvm::formatv("wrong: differs from {0} by {1:e1} of the largest value", checked,
                                v.error)
                      .str();
      else if (!nearest || v.error < checks[*nearest].error)
        nearest = i;
    }
    for (size_t i = 0; places && nearest && i < results.size(); ++i)
      if (checks[i].wrong.empty() && i != *nearest && !agree(i, *nearest))
        checks[i].wrong = "wrong: differs at other positions from a candidate that is correct";
  }

  /// Without a reference, accepts the candidates that agree with the largest number of other
  /// candidates (majority vote).
  void vote() {
    std::vector<size_t> friends(results.size(), 0);
    for (size_t i = 0; i < results.size(); ++i)
      for (size_t j = 0; j < results.size(); ++j)
        friends[i] += i == j || agree(i, j);
    size_t most = friends.empty() ? 0 : *std::max_element(friends.begin(), friends.end());
    for (size_t i = 0; i < results.size(); ++i) {
      if (results.size() > 1)
        checks[i].checked = "the other candidates";
      if (friends[i] < most || (most == 1 && i > 0))
        checks[i].wrong = "wrong: differs from the other candidates";
    }
  }

  Operation *op;
  const TrialOperands &operands;
  ArrayRef<const Tensors *> results;
  double extra;
  std::vector<ResultCheck> checks;
  std::optional<Tensors> inputs;
  std::vector<Tensors> plain;
  std::string how = "f64";
};

} // namespace

std::vector<ResultCheck> checkResults(Operation *op, const TrialOperands &operands,
                                      ArrayRef<const Tensors *> results, double extraAllowed) {
  return ResultChecker(op, operands, results, extraAllowed).run();
}

} // namespace dlc
