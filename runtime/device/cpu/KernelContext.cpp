//===- KernelContext.cpp - the functions that generated code may call ---------===//
#include "runtime/device/cpu/KernelContext.h"

#include <cmath>

namespace dlc::runtime {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

static const void *address(Unary function) { return reinterpret_cast<const void *>(function); }
static const void *address(Binary function) { return reinterpret_cast<const void *>(function); }

const void *const *kernelContext() {
  // In the order of KernelFunction.
  static const void *const table[] = {
      address(Unary(std::exp)),   address(Unary(std::log)),    address(Unary(std::log1p)),
      address(Unary(std::expm1)), address(Unary(std::sin)),    address(Unary(std::cos)),
      address(Unary(std::tan)),   address(Unary(std::asin)),   address(Unary(std::acos)),
      address(Unary(std::atan)),  address(Unary(std::sinh)),   address(Unary(std::cosh)),
      address(Unary(std::tanh)),  address(Unary(std::asinh)),  address(Unary(std::acosh)),
      address(Unary(std::atanh)), address(Unary(std::erf)),    address(Binary(std::pow)),
      address(Binary(std::fmod)), address(Binary(std::atan2)), address(Unary(std::erfc))};
  static_assert(sizeof table / sizeof *table == static_cast<unsigned>(KernelFunction::Count));
  return table;
}

} // namespace dlc::runtime
