//===- Classic.cpp - classical machine learning: n-grams, feature extraction --===//
#include "frontend/onnx/ml/Classic.h"

#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void arrayFeatureExtractor(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(b.rank(x) >= 1, "required rank 1 or more"))
    return;
  if (b.rank(x) == 1)
    x = b.expandDims(x, 0);
  n.set(0, gatherAlong(b, x, b.cast(b.flatten(n.in(1)), b.i64), b.rank(x) - 1));
}

void binarizer(Node &n, Build &b) {
  Value x = n.in(0);
  n.set(0, b.cast(b.compare(Predicate::gt, x, b.like(x, n.real("threshold", 0))), b.elem(x)));
}

/// TfIdfVectorizer: counts the n-grams of the pool in the input. The items of an n-gram may be
/// separated by up to `max_skip_count` positions.
void tfIdfVectorizer(Node &n, Build &b) {
  Dims pool = n.integers("pool_int64s"), starts = n.integers("ngram_counts"),
       places = n.integers("ngram_indexes");
  int64_t shortest = n.integer("min_gram_length", 1), longest = n.integer("max_gram_length", 1);
  int64_t skips = n.integer("max_skip_count", 0);
  std::string mode = n.string("mode", "TF");
  std::vector<double> weights = n.reals("weights");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return n.unsupported("mode", mode, "TF, IDF, TFIDF");
  if (!b.require(!pool.empty(),
                 "attribute 'pool_int64s' is required; n-grams of strings are not supported"))
    return;
  auto x = b.need(n.in(0), "the input in which n-grams are counted");
  if (!b.ok() ||
      !b.require(x->getRank() == 1 || x->getRank() == 2, "required items [C] or [N, C]") ||
      !b.require(shortest >= 1 && longest >= shortest && longest <= 64 && skips >= 0 &&
                     skips <= 4096,
                 "the n-grams' lengths or skips are out of range"))
    return;
  int64_t width = 0;
  for (int64_t place : places) {
    if (!b.require(place >= 0 && place < (1 << 24),
                   "attribute 'ngram_indexes' has an index out of range"))
      return;
    width = std::max(width, place + 1);
  }
  int64_t columns = x->getShape().back(), rows = x->getRank() == 2 ? x->getShape()[0] : 1;
  std::vector<double> counts(size_t(rows * width), 0.0);
  int64_t entry = 0;
  for (int64_t length = 1; length <= int64_t(starts.size()); ++length) {
    int64_t from = starts[length - 1],
            to = length < int64_t(starts.size()) ? starts[length] : int64_t(pool.size());
    if (!b.require(from >= 0 && to >= from && to <= int64_t(pool.size()) &&
                       (to - from) % length == 0,
                   "attribute 'ngram_counts' does not divide the pool into n-grams"))
      return;
    for (int64_t at = from; at < to; at += length, ++entry) {
      if (!b.require(entry < int64_t(places.size()), "attribute 'ngram_indexes' is too short"))
        return;
      if (length < shortest || length > longest)
        continue;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t gap = 1; gap <= (length == 1 ? 1 : skips + 1); ++gap)
          for (int64_t i = 0; i + (length - 1) * gap < columns; ++i) {
            bool same = true;
            for (int64_t k = 0; k < length && same; ++k)
              same = x->getInt(row * columns + i + k * gap) == pool[at + k];
            counts[size_t(row * width + places[entry])] += same;
          }
    }
  }
  for (int64_t e = 0; e < entry && mode != "TF"; ++e)
    for (int64_t row = 0; row < rows; ++row) {
      double &count = counts[size_t(row * width + places[e])];
      double weight = e < int64_t(weights.size()) ? weights[e] : 1;
      count = mode == "IDF" ? (count > 0 ? weight : 0) : count * weight;
    }
  n.set(0, b.floats(counts, x->getRank() == 2 ? Dims{rows, width} : Dims{width}, b.f32));
}

const Operator table[] = {
    {"ArrayFeatureExtractor", arrayFeatureExtractor, classicDomain},
    {"Binarizer", binarizer, classicDomain},
    {"TfIdfVectorizer", tfIdfVectorizer},
};

} // namespace

ArrayRef<Operator> classicOperators() { return table; }

} // namespace dlc::onnxfront
