//===- Contract.cpp - matmul, Gemm, einsum, determinant -------------------===//
#include "frontend/onnx/Families.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;

namespace dlc::onnxfront {

Value buildNumpyMatmul(Build &b, Value a, Value c,
                       llvm::function_ref<Value(Value, Value)> product) {
  if (!b.require(b.rank(a) > 0 && b.rank(c) > 0,
                 "a matrix product needs operands of rank 1 or more"))
    return {};
  bool row = b.rank(a) == 1, column = b.rank(c) == 1;
  Value y = product(row ? b.expandDims(a, 0) : a, column ? b.expandDims(c, 1) : c);
  if (!y)
    return {};
  Dims shape = b.dims(y);
  if (column)
    shape.pop_back();
  if (row)
    shape.erase(shape.end() - (column ? 1 : 2));
  return b.reshape(y, shape);
}

Value buildNumpyMatmul(Build &b, Value a, Value c) {
  return buildNumpyMatmul(b, a, c, [&](Value left, Value right) { return b.matmul(left, right); });
}

Value buildGemm(Node &n, Build &b) {
  double alpha = n.real("alpha", 1), beta = n.real("beta", 1);
  if (!b.require(b.rank(n.in(0)) == 2 && b.rank(n.in(1)) == 2, "A and B must be matrices"))
    return {};
  Value y = b.matmul(n.in(0), n.in(1), n.integer("transA", 0), n.integer("transB", 0));
  if (alpha != 1)
    y = b.mul(y, alpha);
  // Gemm: C broadcasts to the matmul's result, but not the result to C.
  for (int64_t i = 0, rank = b.rank(n.in(2)); n.has(2) && b.ok() && i < rank; ++i) {
    int64_t extent = b.shape(n.in(2))[rank - 1 - i], wanted = i < 2 ? b.shape(y)[1 - i] : 0;
    if (!b.require(i < 2 && (extent == 1 || extent == wanted),
                   "C does not fit the product; required: a shape that broadcasts to [" +
                       Twine(b.dim(y, 0)) + ", " + Twine(b.dim(y, 1)) + "]; found: dimension " +
                       Twine(extent) + "; reshape C"))
      return {};
  }
  if (n.has(2) && beta != 0)
    y = b.add(y, beta == 1 ? n.in(2) : b.mul(n.in(2), beta));
  return y;
}

namespace {

void matmul(Node &n, Build &b) { n.set(0, buildNumpyMatmul(b, n.in(0), n.in(1))); }

void gemm(Node &n, Build &b) { n.set(0, buildGemm(n, b)); }

/// One operand of an einsum. Each dimension of the tensor has a label.
struct EinsumOperand {
  Value value;
  std::string labels;
};

/// Takes the diagonal of dimensions that have the same label, so that the labels are distinct.
void takeDiagonals(Build &b, EinsumOperand &t) {
  for (size_t i = 0; i < t.labels.size() && b.ok(); ++i)
    for (size_t j = i + 1; j < t.labels.size();) {
      if (t.labels[i] != t.labels[j]) {
        ++j;
        continue;
      }
      if (!b.require(b.shape(t.value)[i] == b.shape(t.value)[j],
                     "a repeated label has two different sizes"))
        return;
      Dims square(t.labels.size(), 1);
      square[i] = square[j] = b.shape(t.value)[i];
      Value hit = b.compare(Predicate::eq, b.iota(b.i64, square, int64_t(i)),
                            b.iota(b.i64, square, int64_t(j)));
      t.value = b.reduce(ReduceKind::sum, b.select(hit, t.value, b.like(t.value, 0)), {int64_t(j)},
                         false);
      t.labels.erase(j, 1);
    }
}

void sumUnusedLabels(Build &b, EinsumOperand &t, const std::string &keep) {
  Dims axes;
  std::string left;
  for (size_t i = 0; i < t.labels.size(); ++i)
    if (keep.find(t.labels[i]) == std::string::npos)
      axes.push_back(int64_t(i));
    else
      left += t.labels[i];
  t.value = b.reduce(ReduceKind::sum, t.value, axes, false);
  t.labels = left;
}

Value transposeToLabels(Build &b, const EinsumOperand &t, const std::string &order) {
  Dims permutation;
  for (char label : order)
    permutation.push_back(int64_t(t.labels.find(label)));
  return b.transpose(t.value, permutation);
}

/// Contracts two einsum operands by one batched matmul. Its dimensions are the labels of both
/// operands that are kept (batch), the labels of only one operand, and the contracted labels.
EinsumOperand contractPair(Build &b, EinsumOperand p, EinsumOperand q, const std::string &keep) {
  auto has = [](const std::string &s, char c) { return s.find(c) != std::string::npos; };
  sumUnusedLabels(b, p, keep + q.labels);
  sumUnusedLabels(b, q, keep + p.labels);
  std::string batch, left, right, inner;
  for (char c : p.labels)
    (has(q.labels, c) ? (has(keep, c) ? batch : inner) : left) += c;
  for (char c : q.labels)
    if (!has(p.labels, c))
      right += c;
  std::map<char, int64_t> size;
  for (EinsumOperand *t : {&p, &q})
    for (size_t i = 0; i < t->labels.size() && t->value; ++i) {
      int64_t d = b.shape(t->value)[i], &known = size.try_emplace(t->labels[i], d).first->second;
      known = known == 1 ? d : known;
    }
  // Dimensions of size 1 are broadcast to the size of their label, as in NumPy.
  auto stretched = [&](const EinsumOperand &t, const std::string &order) {
    Value v = transposeToLabels(b, t, order);
    Dims shape;
    for (char c : order)
      shape.push_back(size[c]);
    return b.broadcast(v, shape);
  };
  auto extent = [&](const std::string &labels) {
    int64_t result = 1;
    for (char c : labels)
      result *= size[c];
    return result;
  };
  Value a =
      b.reshape(stretched(p, batch + left + inner), {extent(batch), extent(left), extent(inner)});
  Value c =
      b.reshape(stretched(q, batch + inner + right), {extent(batch), extent(inner), extent(right)});
  Dims shape;
  for (char label : batch + left + right)
    shape.push_back(size[label]);
  return {b.reshape(b.matmul(a, c), shape), batch + left + right};
}

void einsum(Node &n, Build &b) {
  std::string equation;
  for (char c : n.string("equation", ""))
    if (c != ' ')
      equation += c;
  size_t arrow = equation.find("->");
  std::string left = equation.substr(0, arrow),
              output = arrow == std::string::npos ? "" : equation.substr(arrow + 2);
  // An ellipsis in an einsum term represents the operand's dimensions without explicit labels. They
  // get the characters 1, 2, .. as labels, from right to left.
  std::vector<EinsumOperand> terms;
  std::string ellipsis;
  SmallVector<StringRef> parts;
  StringRef(left).split(parts, ',');
  if (!b.require(int64_t(parts.size()) == n.numInputs(), "attribute 'equation' has " +
                                                             Twine(parts.size()) + " terms for " +
                                                             Twine(n.numInputs()) + " operands"))
    return;
  for (auto [i, part] : llvm::enumerate(parts)) {
    EinsumOperand t{n.in(i), part.str()};
    size_t dots = t.labels.find("...");
    if (dots != std::string::npos) {
      int64_t more = b.rank(t.value) - int64_t(t.labels.size() - 3);
      if (!b.require(more >= 0 && more < 31,
                     "a term of the equation has more labels than its operand dimensions"))
        return;
      std::string names;
      for (int64_t k = more; k-- > 0;)
        names += char(1 + k);
      t.labels.replace(dots, 3, names);
      if (names.size() > ellipsis.size())
        ellipsis = names;
    }
    bool valid = int64_t(t.labels.size()) == b.rank(t.value);
    for (char c : t.labels)
      valid &= llvm::isAlpha(c) || (c > 0 && c < 32);
    if (!b.require(valid, "term '" + Twine(part) +
                              "' of the equation does not fit an operand of rank " +
                              Twine(b.rank(t.value))))
      return;
    takeDiagonals(b, t);
    terms.push_back(t);
  }
  if (arrow == std::string::npos) {
    std::string all;
    for (const EinsumOperand &t : terms)
      all += t.labels;
    for (int c = 0; c < 128; ++c)
      if (llvm::isAlpha(char(c)) && llvm::count(all, char(c)) == 1)
        output += char(c);
    output = ellipsis + output;
  } else if (size_t dots = output.find("..."); dots != std::string::npos) {
    output.replace(dots, 3, ellipsis);
  }
  EinsumOperand result = terms[0];
  for (size_t i = 1; i < terms.size() && b.ok(); ++i) {
    std::string keep = output;
    for (size_t j = i + 1; j < terms.size(); ++j)
      keep += terms[j].labels;
    result = contractPair(b, result, terms[i], keep);
  }
  if (!b.ok())
    return;
  sumUnusedLabels(b, result, output);
  for (char c : output)
    if (!b.require(result.labels.find(c) != std::string::npos && llvm::count(output, c) == 1,
                   "the output of the equation has a label twice, or one that no operand has"))
      return;
  n.set(0, transposeToLabels(b, result, output));
}

/// Det: determinant by unrolled Gaussian elimination. The pivot of step k is the element of column
/// k with the maximum magnitude.
void det(Node &n, Build &b) {
  Value x = n.in(0);
  int64_t rank = b.rank(x);
  if (!b.require(rank >= 2 && b.dim(x, -1) == b.dim(x, -2), "required square matrices"))
    return;
  int64_t size = b.dim(x, -1), batch = size ? b.count(x) / (size * size) : 1;
  Dims outer(b.shape(x).begin(), b.shape(x).end() - 2);
  if (!b.require(size > 0 && size <= 64, "determinants of 1 to 64 rows are supported"))
    return;
  Value m = b.reshape(x, {batch, size, size}), result = b.splat(b.elem(x), {batch}, 1);
  for (int64_t k = 0; k < size && b.ok(); ++k) {
    int64_t left = size - k;
    Value column = b.at(m, 2, 0);
    Value pivot = b.op<ArgReduceOp>(
        {b.unary<AbsOp>(column)}, {b.attr("kind", ReduceKindAttr::get(b.context, ReduceKind::max)),
                                   b.attr("axis", int64_t(1)), b.attrUnit("keepdims")});
    // Partial pivoting: swaps row 0 and the pivot row.
    Value row = b.iota(b.i64, {batch, left}, 1), zero = b.scalarInt(b.i64, 0);
    Value swapped = b.select(b.compare(Predicate::eq, row, zero), pivot,
                             b.select(b.compare(Predicate::eq, row, pivot), zero, row));
    Value place = b.broadcast(b.expandDims(swapped, 2), {batch, left, left});
    m = b.op<GatherElementsOp>({m, place}, {b.attr("axis", int64_t(1))});
    Value same = b.reshape(b.compare(Predicate::eq, pivot, zero), {batch});
    Value head = b.at(b.at(m, 2, 0), 1, 0);
    result = b.mul(result, b.select(same, head, b.unary<NegOp>(head)));
    if (left == 1)
      break;
    Value divisor =
        b.select(b.compare(Predicate::eq, head, b.like(head, 0)), b.like(head, 1), head);
    Value rest = b.sliceAxis(m, 1, 1, left - 1),
          top = b.sliceAxis(b.sliceAxis(m, 1, 0, 1), 2, 1, left - 1);
    Value factor = b.div(b.sliceAxis(rest, 2, 0, 1), b.reshape(divisor, {batch, 1, 1}));
    m = b.sub(b.sliceAxis(rest, 2, 1, left - 1), b.mul(factor, top));
  }
  n.set(0, b.reshape(result, outer));
}

const Operator table[] = {
    {"MatMul", matmul},
    {"Gemm", gemm},
    {"Einsum", einsum},
    {"Det", det},
};

} // namespace

ArrayRef<Operator> contractOperators() { return table; }

} // namespace dlc::onnxfront
