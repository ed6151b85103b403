//===- Estimators.cpp - linear models, support vector machines, and feature preprocessing --===//
#include "frontend/onnx/ml/Classic.h"

#include <cmath>

using namespace mlir;

namespace dlc::onnxfront {

Value features(Build &b, Value x) { return b.isFloat(x) ? b.widen(x) : b.cast(x, b.f32); }

Value buildArgmaxClass(Build &b, Value scores) {
  return b.op<ArgReduceOp>({scores},
                           {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::max)),
                            b.attr("axis", b.rank(scores) - 1)});
}

int64_t numClasses(Node &n, StringRef integers) {
  size_t strings = n.strings("classlabels_strings").size();
  return int64_t(strings ? strings : n.integers(integers).size());
}

void setLabels(Node &n, Build &b, StringRef integers, Value classes) {
  if (!n.hasOutput(0))
    return;
  if (b.require(!n.hasAttr("classlabels_strings"),
                "labels that are strings are not supported; leave the first output out, or give '" +
                    integers + "'"))
    n.set(0, b.gather(b.ints(n.integers(integers)), classes, 0));
}

Value applyPostTransform(Node &n, Build &b, Value y) {
  std::string name = n.string("post_transform", "NONE");
  if (name == "LOGISTIC")
    return b.sigmoid(y);
  if (name == "SOFTMAX")
    return b.softmax(y, b.rank(y) - 1);
  if (name != "NONE")
    n.unsupported("post_transform", name, "NONE, LOGISTIC, SOFTMAX");
  return y;
}

