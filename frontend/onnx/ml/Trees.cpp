//===- Trees.cpp - ensembles of decision trees ----------------------------===//
//
// A forest is imported as constant tables of its nodes. All rows descend all trees at the same
// time, one level per step. The attributes have one of two forms. TreeEnsemble has one list of all
// nodes and one of all leaves. TreeEnsembleRegressor and TreeEnsembleClassifier identify nodes,
// including leaves, by a tree id and a node id.
//
//===----------------------------------------------------------------------===//
#include "frontend/onnx/ml/Classic.h"

#include <limits>
#include <set>

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// Comparison of a tree node. The numbers are those of `nodes_modes` of TreeEnsemble.
enum Mode : int64_t { LessEqual, Less, GreaterEqual, Greater, Equal, NotEqual, Member };
constexpr Predicate kPredicates[] = {Predicate::le, Predicate::lt, Predicate::ge,
                                     Predicate::gt, Predicate::eq, Predicate::ne};

/// The trees of an ensemble. Nodes of all trees are numbered first, followed by the leaves. The
/// successor of a leaf is the leaf itself.
struct Forest {
  int64_t nodes = 0, leaves = 0, depth = 0, targets = 0;
  Dims feature, modes, whenTrue, whenFalse, missingTrue, roots;
  std::vector<double> splits;
  /// Contribution of each leaf to each target, [leaves, targets].
  std::vector<double> weights;
  /// Sets for the membership tests (BRANCH_MEMBER) of the nodes. All sets have the same number of
  /// values, padded with NaN.
  std::vector<std::vector<double>> members;
};

enum class Aggregation { Average, Sum, Min, Max };

/// Returns the contribution of a leaf to targets for which it has no weight: the identity element
/// of the aggregation.
double getAggregationIdentity(Aggregation how) {
  return how == Aggregation::Min ? INFINITY : how == Aggregation::Max ? -INFINITY : 0;
}

