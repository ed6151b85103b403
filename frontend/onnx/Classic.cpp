//===- Classic.cpp - classic machine learning: trees, n-grams, features ---===//
#include "frontend/onnx/Node.h"

#include <limits>

using namespace mlir;

namespace dlc::onnxfront {
namespace {

void arrayFeatureExtractor(Node &n, Build &b) {
  Value x = n.in(0);
  if (!b.require(b.rank(x) >= 1, "required rank 1 or more"))
    return;
  if (b.rank(x) == 1)
    x = b.expandDims(x, 0);
  n.set(0, b.gather(x, b.cast(b.flatten(n.in(1)), b.i64), b.rank(x) - 1));
}

void binarizer(Node &n, Build &b) {
  Value x = n.in(0);
  n.set(0, b.cast(b.compare(Predicate::gt, x, b.like(x, n.real("threshold", 0))), b.elem(x)));
}

/// Counts n-grams of a pool, whose items stand some steps apart.
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
  auto x = b.need(n.in(0), "the items, which n-grams are looked for in,");
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

/// The nodes of all trees, and after them the leaves, which lead to themselves.
struct Forest {
  int64_t nodes = 0, leaves = 0, depth = 0;
  Dims feature, modes, whenTrue, whenFalse, missingTrue, roots, targets;
  std::vector<double> splits, weights;
  /// Of membership tests: as many values per node, filled up with NaN.
  std::vector<std::vector<double>> members;
};

bool readForest(Node &n, Build &b, Forest &f) {
  auto constants = [&](StringRef name) {
    std::vector<double> values;
    if (auto tensor =
            n.hasAttr(name) ? b.need(n.tensor(name), "attribute '" + name + "'") : std::nullopt)
      for (int64_t i = 0; i < tensor->size(); ++i)
        values.push_back(tensor->getDouble(i));
    return values;
  };
  f.splits = constants("nodes_splits");
  f.weights = constants("leaf_weights");
  std::vector<double> modes = constants("nodes_modes"), members = constants("membership_values");
  f.nodes = int64_t(f.splits.size());
  f.leaves = int64_t(f.weights.size());
  f.feature = n.integers("nodes_featureids");
  f.whenTrue = n.integers("nodes_truenodeids");
  f.whenFalse = n.integers("nodes_falsenodeids");
  Dims trueLeafs = n.integers("nodes_trueleafs"), falseLeafs = n.integers("nodes_falseleafs");
  f.missingTrue = n.integers("nodes_missing_value_tracks_true", Dims(f.nodes, 0));
  f.roots = n.integers("tree_roots");
  f.targets = n.integers("leaf_targetids");
  for (const Dims *list :
       {&f.feature, &f.whenTrue, &f.whenFalse, &trueLeafs, &falseLeafs, &f.missingTrue})
    if (!b.require(int64_t(list->size()) == f.nodes,
                   "the attributes 'nodes_*' must have one length"))
      return false;
  if (!b.require(int64_t(modes.size()) == f.nodes && int64_t(f.targets.size()) == f.leaves &&
                     f.nodes > 0 && f.leaves > 0,
                 "the attributes 'nodes_*' must have one length, and so must 'leaf_*'"))
    return false;
  size_t member = 0;
  f.members.resize(f.nodes);
  for (int64_t i = 0; i < f.nodes; ++i) {
    f.modes.push_back(int64_t(modes[i]));
    int64_t limitTrue = trueLeafs[i] ? f.leaves : f.nodes,
            limitFalse = falseLeafs[i] ? f.leaves : f.nodes;
    if (!b.require(modes[i] >= 0 && modes[i] <= 6 && f.whenTrue[i] >= 0 &&
                       f.whenTrue[i] < limitTrue && f.whenFalse[i] >= 0 &&
                       f.whenFalse[i] < limitFalse,
                   "node " + Twine(i) + " of the trees has an unknown mode or leads nowhere"))
      return false;
    f.whenTrue[i] += trueLeafs[i] ? f.nodes : 0;
    f.whenFalse[i] += falseLeafs[i] ? f.nodes : 0;
    if (f.modes[i] != 6)
      continue;
    while (member < members.size() && !std::isnan(members[member]))
      f.members[i].push_back(members[member++]);
    ++member;
  }
  // The depth, level by level; more levels than nodes is a cycle.
  Dims level = f.roots;
  for (int64_t root : f.roots)
    if (!b.require(root >= 0 && root < f.nodes, "attribute 'tree_roots' has an index out of range"))
      return false;
  while (!level.empty()) {
    std::vector<bool> seen(f.nodes, false);
    Dims next;
    for (int64_t i : level)
      for (int64_t child : {f.whenTrue[i], f.whenFalse[i]})
        if (child < f.nodes && !seen[child]) {
          seen[child] = true;
          next.push_back(child);
        }
    level = next;
    if (!b.require(++f.depth <= f.nodes, "the trees have a cycle"))
      return false;
  }
  return true;
}

/// All trees go down one level at a time, for all rows at once.
void treeEnsemble(Node &n, Build &b) {
  Value x = n.in(0);
  Forest f;
  if (!b.require(b.rank(x) == 2, "required x [N, F]") || !readForest(n, b, f))
    return;
  Type element = b.elem(x);
  int64_t N = b.dim(x, 0), F = b.dim(x, 1), total = f.nodes + f.leaves,
          trees = int64_t(f.roots.size());
  int64_t targets = n.integer("n_targets", 1);
  for (int64_t feature : f.feature)
    if (!b.require(feature >= 0 && feature < F,
                   "a node asks for feature " + Twine(feature) + " of " + Twine(F)))
      return;
  if (!b.require(trees > 0 && targets > 0 && targets < (1 << 20), "required trees and targets"))
    return;
  auto padded = [&](Dims values, bool self) {
    for (int64_t i = f.nodes; i < total; ++i)
      values.push_back(self ? i : 0);
    return b.ints(values);
  };
  Value feature = padded(f.feature, false), whenTrue = padded(f.whenTrue, true),
        whenFalse = padded(f.whenFalse, true);
  Value mode = padded(f.modes, false), missing = padded(f.missingTrue, false);
  std::vector<double> splits = f.splits;
  splits.resize(total, 0.0);
  Value split = b.floats(splits, {total}, element);
  size_t widest = 0;
  for (auto &members : f.members)
    widest = std::max(widest, members.size());
  Value sets;
  if (llvm::is_contained(f.modes, 6)) {
    std::vector<double> all;
    for (int64_t i = 0; i < total; ++i)
      for (size_t k = 0; k < std::max<size_t>(widest, 1); ++k)
        all.push_back(i < f.nodes && k < f.members[i].size()
                          ? f.members[i][k]
                          : std::numeric_limits<double>::quiet_NaN());
    sets = b.floats(all, {total, int64_t(std::max<size_t>(widest, 1))}, element);
  }
  Value at = b.broadcast(b.ints(f.roots, {1, trees}, b.i64), {N, trees});
  for (int64_t level = 0; level < f.depth && b.ok(); ++level) {
    Value v = b.op<GatherElementsOp>({x, b.gather(feature, at, 0)}, {b.attr("axis", int64_t(1))});
    Value s = b.gather(split, at, 0), m = b.gather(mode, at, 0);
    constexpr Predicate predicates[] = {Predicate::le, Predicate::lt, Predicate::ge,
                                        Predicate::gt, Predicate::eq, Predicate::ne};
    Value yes = b.compare(Predicate::le, v, s);
    for (int64_t k = 1; k < 6; ++k)
      if (llvm::is_contained(f.modes, k))
        yes = b.select(b.compare(Predicate::eq, m, b.like(m, double(k))),
                       b.compare(predicates[k], v, s), yes);
    if (sets) {
      Value equal = b.compare(Predicate::eq, b.expandDims(v, 2), b.gather(sets, at, 0));
      Value inside = b.cast(b.reduce(ReduceKind::max, b.cast(equal, b.i32), {2}, false), b.i1);
      yes = b.select(b.compare(Predicate::eq, m, b.like(m, 6)), inside, yes);
    }
    if (llvm::any_of(f.missingTrue, [](int64_t t) { return t != 0; }))
      yes = b.either(yes, b.both(b.unary<IsNanOp>(v), b.cast(b.gather(missing, at, 0), b.i1)));
    at = b.select(yes, b.gather(whenTrue, at, 0), b.gather(whenFalse, at, 0));
  }
  Value leaf = b.sub(at, double(f.nodes));
  Value weight = b.expandDims(b.gather(b.floats(f.weights, {f.leaves}, element), leaf, 0), 2);
  Value target = b.expandDims(b.gather(b.ints(f.targets), leaf, 0), 2);
  Value hit = b.compare(Predicate::eq, target, b.iota(b.i64, {1, 1, targets}, 2));
  int64_t aggregate = n.integer("aggregate_function", 1), post = n.integer("post_transform", 0);
  if (!b.require(aggregate >= 0 && aggregate <= 3,
                 "attribute 'aggregate_function' must be from 0 to 3"))
    return;
  double otherwise = aggregate == 2 ? INFINITY : aggregate == 3 ? -INFINITY : 0;
  constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::min,
                                  ReduceKind::max};
  Value y =
      b.reduce(kinds[aggregate], b.select(hit, weight, b.like(weight, otherwise)), {1}, false);
  if (aggregate == 0)
    y = b.div(y, double(trees));
  if (post == 1)
    y = b.softmax(y, 1);
  else if (post == 2)
    y = b.sigmoid(y);
  else if (post != 0)
    return n.unsupported("post_transform", Twine(post), "0 (none), 1 (softmax), 2 (logistic)");
  n.set(0, y);
}

const Operator table[] = {
    {"ArrayFeatureExtractor", 2, arrayFeatureExtractor, "", true, "ai.onnx.ml"},
    {"Binarizer", 1, binarizer, "threshold", true, "ai.onnx.ml"},
    {"TreeEnsemble", 1, treeEnsemble,
     "aggregate_function leaf_targetids leaf_weights membership_values n_targets nodes_falseleafs "
     "nodes_falsenodeids nodes_featureids nodes_hitrates nodes_missing_value_tracks_true "
     "nodes_modes nodes_splits nodes_trueleafs nodes_truenodeids post_transform tree_roots",
     true, "ai.onnx.ml"},
    {"TfIdfVectorizer", 1, tfIdfVectorizer,
     "max_gram_length max_skip_count min_gram_length mode ngram_counts ngram_indexes pool_int64s "
     "pool_strings weights"},
};

} // namespace

ArrayRef<Operator> classicOperators() { return table; }

} // namespace dlc::onnxfront