namespace {

/// Linear model: multiplies x [N, F] by the attribute `coefficients`, which has one row per target,
/// and adds `intercepts`.
Value buildLinearModel(Node &n, Build &b, Value x) {
  std::vector<double> coefficients = n.reals("coefficients"), intercepts = n.reals("intercepts");
  int64_t F = b.rank(x) == 2 ? b.dim(x, 1) : 0, size = int64_t(coefficients.size());
  if (!b.require(F > 0, "required x [N, F]") ||
      !b.require(size > 0 && size % F == 0,
                 "attribute 'coefficients' must have " + Twine(F) +
                     " numbers, as many as features, for each target, and has " + Twine(size)))
    return {};
  int64_t targets = size / F;
  Value y = b.matmul(x, b.floats(coefficients, {targets, F}, b.elem(x)), false, true);
  if (intercepts.empty())
    return y;
  if (!b.require(int64_t(intercepts.size()) == targets,
                 "attribute 'intercepts' must have a number for each target"))
    return {};
  return b.add(y, b.floats(intercepts, {targets}, b.elem(x)));
}

void linearRegressor(Node &n, Build &b) {
  Value y = buildLinearModel(n, b, features(b, n.in(0)));
  if (b.ok() && b.require(b.dim(y, 1) == n.integer("targets", 1),
                          "attribute 'targets' must be the number of rows of 'coefficients'"))
    n.set(0, b.cast(applyPostTransform(n, b, y), b.f32));
}

void linearClassifier(Node &n, Build &b) {
  Value scores = buildLinearModel(n, b, features(b, n.in(0)));
  int64_t classes = numClasses(n, "classlabels_ints");
  if (!b.ok())
    return;
  if (classes == 2 && b.dim(scores, 1) == 1) {
    // Binary classification with a single score, which belongs to the second class. The sign of the
    // score decides the class. The score of the first class is 1 minus the score.
    Value second = b.compare(Predicate::gt, scores, b.like(scores, 0));
    setLabels(n, b, "classlabels_ints", b.flatten(b.cast(second, b.i64)));
    if (n.string("post_transform", "NONE") == "LOGISTIC")
      scores = b.sigmoid(scores);
    return n.set(1, b.cast(b.concat({b.sub(b.like(scores, 1), scores), scores}, 1), b.f32));
  }
  if (!b.require(classes > 1 && b.dim(scores, 1) == classes,
                 "required coefficients for each of at least two labels"))
    return;
  setLabels(n, b, "classlabels_ints", buildArgmaxClass(b, scores));
  n.set(1, b.cast(applyPostTransform(n, b, scores), b.f32));
}

/// Returns the kernel function of a support vector machine for each row of x and each of the S
/// support vectors, as [N, S].
Value buildSvmKernel(Node &n, Build &b, Value x, const std::vector<double> &vectors, int64_t S) {
  std::string type = n.string("kernel_type", "LINEAR");
  std::vector<double> given = n.reals("kernel_params");
  given.resize(3, 0.0);
  int64_t F = b.dim(x, 1);
  Value v = b.floats(vectors, {S, F}, b.elem(x));
  if (type == "RBF") {
    Value apart = b.sub(b.expandDims(x, 1), v);
    Value square = b.reduce(ReduceKind::sum, b.mul(apart, apart), {2}, false);
    return b.unary<ExpOp>(b.mul(square, -given[0]));
  }
  Value product = b.matmul(x, v, false, true);
  if (type == "LINEAR")
    return product;
  product = b.add(b.mul(product, given[0]), given[1]);
  if (type == "POLY")
    return b.pow(product, b.like(product, given[2]));
  if (type == "SIGMOID")
    return b.unary<TanhOp>(product);
  n.unsupported("kernel_type", type, "LINEAR, POLY, RBF, SIGMOID");
  return {};
}

void svmRegressor(Node &n, Build &b) {
  Value x = features(b, n.in(0));
  std::vector<double> coefficients = n.reals("coefficients"), vectors = n.reals("support_vectors"),
                      rho = n.reals("rho");
  int64_t S = n.integer("n_supports", 0), F = b.rank(x) == 2 ? b.dim(x, 1) : 0;
  if (!b.require(F > 0, "required x [N, F]") ||
      !b.require(rho.size() == 1, "attribute 'rho' must have one number"))
    return;
  // Without support vectors the model is linear, and `coefficients` are its weights.
  bool isLinear = S == 0;
  int64_t wanted = isLinear ? F : S;
  if (!b.require(S >= 0 && int64_t(coefficients.size()) == wanted &&
                     (isLinear || int64_t(vectors.size()) == S * F),
                 "required " + Twine(wanted) + " coefficients, and support vectors of " + Twine(F) +
                     " features"))
    return;
  Value by = isLinear ? x : buildSvmKernel(n, b, x, vectors, S);
  Value y = b.matmul(by, b.floats(coefficients, {1, wanted}, b.elem(x)), false, true);
  y = b.add(y, rho[0]);
  if (n.integer("one_class", 0))
    y = b.select(b.compare(Predicate::gt, y, b.like(y, 0)), b.like(y, 1), b.like(y, -1));
  n.set(0, b.cast(applyPostTransform(n, b, y), b.f32));
}

/// Returns an attribute's list of floats as a constant that broadcasts to the features of x. The
/// list has one number per feature, or a single one.
Value makeFeatureConstant(Build &b, Value x, const std::vector<double> &values, StringRef name) {
  auto size = int64_t(values.size());
  if (!b.require(b.rank(x) > 0 && (size == 1 || size == b.dim(x, -1)),
                 "attribute '" + name + "' must have a number for each feature, or one"))
    return {};
  return b.floats(values, {size}, b.elem(x));
}

void scaler(Node &n, Build &b) {
  Value x = features(b, n.in(0));
  if (n.hasAttr("offset"))
    x = b.sub(x, makeFeatureConstant(b, x, n.reals("offset"), "offset"));
  if (n.hasAttr("scale"))
    x = b.mul(x, makeFeatureConstant(b, x, n.reals("scale"), "scale"));
  n.set(0, b.cast(x, b.f32));
}

void normalizer(Node &n, Build &b) {
  Value x = features(b, n.in(0)), norm;
  std::string name = n.string("norm", "MAX");
  if (!b.require(b.rank(x) == 1 || b.rank(x) == 2, "required x [F] or [N, F]"))
    return;
  Dims last{b.rank(x) - 1};
  if (name == "MAX")
    norm = b.reduce(ReduceKind::max, x, last, true);
  else if (name == "L1")
    norm = b.reduce(ReduceKind::sum, b.unary<AbsOp>(x), last, true);
  else if (name == "L2")
    norm = b.unary<SqrtOp>(b.reduce(ReduceKind::sum, b.mul(x, x), last, true));
  else
    return n.unsupported("norm", name, "MAX, L1, L2");
  // Rows with a norm of 0 are divided by 1 and remain zeros.
  Value divisor = b.select(b.compare(Predicate::eq, norm, b.like(norm, 0)), b.like(norm, 1), norm);
  n.set(0, b.cast(b.div(x, divisor), b.f32));
}

void imputer(Node &n, Build &b) {
  Value x = n.in(0), is;
  bool isFloat = b.isFloat(x);
  std::vector<double> values;
  if (isFloat)
    values = n.reals("imputed_value_floats");
  else
    for (int64_t value : n.integers("imputed_value_int64s"))
      values.push_back(double(value));
  double replaced =
      isFloat ? n.real("replaced_value_float", 0) : double(n.integer("replaced_value_int64", 0));
  Value to =
      makeFeatureConstant(b, x, values, isFloat ? "imputed_value_floats" : "imputed_value_int64s");
  is =
      std::isnan(replaced) ? b.unary<IsNanOp>(x) : b.compare(Predicate::eq, x, b.like(x, replaced));
  n.set(0, b.select(is, to, x));
}

/// Reads a list of keys or values from the attributes `what`_int64s, `what`_floats or
/// `what`_tensor.
Value readKeysOrValues(Node &n, Build &b, StringRef what) {
  std::string ints = (what + "_int64s").str(), floats = (what + "_floats").str(),
              tensor = (what + "_tensor").str();
  if (n.hasAttr(ints))
    return b.ints(n.integers(ints));
  if (n.hasAttr(floats)) {
    std::vector<double> values = n.reals(floats);
    return b.floats(values, {int64_t(values.size())}, b.f32);
  }
  if (n.hasAttr(tensor))
    return b.flatten(n.tensor(tensor));
  return b.error("required '" + ints + "', '" + floats + "' or '" + tensor +
                 "'; strings are not supported");
}

void labelEncoder(Node &n, Build &b) {
  Value x = n.in(0), keys = readKeysOrValues(n, b, "keys"),
        values = readKeysOrValues(n, b, "values");
  if (!b.ok() ||
      !b.require(b.count(keys) == b.count(values) && b.count(keys) > 0,
                 "the number of keys must be the number of values") ||
      !b.require(b.elem(x) == b.elem(keys), "x must have the type of the keys"))
    return;
  Value otherwise;
  if (n.hasAttr("default_tensor"))
    otherwise = b.reshape(n.tensor("default_tensor"), {1});
  else
    otherwise = b.splat(b.elem(values), {1},
                        b.isFloat(values) ? n.real("default_float", -0.0)
                                          : double(n.integer("default_int64", -1)));
  int64_t count = b.count(keys);
  Value each = b.expandDims(x, b.rank(x));
  Value equal = b.compare(Predicate::eq, each, keys);
  if (b.isFloat(keys))
    equal = b.either(equal, b.both(b.unary<IsNanOp>(each), b.unary<IsNanOp>(keys)));
  // Numbers the keys in descending order, so that the maximum number of several equal keys is that
  // of the first.
  Value number = b.sub(b.scalarInt(b.i64, count), b.iota(b.i64, {count}, 0));
  Value found =
      b.reduce(ReduceKind::max, b.select(equal, number, b.scalarInt(b.i64, 0)), {b.rank(x)}, false);
  n.set(0, b.gather(b.concat({otherwise, b.reverse(values, 0)}, 0), found, 0));
}

void oneHotEncoder(Node &n, Build &b) {
  Dims categories = n.integers("cats_int64s");
  if (!b.require(!categories.empty(),
                 "attribute 'cats_int64s' is required; strings are not supported"))
    return;
  Value x = b.cast(n.in(0), b.i64);
  n.set(0, b.cast(b.compare(Predicate::eq, b.expandDims(x, b.rank(x)), b.ints(categories)), b.f32));
}

void featureVectorizer(Node &n, Build &b) {
  Dims sizes = n.integers("inputdimensions");
  if (!b.require(int64_t(sizes.size()) == n.numInputs(),
                 "attribute 'inputdimensions' must have a number for each input"))
    return;
  std::vector<Value> parts;
  for (int64_t i = 0; i < n.numInputs() && b.ok(); ++i) {
    Value x = features(b, n.in(i));
    if (b.rank(x) == 1)
      x = b.expandDims(x, 1);
    if (!b.require(b.rank(x) == 2 && Build::isSane(sizes[i], 1), "required inputs [N, F]"))
      return;
    int64_t there = b.dim(x, 1);
    parts.push_back(sizes[i] > there ? b.padZero(x, {0, 0}, {0, sizes[i] - there})
                                     : b.sliceAxis(x, 1, 0, sizes[i]));
  }
  n.set(0, b.concat(parts, 1));
}

/// ZipMap. ONNX defines the result as a map from labels to numbers for each row. It is imported as
/// a tensor with one column per label in their order, because programs return only tensors.
void zipMap(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t labels = numClasses(n, "classlabels_int64s");
  if (b.require(b.rank(x) >= 1 && b.dim(x, -1) == labels,
                "x's last dimension must be the number of labels, " + Twine(labels)))
    n.set(0, x);
}

const Operator table[] = {
    {"ZipMap", zipMap, classicDomain},
    {"LinearRegressor", linearRegressor, classicDomain},
    {"LinearClassifier", linearClassifier, classicDomain},
    {"SVMRegressor", svmRegressor, classicDomain},
    {"Scaler", scaler, classicDomain},
    {"Normalizer", normalizer, classicDomain},
    {"Imputer", imputer, classicDomain},
    {"LabelEncoder", labelEncoder, classicDomain},
    {"OneHotEncoder", oneHotEncoder, classicDomain},
    {"FeatureVectorizer", featureVectorizer, classicDomain},
};

} // namespace

ArrayRef<Operator> estimatorOperators() { return table; }

} // namespace dlc::onnxfront
