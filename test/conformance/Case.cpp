//===- Case.cpp - fills operands of conformance cases and selects cases --------===//
#include "test/conformance/Case.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <random>

namespace dlc::conformance {

std::string typeText(const Shape &shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t d : shape)
    text += std::to_string(d) + "x";
  return text + element + ">";
}

std::string constantText(const Shape &shape) {
  int64_t next = 0;
  auto level = [&](auto &self, size_t d) -> std::string {
    if (d == shape.size())
      return std::to_string(double(next++ * 131 % 255 - 127) / 127);
    std::string text = "[";
    for (int64_t i = 0; i < shape[d]; ++i)
      text += (i ? ", " : "") + self(self, d + 1);
    return text + "]";
  };
  return "dense<" + level(level, 0) + "> : " + typeText(shape, "f32");
}

std::string constantIntegers(const Shape &shape, const std::string &type, int64_t low,
                             int64_t range) {
  auto text = [&](auto &&self, size_t d, int64_t at) -> std::string {
    if (d == shape.size())
      return std::to_string(low + (at * 131 + at / 7 * 29) % range);
    std::string all = "[";
    for (int64_t i = 0; i < shape[d]; ++i)
      all += (i ? ", " : "") + self(self, d + 1, at * shape[d] + i);
    return all + "]";
  };
  const bool isEmpty = std::find(shape.begin(), shape.end(), 0) != shape.end();
  return "dense<" + (isEmpty ? "" : text(text, 0, 0)) + "> : " + typeText(shape, type);
}

bool isFloatName(const std::string &type) { return type[0] == 'f' || type[0] == 'b'; }
bool isUnsignedName(const std::string &type) { return type[0] == 'u'; }

namespace {

/// Zeros, infinities, NaN, limits, denormals, and arguments near which functions change their
/// behavior.
const double specials[] = {0.0,   -0.0,  INFINITY, -INFINITY, NAN,   1.0,   -1.0, 0.5,
                           -0.5,  2.5,   -2.5,     1e-8,      -1e-8, 1e-40, 3.5,  88.0,
                           -87.0, 104.0, -104.0,   6.5,       -6.5,  0.999, -1.5, 1e4,
                           -1e4,  20.0,  -20.0,    1e-3,      -1e-3, 2.0,   -3.0, 1e30};

/// Returns limits of the element type, values in between, infinities, NaN, and arguments near which
/// functions change their behavior. Each positive value is followed by its negative.
std::vector<double> extremes(mlir::Type element) {
  const llvm::fltSemantics &semantics = llvm::cast<mlir::FloatType>(element).getFloatSemantics();
  auto number = [](llvm::APFloat value) {
    bool lost = false;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
    return value.convertToDouble();
  };
  const double most = number(llvm::APFloat::getLargest(semantics)),
               normal = number(llvm::APFloat::getSmallestNormalized(semantics)),
               least = number(llvm::APFloat::getSmallest(semantics));
  std::vector<double> values;
  for (double value : {0.0,
                       HUGE_VAL,
                       most,
                       normal,
                       least,
                       normal / 2,
                       most / 2,
                       most / 8,
                       1.0,
                       0.1,
                       2.5,
                       3.0,
                       88.0,
                       104.0,
                       1000.0,
                       std::sqrt(most),
                       std::sqrt(normal),
                       0.9 * std::cbrt(most),
                       std::cbrt(normal),
                       1e30,
                       1e-30,
                       1e19,
                       1e-19,
                       1e4,
                       1e-4})
    values.insert(values.end(), {value, -value});
  values.push_back(NAN);
  return values;
}

} // namespace

void fillTensor(ref::Tensor &tensor, const Fill &fill, uint64_t seed) {
  std::mt19937_64 engine(seed * 0x9e3779b97f4a7c15ull + 1);
  bool isBool = tensor.getElementType().isInteger(1);
  bool isFloat = tensor.isFloat();
  std::vector<double> limits;
  if (fill.kind == Fill::Extreme)
    limits = extremes(tensor.getElementType());
  std::vector<int64_t> order;
  if (fill.kind == Fill::Permutation) {
    order.resize(tensor.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), engine);
  }
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double unit = double(engine() >> 11) * 0x1p-53;
    bool hidden = fill.kind == Fill::HiddenRows && i / tensor.getShape().back() % 2 == 1;
    if (hidden && isBool) {
      tensor.setInt(i, 0);
    } else if (hidden) {
      tensor.setDouble(i, -INFINITY);
    } else if (fill.kind == Fill::Ascending) {
      double part = double(i + 1) / double(tensor.size());
      tensor.setInt(i, int64_t(fill.low + part * (fill.high - fill.low)));
    } else if (fill.kind == Fill::Permutation) {
      if (isFloat)
        tensor.setDouble(i, fill.low + double(order[i]));
      else
        tensor.setInt(i, int64_t(fill.low) + order[i]);
    } else if (isBool) {
      tensor.setInt(i, unit < 0.5);
    } else if (!limits.empty()) {
      tensor.setDouble(i, limits[i % limits.size()]);
    } else if (isFloat && fill.kind == Fill::Special) {
      tensor.setDouble(i, specials[i % std::size(specials)]);
    } else if (isFloat) {
      tensor.setDouble(i, fill.low + unit * (fill.high - fill.low));
    } else {
      tensor.setInt(i, int64_t(std::floor(fill.low + unit * (fill.high - fill.low + 1))));
    }
  }
}

bool Choice::takes(const std::string &argument, const char *value) {
  if (!value)
    return false;
  if (argument == "--filter")
    filter = value;
  else if (argument == "--sample")
    sample = size_t(std::max(1, std::atoi(value)));
  else if (argument == "--from")
    from = size_t(std::max(0, std::atoi(value)));
  else
    return false;
  return true;
}

std::vector<Case> Choice::of(const std::vector<Case> &all) const {
  std::vector<std::string> selected, excluded;
  for (size_t at = 0; at <= filter.size();) {
    size_t end = std::min(filter.find(',', at), filter.size());
    std::string part = filter.substr(at, end - at);
    (part.starts_with('-') ? excluded : selected).push_back(part);
    at = end + 1;
  }
  auto matches = [&](const std::string &name) {
    auto contains = [&](const std::string &part) { return name.find(part) != std::string::npos; };
    return std::any_of(selected.begin(), selected.end(), contains) &&
           std::none_of(excluded.begin(), excluded.end(),
                        [&](const std::string &part) { return contains(part.substr(1)); });
  };
  std::vector<Case> chosen;
  size_t matching = 0;
  for (const Case &c : all)
    if (matches(c.name()) && matching++ % sample == from % sample)
      chosen.push_back(c);
  return chosen;
}

} // namespace dlc::conformance
