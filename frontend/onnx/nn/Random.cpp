//===- Random.cpp - random numbers and dropout ----------------------------===//
// The random numbers of a program depend only on the node's seed and name, so each run draws the
// same numbers. In training they also depend on the step number.
#include "frontend/builder/State.h"
#include "frontend/onnx/Node.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

Value buildRandom(Node &n, Build &b, RandomKind kind, ArrayRef<int64_t> shape, Type element) {
  uint64_t seed = n.proto.output_size() ? llvm::xxh3_64bits(n.proto.output(0)) : 0;
  if (n.hasAttr("seed")) {
    float given = float(n.real("seed", 0));
    uint32_t bits;
    memcpy(&bits, &given, sizeof bits);
    seed ^= uint64_t(bits) << 32 | bits;
  }
  for (int64_t d : shape)
    if (!b.require(d >= 0, "the shape has the invalid dimension " + Twine(d)))
      return {};
  Value counter = b.scalarInt(b.i64, 0);
  if (b.training) {
    counter = b.training->counter(b);
    seed ^= b.training->seed * 0x9e3779b97f4a7c15u;
  }
  return b.typed<RandomOp>(
      RankedTensorType::get(shape, element), {counter},
      {b.attr("kind", RandomKindAttr::get(b.context, kind)), b.attr("seed", int64_t(seed >> 1))});
}

template <RandomKind kind, bool like> void distribution(Node &n, Build &b) {
  Dims shape = like ? b.dims(n.in(0)) : n.integers("shape");
  Type element = n.hasAttr("dtype") ? n.dataType("dtype", 0) : like ? b.elem(n.in(0)) : b.f32;
  if (!b.ok() || !b.require(isa<FloatType>(element), "random numbers must be floats"))
    return;
  Value x = buildRandom(n, b, kind, shape, element);
  if (kind == RandomKind::uniform) {
    double low = n.real("low", 0), high = n.real("high", 1);
    n.set(0, b.add(b.mul(x, high - low), low));
  } else {
    n.set(0, b.add(b.mul(x, n.real("scale", 1)), n.real("mean", 0)));
  }
}

void bernoulli(Node &n, Build &b) {
  Value x = n.in(0), u = buildRandom(n, b, RandomKind::uniform, b.shape(x), b.f32);
  Type element = n.hasAttr("dtype") ? n.dataType("dtype", 0) : b.elem(x);
  n.set(0, b.cast(b.compare(Predicate::lt, u, b.cast(x, b.f32)), element));
}

/// Multinomial: draws samples from unnormalized log-probabilities x by the Gumbel-max trick.
void multinomial(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t samples = n.integer("sample_size", 1);
  Type element = n.dataType("dtype", onnx::TensorProto::INT32);
  if (!b.ok() ||
      !b.require(b.rank(x) == 2 && samples > 0, "required log probabilities [batch, classes]"))
    return;
  int64_t batch = b.dim(x, 0), classes = b.dim(x, 1);
  Value u = b.max(buildRandom(n, b, RandomKind::uniform, {batch, samples, classes}, b.f32),
                  b.scalar(b.f32, 1e-30));
  Value gumbel = b.unary<NegOp>(b.unary<LogOp>(b.unary<NegOp>(b.unary<LogOp>(u))));
  Value best = b.op<ArgReduceOp>({b.add(gumbel, b.expandDims(b.cast(x, b.f32), 1))},
                                 {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::max)),
                                  b.attr("axis", int64_t(2))});
  n.set(0, b.cast(best, element));
}

void dropout(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(n.opset >= 7 || n.integer("is_test", 0),
                 "training (attribute 'is_test' is 0) is not supported before opset 7"))
    return;
  if (auto ratio = b.known(n.opset >= 12 ? n.in(1) : Value());
      ratio && (!b.require(ratio->size() == 1,
                           "the ratio must have one element, and has " + Twine(ratio->size())) ||
                !b.require(ratio->getDouble(0) >= 0 && ratio->getDouble(0) <= 1,
                           "the ratio must be from 0 to 1")))
    return;
  bool training =
      b.training || (n.opset >= 12 && n.has(2) && b.needInt(n.in(2), "training_mode") != 0);
  double ratio = !training      ? 0
                 : n.opset < 12 ? n.real("ratio", 0.5f)
                 : n.has(1)     ? b.needDouble(n.in(1), "the ratio")
                                : 0.5;
  if (!b.ok() || !b.require(ratio >= 0 && ratio <= 1, "the ratio must be from 0 to 1"))
    return;
  if (ratio == 0) {
    n.set(0, x);
    return n.set(1, b.splat(n.opset >= 10 ? b.i1 : b.elem(x), b.shape(x), 1));
  }
  Value keep = b.compare(Predicate::ge, buildRandom(n, b, RandomKind::uniform, b.shape(x), b.f32),
                         b.scalar(b.f32, ratio));
  Value scaled = ratio == 1 ? b.mul(x, 0.0) : b.mul(x, 1 / (1 - ratio));
  n.set(0, b.select(keep, scaled, b.like(x, 0)));
  n.set(1, keep);
}

const Operator table[] = {
    {"RandomUniform", distribution<RandomKind::uniform, false>},
    {"RandomNormal", distribution<RandomKind::normal, false>},
    {"RandomUniformLike", distribution<RandomKind::uniform, true>},
    {"RandomNormalLike", distribution<RandomKind::normal, true>},
    {"Bernoulli", bernoulli},
    {"Multinomial", multinomial},
    {"Dropout", dropout},
};

} // namespace

ArrayRef<Operator> randomOperators() { return table; }

} // namespace dlc::onnxfront
