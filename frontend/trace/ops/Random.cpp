//===- Random.cpp - random numbers from a counter, and dropout ------------===//
#include "frontend/trace/RankPart.h"

#include <cmath>

using namespace mlir;

namespace dlc::trace {

int64_t State::nextSeed() {
  // The seed is derived from the module's path, so that adding a layer elsewhere does not change
  // the module's random numbers.
  uint64_t hash = 0xcbf29ce484222325u ^ seed;
  std::string key = modulePath() + "#" + std::to_string(callsOf(modulePath()));
  for (unsigned char c : key)
    hash = (hash ^ c) * 0x100000001b3u;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
  return int64_t((hash ^ (hash >> 27)) >> 1);
}

Tensor State::drawCount(const Location &location) {
  Tensor count = step_count(location), stream = rankPart ? rankPart->stream() : Tensor();
  return stream ? count + stream : count;
}

static Tensor random(const char *name, RandomKind kind, const Shape &shape, const Operand &counter,
                     int64_t seed, DType dtype) {
  ApiCall call(name, {&counter});
  call.numbersLike({}); // numbers become i64 constants
  RandomOp::Adaptor::Properties properties;
  properties.kind = RandomKindAttr::get(call.context(), kind);
  properties.seed = call.integer(seed);
  for (int64_t dim : shape)
    if (dim < 0)
      call.fail("all sizes must be known; found ", shapeText(shape));
  auto type = RankedTensorType::get(shape, elementTypeOf(dtype, call.context()));
  return call.tensor(call.makeAs<RandomOp>(type, call.value(counter), properties));
}

Tensor random_uniform(Shape shape, const Operand &counter, int64_t seed, DType dtype) {
  return random("random_uniform", RandomKind::uniform, shape, counter, seed, dtype);
}
Tensor random_normal(Shape shape, const Operand &counter, int64_t seed, DType dtype) {
  return random("random_normal", RandomKind::normal, shape, counter, seed, dtype);
}

Tensor dropout(const Operand &x, double probability) {
  ApiCall call("dropout", {&x});
  if (!(probability >= 0 && probability <= 1))
    call.fail("the probability must be from 0 to 1; found ", std::to_string(probability));
  RankedTensorType type = call.type(x);
  Tensor value = call.tensor(call.value(x));
  if (probability == 0)
    return value;
  call.requireStatic(type, "for dropout");
  if (probability == 1)
    return value * 0;
  // The dropout mask is drawn in f32 whatever the type of x, so that it does not depend on the
  // precision.
  Tensor drawn =
      random_uniform(value.shape(), Operand(call.state().drawCount(x.location), x.location),
                     call.state().nextSeed(), DType::F32);
  return where(drawn >= probability, value * (1 / (1 - probability)), 0);
}

} // namespace dlc::trace
