//===- Transfer.cpp - reference evaluation of transfers, layouts and dlc.random ---===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"
#include "ir/reference/ops/Random.h"

#include <cmath>
#include <numbers>

using namespace mlir;

namespace dlc {
using namespace ref;

/// Returns the elements of x with the device and layout (encoding) of the declared type.
static Tensor withDeclaredEncoding(Value declared, const Tensor &x) {
  auto type = cast<RankedTensorType>(declared.getType());
  return x.withType(RankedTensorType::get(x.getShape(), x.getElementType(), type.getEncoding()));
}

LogicalResult TransferOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(withDeclaredEncoding(getY(), inputs[0]));
  return success();
}
LogicalResult ReorderOp::evaluate(Inputs inputs, Outputs outputs) {
  outputs.push_back(withDeclaredEncoding(getY(), inputs[0]));
  return success();
}

std::array<uint32_t, 4> ref::philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53) * counter[0], b = uint64_t(0xCD9E8D57) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b),
               uint32_t(a >> 32) ^ counter[3] ^ key[1], uint32_t(a)};
    key = {key[0] + 0x9E3779B9, key[1] + 0xBB67AE85};
  }
  return counter;
}

LogicalResult RandomOp::evaluate(Inputs inputs, Outputs outputs) {
  auto type = dyn_cast<RankedTensorType>(getY().getType());
  if (!type || !type.hasStaticShape())
    return emitOpError("needs a static result type to be evaluated, found ") << getY().getType();
  Tensor y = Tensor::empty(type);
  const uint64_t seed = getSeed(), c = uint64_t(inputs[0].getInt(0));
  // 16-bit floats use only as many bits of the random word as their precision (11 or 8), so that a
  // value in [0, 1) cannot round to 1.
  const int bits = y.getElement() == Element::F16 ? 11 : y.getElement() == Element::BF16 ? 8 : 24;
  const bool normal = getKind() == RandomKind::normal;
  for (int64_t i = 0; i < y.size(); i += 4) {
    const uint64_t block = uint64_t(i) / 4;
    const std::array<uint32_t, 4> words =
        philox({uint32_t(block), uint32_t(block >> 32), uint32_t(c), uint32_t(c >> 32)},
               {uint32_t(seed), uint32_t(seed >> 32)});
    for (int64_t lane = 0; lane < 4 && i + lane < y.size(); ++lane) {
      double value = std::ldexp(double(words[lane] >> (32 - bits)), -bits);
      if (normal) {
        const int64_t first = lane & ~int64_t(1);
        const double u1 = std::ldexp(double((words[first] >> 8) + 1), -24);
        const double angle = 2 * std::numbers::pi * std::ldexp(double(words[first + 1] >> 8), -24);
        value = std::sqrt(-2 * std::log(u1)) * (lane & 1 ? std::sin(angle) : std::cos(angle));
      }
      y.setDouble(i + lane, value);
    }
  }
  outputs.push_back(y);
  return success();
}

} // namespace dlc
