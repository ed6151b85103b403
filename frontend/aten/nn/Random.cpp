//===- Random.cpp - random numbers and dropout of a training step ------------===//
#include "frontend/aten/nn/Random.h"

#include "frontend/builder/State.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace dlc::aten {

Value buildRandom(Build &b, RandomKind kind, ArrayRef<int64_t> shape, Type element,
                  StringRef salt) {
  if (!b.require(b.training, "random numbers are only supported in complete training steps; leave "
                             "the operator to PyTorch, or call module.eval() if it is a dropout") ||
      !b.require(isa_and_nonnull<FloatType>(element), "required: random floats"))
    return {};
  uint64_t seed = llvm::xxh3_64bits(b.getPrefix() + salt.str());
  seed ^= b.training->seed * 0x9e3779b97f4a7c15u;
  return b.typed<RandomOp>(
      RankedTensorType::get(shape, element), {b.training->counter(b)},
      {b.attr("kind", RandomKindAttr::get(b.context, kind)), b.attr("seed", int64_t(seed >> 1))});
}

Value buildDropout(Build &b, Value x, double probability, Value *kept, StringRef salt) {
  if (!b.require(probability >= 0 && probability <= 1,
                 "argument 'p': required: a number from 0 to 1"))
    return {};
  // The dropout mask is drawn in f32 whatever the type of x, so that it does not depend on the
  // precision.
  Value keep =
      b.compare(Predicate::ge, buildRandom(b, RandomKind::uniform, b.shape(x), b.f32, salt),
                b.scalar(b.f32, probability));
  if (kept)
    *kept = keep;
  return b.select(keep, b.mul(x, probability == 1 ? 0.0 : 1 / (1 - probability)), b.like(x, 0));
}

namespace {

template <RandomKind kind> void randomTensor(Node &n, Build &b) {
  Dims shape = n.isTensor("self") ? b.dims(n.tensor("self")) : n.ints("size");
  n.set(buildRandom(b, kind, shape, n.resultElement()));
}

void nativeDropout(Node &n, Build &b) {
  Value x = n.tensor("input");
  double probability = n.real("p");
  if (!n.flag("train", true) || probability == 0) {
    n.set(0, x);
    return n.set(1, b.splat(b.i1, b.shape(x), 1));
  }
  Value kept;
  n.set(0, buildDropout(b, x, probability, &kept));
  n.set(1, kept);
}

const Operator table[] = {
    {"native_dropout.default", nativeDropout},
    {"rand.default", randomTensor<RandomKind::uniform>},
    {"rand_like.default", randomTensor<RandomKind::uniform>},
    {"randn.default", randomTensor<RandomKind::normal>},
    {"randn_like.default", randomTensor<RandomKind::normal>},
};

} // namespace

ArrayRef<Operator> randomOperators() { return table; }

} // namespace dlc::aten
