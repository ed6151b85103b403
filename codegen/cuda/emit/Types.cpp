//===- Types.cpp - element types in CUDA C++ ------------------------------===//
#include "codegen/cuda/emit/Types.h"

#include "llvm/ADT/APInt.h"

#include <cmath>
#include <cstring>

using namespace mlir;

namespace dlc::cuda {

std::string getStorageTypeName(Type element) {
  if (element.isBF16())
    return "dk::bf16";
  if (element.isF16())
    return "dk::f16";
  if (element.isInteger(1))
    return "dk::boolean";
  return getComputeTypeName(element);
}

std::string getComputeTypeName(Type element) {
  if (element.isF64())
    return "double";
  if (isFloat(element))
    return "float";
  bool u = isUnsigned(element);
  switch (element.getIntOrFloatBitWidth()) {
  case 1:
    return "bool";
  case 8:
    return u ? "unsigned char" : "signed char";
  case 16:
    return u ? "unsigned short" : "short";
  case 32:
    return u ? "unsigned" : "int";
  default:
    return u ? "unsigned long long" : "long long";
  }
}

std::string formatLiteral(Type element, double value) {
  if (!isFloat(element))
    return formatLiteral(
        element, APInt(64, uint64_t(int64_t(value))).trunc(element.getIntOrFloatBitWidth()));
  bool wide = element.isF64();
  char text[64];
  if (!std::isfinite(value)) {
    if (wide) {
      uint64_t bits;
      std::memcpy(&bits, &value, sizeof bits);
      std::snprintf(text, sizeof text, "dk::double_of(0x%llxull)", (unsigned long long)bits);
    } else {
      float narrow = float(value);
      uint32_t bits;
      std::memcpy(&bits, &narrow, sizeof bits);
      std::snprintf(text, sizeof text, "dk::float_of(0x%xu)", bits);
    }
    return text;
  }
  std::snprintf(text, sizeof text, "%.*g", wide ? 17 : 9, wide ? value : double(float(value)));
  std::string result = text;
  if (result.find_first_of(".e") == std::string::npos)
    result += ".0";
  return wide ? result : result + "f";
}

std::string formatLiteral(Type element, APInt value) {
  if (element.isInteger(1))
    return value.isZero() ? "false" : "true";
  bool u = isUnsigned(element);
  unsigned width = value.getBitWidth();
  llvm::SmallString<32> digits;
  if (!u && value.isMinSignedValue() && width >= 32) {
    // C++ has no literal for the minimum signed integer, so it is written as an expression.
    return width == 32 ? "(-2147483647 - 1)" : "(-9223372036854775807ll - 1)";
  }
  value.toString(digits, 10, !u);
  std::string result = digits.str().str() + (u ? "u" : "") + (width == 64 ? "ll" : "");
  if (width < 32)
    result = "(" + getComputeTypeName(element) + ")" + result;
  else if (result[0] == '-')
    result = "(" + result + ")";
  return result;
}

std::string formatElementLiteral(Type element, const ref::Tensor &tensor, int64_t index) {
  if (isFloat(element))
    return formatLiteral(element, tensor.getDouble(index));
  return formatLiteral(
      element, APInt(64, uint64_t(tensor.getInt(index))).trunc(element.getIntOrFloatBitWidth()));
}

} // namespace dlc::cuda