/// Computes the depth of the trees by a breadth-first walk, level by level. More levels than nodes
/// indicate a cycle.
bool computeDepth(Build &b, Forest &f) {
  Dims level;
  for (int64_t root : f.roots)
    if (root < f.nodes)
      level.push_back(root);
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

/// Returns the elements of a tensor attribute as floats; an empty list if the attribute is missing.
std::vector<double> readTensorAttribute(Node &n, Build &b, StringRef name) {
  std::vector<double> values;
  if (auto tensor =
          n.hasAttr(name) ? b.need(n.tensor(name), "attribute '" + name + "'") : std::nullopt)
    for (int64_t i = 0; i < tensor->size(); ++i)
      values.push_back(tensor->getDouble(i));
  return values;
}

bool readForest(Node &n, Build &b, Forest &f, Aggregation how) {
  f.splits = readTensorAttribute(n, b, "nodes_splits");
  std::vector<double> weights = readTensorAttribute(n, b, "leaf_weights"),
                      modes = readTensorAttribute(n, b, "nodes_modes"),
                      members = readTensorAttribute(n, b, "membership_values");
  f.nodes = int64_t(f.splits.size());
  f.leaves = int64_t(weights.size());
  f.feature = n.integers("nodes_featureids");
  f.whenTrue = n.integers("nodes_truenodeids");
  f.whenFalse = n.integers("nodes_falsenodeids");
  Dims trueLeafs = n.integers("nodes_trueleafs"), falseLeafs = n.integers("nodes_falseleafs"),
       targets = n.integers("leaf_targetids");
  f.missingTrue = n.integers("nodes_missing_value_tracks_true", Dims(f.nodes, 0));
  f.roots = n.integers("tree_roots");
  for (const Dims *list :
       {&f.feature, &f.whenTrue, &f.whenFalse, &trueLeafs, &falseLeafs, &f.missingTrue})
    if (!b.require(int64_t(list->size()) == f.nodes,
                   "the attributes 'nodes_*' must have one length"))
      return false;
  if (!b.require(int64_t(modes.size()) == f.nodes && int64_t(targets.size()) == f.leaves &&
                     f.nodes > 0 && f.leaves > 0,
                 "the attributes 'nodes_*' must have one length, and so must 'leaf_*'"))
    return false;
  size_t member = 0;
  f.members.resize(f.nodes);
  for (int64_t i = 0; i < f.nodes; ++i) {
    f.modes.push_back(int64_t(modes[i]));
    int64_t limitTrue = trueLeafs[i] ? f.leaves : f.nodes,
            limitFalse = falseLeafs[i] ? f.leaves : f.nodes;
    if (!b.require(
            modes[i] >= 0 && modes[i] <= double(Member) && f.whenTrue[i] >= 0 &&
                f.whenTrue[i] < limitTrue && f.whenFalse[i] >= 0 && f.whenFalse[i] < limitFalse,
            "node " + Twine(i) + " of the trees has an unknown mode or an invalid successor"))
      return false;
    f.whenTrue[i] += trueLeafs[i] ? f.nodes : 0;
    f.whenFalse[i] += falseLeafs[i] ? f.nodes : 0;
    if (f.modes[i] != Member)
      continue;
    while (member < members.size() && !std::isnan(members[member]))
      f.members[i].push_back(members[member++]);
    ++member;
  }
  for (int64_t root : f.roots)
    if (!b.require(root >= 0 && root < f.nodes, "attribute 'tree_roots' has an index out of range"))
      return false;
  f.weights.assign(size_t(f.leaves * f.targets), getAggregationIdentity(how));
  for (int64_t i = 0; i < f.leaves; ++i)
    if (targets[i] >= 0 && targets[i] < f.targets)
      f.weights[size_t(i * f.targets + targets[i])] = weights[i];
  return computeDepth(b, f);
}

/// Reads a list of floats from an attribute: the f32 attribute `name`, or its f64 variant
/// `name`_as_tensor.
std::vector<double> readFloats(Node &n, Build &b, const Twine &name) {
  std::string single = name.str(), wide = single + "_as_tensor";
  return n.hasAttr(wide) ? readTensorAttribute(n, b, wide) : n.reals(single);
}

/// Reads the attributes of TreeEnsembleRegressor and TreeEnsembleClassifier. `leaf` is the prefix
/// of the leaves' attributes. `given` receives the targets to which leaves contribute.
bool readNamedForest(Node &n, Build &b, Forest &f, Aggregation how, StringRef leaf,
                     std::set<int64_t> &given) {
  Dims trees = n.integers("nodes_treeids"), ids = n.integers("nodes_nodeids");
  size_t count = trees.size();
  Dims feature = n.integers("nodes_featureids"), yes = n.integers("nodes_truenodeids"),
       no = n.integers("nodes_falsenodeids"),
       missing = n.integers("nodes_missing_value_tracks_true", Dims(count, 0));
  std::vector<std::string> modes = n.strings("nodes_modes");
  std::vector<double> values = readFloats(n, b, "nodes_values");
  if (missing.empty())
    missing.assign(count, 0);
  for (size_t length : {ids.size(), feature.size(), yes.size(), no.size(), missing.size(),
                        modes.size(), values.size()})
    if (!b.require(length == count && count > 0, "the attributes 'nodes_*' must have one length"))
      return false;
  constexpr StringRef names[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                 "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
  // Numbers the nodes first, then the leaves. The key is (tree id, node id).
  std::map<std::pair<int64_t, int64_t>, int64_t> at;
  for (bool leaves : {false, true})
    for (size_t i = 0; i < count; ++i)
      if ((modes[i] == "LEAF") == leaves) {
        int64_t number = leaves ? f.nodes + f.leaves++ : f.nodes++;
        if (!b.require(at.try_emplace({trees[i], ids[i]}, number).second,
                       "node " + Twine(ids[i]) + " of tree " + Twine(trees[i]) +
                           " is defined twice"))
          return false;
      }
  std::vector<bool> isChild(count, false);
  for (size_t i = 0; i < count; ++i) {
    if (modes[i] == "LEAF")
      continue;
    const auto *mode = llvm::find(names, modes[i]);
    auto whenTrue = at.find({trees[i], yes[i]}), whenFalse = at.find({trees[i], no[i]});
    if (!b.require(mode != std::end(names) && whenTrue != at.end() && whenFalse != at.end(),
                   "node " + Twine(ids[i]) + " of tree " + Twine(trees[i]) +
                       " has an unknown mode, '" + modes[i] + "', or an invalid successor"))
      return false;
    f.feature.push_back(feature[i]);
    f.modes.push_back(mode - std::begin(names));
    f.splits.push_back(values[i]);
    f.missingTrue.push_back(missing[i]);
    f.whenTrue.push_back(whenTrue->second);
    f.whenFalse.push_back(whenFalse->second);
    isChild[whenTrue->second] = isChild[whenFalse->second] = true;
  }
  f.members.resize(f.nodes);
  std::set<int64_t> rooted;
  for (auto [name, number] : at)
    if (!isChild[number] && b.require(rooted.insert(name.first).second,
                                      "tree " + Twine(name.first) + " has more than one root"))
      f.roots.push_back(number);
  if (!b.require(!f.roots.empty(), "the trees have no root"))
    return false;
  Dims leafTrees = n.integers((leaf + "_treeids").str()),
       leafIds = n.integers((leaf + "_nodeids").str()), targets = n.integers((leaf + "_ids").str());
  std::vector<double> weights = readFloats(n, b, leaf + "_weights");
  if (!b.require(leafIds.size() == leafTrees.size() && targets.size() == leafTrees.size() &&
                     weights.size() == leafTrees.size() && f.leaves > 0,
                 "the attributes '" + leaf +
                     "_*' must have the same length, and the trees must have leaves"))
    return false;
  f.weights.assign(size_t(f.leaves * f.targets), getAggregationIdentity(how));
  for (size_t i = 0; i < weights.size(); ++i) {
    auto found = at.find({leafTrees[i], leafIds[i]});
    if (!b.require(found != at.end() && found->second >= f.nodes && targets[i] >= 0 &&
                       targets[i] < f.targets,
                   "node " + Twine(leafIds[i]) + " of tree " + Twine(leafTrees[i]) +
                       " has a weight although it is not a leaf, or its target is not one of " +
                       Twine(f.targets)))
      return false;
    double &weight = f.weights[size_t((found->second - f.nodes) * f.targets + targets[i])];
    weight = (std::isinf(weight) ? 0 : weight) + weights[i];
    given.insert(targets[i]);
  }
  return computeDepth(b, f);
}

/// Evaluates the tests of the nodes `at`: compares the feature values v with the split values or
/// the sets of the nodes.
Value evaluateNodeTests(Build &b, const Forest &f, Value v, Value split, Value mode, Value at,
                        Value sets) {
  Value yes;
  for (int64_t k : std::set<int64_t>(f.modes.begin(), f.modes.end())) {
    Value test;
    if (k == Member) {
      Value equal = b.compare(Predicate::eq, b.expandDims(v, 2), b.gather(sets, at, 0));
      test = b.cast(b.reduce(ReduceKind::max, b.cast(equal, b.i32), {2}, false), b.i1);
    } else {
      test = b.compare(kPredicates[k], v, b.gather(split, at, 0));
    }
    // If all nodes have the same comparison mode, as in most forests, no select is needed.
    yes = yes ? b.select(b.compare(Predicate::eq, b.gather(mode, at, 0), b.scalarInt(b.i32, k)),
                         test, yes)
              : test;
  }
  return yes;
}

/// Returns the leaf that each row reaches in each tree, as [N, trees]. All trees descend one level
/// per step.
Value findLeaves(Build &b, const Forest &f, Value x) {
  Type element = b.elem(x);
  int64_t N = b.dim(x, 0), F = b.dim(x, 1), total = f.nodes + f.leaves,
          trees = int64_t(f.roots.size());
  for (int64_t feature : f.feature)
    if (!b.require(feature >= 0 && feature < F,
                   "a node reads feature " + Twine(feature) + " of " + Twine(F)))
      return {};
  if (!b.require(trees > 0 && total < (1 << 30),
                 "required: at least one tree, and fewer than 2^30 nodes"))
    return {};
  auto padded = [&](Dims values) {
    values.resize(total, 0);
    return b.ints(values, {total}, b.i32);
  };
  // Successors of each node, in pairs: first the successor if the node's test is false, then the
  // successor if it is true.
  Dims next;
  for (int64_t i = 0; i < total; ++i)
    for (const Dims *child : {&f.whenFalse, &f.whenTrue})
      next.push_back(i < f.nodes ? (*child)[i] : i);
  Value children = b.ints(next, {2 * total}, b.i32), feature = padded(f.feature),
        mode = padded(f.modes), missing = padded(f.missingTrue);
  std::vector<double> splits = f.splits;
  splits.resize(total, 0.0);
  Value split = b.floats(splits, {total}, element), sets;
  if (llvm::is_contained(f.modes, Member)) {
    size_t widest = 1;
    for (auto &members : f.members)
      widest = std::max(widest, members.size());
    std::vector<double> all(total * widest, std::numeric_limits<double>::quiet_NaN());
    for (int64_t i = 0; i < f.nodes; ++i)
      llvm::copy(f.members[i], all.begin() + int64_t(i * widest));
    sets = b.floats(all, {total, int64_t(widest)}, element);
  }
  bool asksMissing = llvm::any_of(f.missingTrue, [](int64_t t) { return t != 0; });
  Value at = b.broadcast(b.ints(f.roots, {1, trees}, b.i32), {N, trees});
  for (int64_t level = 0; level < f.depth && b.ok(); ++level) {
    Value v = b.op<GatherElementsOp>({x, b.gather(feature, at, 0)}, {b.attr("axis", int64_t(1))});
    Value yes = evaluateNodeTests(b, f, v, split, mode, at, sets);
    if (asksMissing)
      yes = b.either(yes, b.both(b.unary<IsNanOp>(v), b.cast(b.gather(missing, at, 0), b.i1)));
    at = b.gather(children, b.add(b.add(at, at), b.cast(yes, b.i32)), 0);
  }
  return b.sub(at, b.scalarInt(b.i32, f.nodes));
}

/// Evaluates all trees and aggregates their contributions for each target, as [N, targets].
Value evaluateForest(Build &b, const Forest &f, Value x, Aggregation how) {
  Value leaf = findLeaves(b, f, x);
  if (!b.ok())
    return {};
  Value table = b.floats(f.weights, {f.leaves, f.targets}, b.elem(x));
  constexpr ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::min,
                                  ReduceKind::max};
  Value y = b.reduce(kinds[int(how)], b.gather(table, leaf, 0), {1}, false);
  return how == Aggregation::Average ? b.div(y, double(f.roots.size())) : y;
}

bool checkTargets(Build &b, Value x, int64_t targets) {
  return b.require(b.rank(x) == 2, "required x [N, F]") &&
         b.require(targets > 0 && targets < (1 << 20), "required targets");
}

void treeEnsemble(Node &n, Build &b) {
  Value x = n.in(0);
  Forest f;
  f.targets = n.integer("n_targets", 1);
  int64_t aggregate = n.integer("aggregate_function", 1), post = n.integer("post_transform", 0);
  if (!b.require(aggregate >= 0 && aggregate <= 3,
                 "attribute 'aggregate_function' must be from 0 to 3"))
    return;
  auto how = Aggregation(aggregate);
  if (!checkTargets(b, x, f.targets) || !readForest(n, b, f, how))
    return;
  Value y = evaluateForest(b, f, x, how);
  if (post == 1)
    y = b.softmax(y, 1);
  else if (post == 2)
    y = b.sigmoid(y);
  else if (post != 0)
    return n.unsupported("post_transform", Twine(post), "0 (none), 1 (softmax), 2 (logistic)");
  n.set(0, y);
}

void treeRegressor(Node &n, Build &b) {
  Value x = features(b, n.in(0));
  Forest f;
  f.targets = n.integer("n_targets", 1);
  std::string name = n.string("aggregate_function", "SUM");
  constexpr StringRef names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto *found = llvm::find(names, name);
  if (found == std::end(names))
    return n.unsupported("aggregate_function", name, "SUM, AVERAGE, MIN, MAX");
  auto how = Aggregation(found - std::begin(names));
  std::set<int64_t> given;
  if (!checkTargets(b, x, f.targets) || !readNamedForest(n, b, f, how, "target", given))
    return;
  Value y = evaluateForest(b, f, x, how);
  std::vector<double> base = readFloats(n, b, "base_values");
  if (!b.require(base.empty() || base.size() == 1 || int64_t(base.size()) == f.targets,
                 "attribute 'base_values' must have a number for each target"))
    return;
  if (!base.empty())
    y = b.add(y, b.floats(base, {int64_t(base.size())}, b.elem(x)));
  n.set(0, b.cast(applyPostTransform(n, b, y), b.f32));
}

void treeClassifier(Node &n, Build &b) {
  Value x = features(b, n.in(0));
  Forest f;
  f.targets = numClasses(n, "classlabels_int64s");
  std::set<int64_t> given;
  if (!checkTargets(b, x, f.targets) || !readNamedForest(n, b, f, Aggregation::Sum, "class", given))
    return;
  Value scores = evaluateForest(b, f, x, Aggregation::Sum);
  std::vector<double> base = readFloats(n, b, "base_values"),
                      weights = readFloats(n, b, "class_weights");
  bool ofOne = f.targets == 2 && given.size() == 1;
  if (!b.require(base.empty() || int64_t(base.size()) == f.targets || (ofOne && base.size() == 1),
                 "attribute 'base_values' must have a number for each class"))
    return;
  if (!ofOne) {
    if (!base.empty())
      scores = b.add(scores, b.floats(base, {f.targets}, b.elem(x)));
    setLabels(n, b, "classlabels_int64s", buildArgmaxClass(b, scores));
    return n.set(1, b.cast(applyPostTransform(n, b, scores), b.f32));
  }
  // Binary classifier whose leaves have weights for one class only: they are scores of the second
  // class. If all weights are non-negative, the score is a probability. Otherwise the sign of the
  // score decides the class.
  Value score = b.sliceAxis(scores, 1, *given.begin(), 1);
  if (!base.empty())
    score = b.add(score, base.back());
  bool isProbability = llvm::all_of(weights, [](double w) { return w >= 0; });
  Value second = b.compare(Predicate::gt, score, b.like(score, isProbability ? 0.5 : 0.0));
  setLabels(n, b, "classlabels_int64s", b.flatten(b.cast(second, b.i64)));
  Value first = isProbability ? b.sub(b.like(score, 1), score) : b.unary<NegOp>(score);
  Value both = b.concat({first, score}, 1);
  // `post_transform` SOFTMAX has no effect on the scores of this binary classifier, as in ONNX
  // Runtime.
  bool isLogistic = !isProbability && n.string("post_transform", "NONE") == "LOGISTIC";
  n.set(1, b.cast(isLogistic ? b.sigmoid(both) : both, b.f32));
}

const Operator table[] = {
    {"TreeEnsemble", treeEnsemble, classicDomain},
    {"TreeEnsembleRegressor", treeRegressor, classicDomain},
    {"TreeEnsembleClassifier", treeClassifier, classicDomain},
};

} // namespace

ArrayRef<Operator> treeOperators() { return table; }

} // namespace dlc::onnxfront
