//===- Inputs.cpp - arrays for the inputs of a program --------------------===//
#include "tools/dlc/Inputs.h"

#include "dlc/Error.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdio>
#include <cstring>
#include <random>

namespace dlc::cli {
namespace {

/// Converts a number to the bits of an f16 or bf16 value.
uint16_t toHalfBits(double value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool inexact;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &inexact);
  return uint16_t(number.bitcastToAPInt().getZExtValue());
}

runtime::NpyArray makeRandomArray(const runtime::TensorInfo &info, uint64_t seed) {
  // The distribution is computed here, because the results of std::uniform_real_distribution for a
  // seed depend on the standard library.
  std::mt19937_64 engine(seed);
  std::vector<char> bytes(info.bytes);
  size_t width = dtypeBytes(info.dtype), count = info.bytes / width;
  for (size_t i = 0; i < count; ++i) {
    double unit = double(engine() >> 11) * 0x1p-53, real = 2 * unit - 1;
    char *at = bytes.data() + i * width;
    auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
    switch (info.dtype) {
    case DType::F32:
      put(float(real));
      break;
    case DType::F64:
      put(real);
      break;
    case DType::F16:
      put(toHalfBits(real, llvm::APFloat::IEEEhalf()));
      break;
    case DType::BF16:
      put(toHalfBits(real, llvm::APFloat::BFloat()));
      break;
    default: // Integers in little-endian order: 0 or 1, because these are usually valid indices.
      *at = unit < 0.5;
    }
  }
  return {info.dtype, info.shape, runtime::copyToOwnedSpan(bytes.data(), bytes.size())};
}

} // namespace

std::vector<runtime::NpyArray> arraysFor(const runtime::Session &session, const Values &given,
                                         uint64_t seed) {
  const runtime::Plan &plan = session.plan();
  for (const auto &[name, array] : given) {
    if (llvm::any_of(plan.inputs,
                     [&, wanted = name](const runtime::TensorInfo &i) { return i.name == wanted; }))
      continue;
    std::string known;
    for (const runtime::TensorInfo &i : plan.inputs)
      known += (known.empty() ? "" : ", ") + i.name;
    throw Error("there is no input '" + name +
                "'; the inputs are: " + (known.empty() ? "none" : known));
  }
  std::vector<runtime::NpyArray> arrays;
  for (const runtime::TensorInfo &info : plan.inputs) {
    if (auto found = given.find(info.name); found != given.end()) {
      const runtime::NpyArray &array = found->second;
      if (array.dtype != info.dtype || array.shape != info.shape)
        throw Error(
            "input '" + info.name + "': required: " + std::string(dtypeName(info.dtype)) + " " +
            shapeText(info.shape) + "; found: " + std::string(dtypeName(array.dtype)) + " " +
            shapeText(array.shape) + "; convert the array before numpy.save, as in x.astype(..)");
      arrays.push_back(array);
    } else if (info.value >= 0) {
      arrays.push_back({info.dtype, info.shape, session.program()->constants[info.value]});
    } else {
      arrays.push_back(makeRandomArray(info, seed * 1000003 + arrays.size()));
    }
  }
  return arrays;
}

Shapes completeShapesWithOnes(const Source &source, const Shapes &given) {
  return source.complete(given, [&](const ValueInfo &v, size_t dim) {
    std::string symbol =
        dim < v.symbols.size() && !v.symbols[dim].empty() ? " (" + v.symbols[dim] + ")" : "";
    std::fprintf(stderr,
                 "dlc: input '%s', dimension %zu%s: not given, assumed to be 1; set it with "
                 "--shape %s=...\n",
                 v.name.c_str(), dim, symbol.c_str(), v.name.c_str());
    return int64_t(1);
  });
}

} // namespace dlc::cli
