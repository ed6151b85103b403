//===- EmitFold.cpp - reductions, products and windows as loops of a thread ===//
#include "codegen/cuda/Emitter.h"

using namespace mlir;
using llvm::Twine;

namespace dlc::cuda {

Type Emitter::sumType(ReduceOp op) {
  // A mean of integers is taken of the true sum, which a narrow type would wrap.
  Type element = elementOf(op.getX());
  if (op.getKind() == ReduceKind::mean && !isFloat(element))
    return IntegerType::get(op.getContext(), 64);
  if (isFloat(element) && !element.isF64())
    return Float32Type::get(op.getContext());
  return element;
}

Emitter::Gathered Emitter::gather(ReduceKind kind, Type sum, int64_t terms, int64_t array) {
  constexpr int64_t few = 4;
  bool adds = kind == ReduceKind::sum || kind == ReduceKind::mean;
  Gathered g{t.fresh("total"), kind, sum, adds && isFloat(sum) && terms > few};
  std::string type = computeName(sum), first = neutral(kind, sum);
  if (g.careful)
    t.line("dk::careful<" + type + "> " + g.name + (array ? "[" + Twine(array) + "]" : Twine("")) +
           ";");
  else if (!array)
    t.line(type + " " + g.name + " = " + first + ";");
  else
    t.line(type + " " + g.name + "[" + Twine(array) + "];");
  if (array && !g.careful)
    for (int64_t i = 0; i < array; ++i)
      t.line(g.name + "[" + Twine(i) + "] = " + first + ";");
  return g;
}

void Emitter::gatherTerm(const Gathered &g, const std::string &term, const std::string &at) {
  std::string name = g.name + (at.empty() ? "" : "[" + at + "]");
  t.line(g.careful ? name + ".add(" + term + ");"
                   : name + " = " + combine(g.kind, g.sum, name, term) + ";");
}

std::string Emitter::gathered(const Gathered &g, const std::string &at) const {
  return g.name + (at.empty() ? "" : "[" + at + "]") + (g.careful ? ".value()" : "");
}

std::string Emitter::finishReduce(ReduceOp op, const std::string &total) {
  Type sum = sumType(op), element = elementOf(op.getX());
  std::string result = total;
  if (op.getKind() == ReduceKind::mean) {
    int64_t count = 1;
    for (int64_t axis : op.getAxes())
      count *= shapeOf(op.getX())[axis];
    result =
        isFloat(sum) || count > 0 ? total + " / " + literal(sum, double(count)) : literal(sum, 0.0);
  }
  if (computeName(sum) != computeName(element))
    result = "(" + computeName(element) + ")(" + result + ")";
  return result == total ? total : let(computeName(element), result);
}

std::string Emitter::reduce(ReduceOp op, const Indices &at) {
  auto shape = shapeOf(op.getX());
  ArrayRef<int64_t> axes = op.getAxes();
  SmallVector<int64_t> extents;
  for (int64_t axis : axes)
    extents.push_back(shape[axis]);
  Type sum = sumType(op);
  Gathered total = gather(op.getKind(), sum, product(extents));
  loops(extents, [&](ArrayRef<Expr> where) {
    Indices from;
    size_t kept = 0, reduced = 0;
    for (size_t d = 0; d < shape.size(); ++d) {
      if (reduced < axes.size() && axes[reduced] == int64_t(d)) {
        from.push_back(where[reduced++]);
        kept += op.getKeepdims();
      } else {
        from.push_back(at[kept++]);
      }
    }
    std::string term = eval(op.getX(), from);
    if (computeName(sum) != computeName(elementOf(op.getX())))
      term = "(" + computeName(sum) + ")" + term;
    gatherTerm(total, term);
  });
  return finishReduce(op, total.careful ? let(computeName(sum), gathered(total)) : total.name);
}

std::string Emitter::argReduce(ArgReduceOp op, const Indices &at) {
  int64_t axis = op.getAxis();
  Type element = elementOf(op.getX());
  Indices from(at);
  if (!op.getKeepdims())
    from.insert(from.begin() + axis, Expr(0));
  std::string best = t.fresh("v"), where = t.fresh("v");
  from[axis] = 0;
  t.line(computeName(element) + " " + best + " = " + eval(op.getX(), from) + ";");
  t.line("long long " + where + " = 0;");
  std::string test = std::string("dk::better<") +
                     (op.getKind() == ReduceKind::max ? "true" : "false") + ", " +
                     (op.getLast() ? "true" : "false") + ">";
  loop("1", shapeOf(op.getX())[axis], "1", [&](Expr i) {
    from[axis] = i;
    std::string v = eval(op.getX(), from);
    t.line("if (" + test + "(" + v + ", " + best + ")) " + best + " = " + v + ", " + where + " = " +
           i.text() + ";");
  });
  return where;
}

/// Where conv reads x for the result position `p` and the place `k` in the window.
static Expr windowPlace(const Expr &p, const Expr &k, int64_t stride, int64_t dilation,
                        int64_t low) {
  return p * stride + k * dilation - Expr(low);
}

SmallVector<int64_t> contractedExtents(Operation *op) {
  SmallVector<int64_t> extents;
  if (auto o = dyn_cast<MatmulOp>(op)) {
    auto a = shapeOf(o.getA());
    extents.push_back(a[a.size() - (o.getTransposeA() ? 2 : 1)]);
  } else if (auto o = dyn_cast<ConvOp>(op)) {
    llvm::append_range(extents, shapeOf(o.getW()).drop_front());
  } else if (auto o = dyn_cast<ConvTransposeOp>(op)) {
    extents.push_back(shapeOf(o.getW())[0] / o.getGroups());
    llvm::append_range(extents, shapeOf(o.getW()).drop_front(2));
  } else {
    auto w = cast<ConvWeightGradOp>(op);
    extents.push_back(shapeOf(w.getDy())[0]);
    llvm::append_range(extents, shapeOf(w.getDy()).drop_front(2));
  }
  return extents;
}

Value biasOf(Operation *op) {
  if (auto o = dyn_cast<ConvOp>(op))
    return o.getBias();
  if (auto o = dyn_cast<ConvTransposeOp>(op))
    return o.getBias();
  return {};
}

static Term matmulTerm(MatmulOp op, const Indices &at, const Expr &k) {
  auto operandIndex = [&](RankedTensorType type, bool turned, const Expr &row, const Expr &column) {
    Indices from;
    int64_t skip = int64_t(at.size()) - type.getRank();
    for (int64_t d = 0; d + 2 < type.getRank(); ++d)
      from.push_back(type.getDimSize(d) == 1 ? Expr(0) : at[d + skip]);
    from.push_back(turned ? column : row);
    from.push_back(turned ? row : column);
    return from;
  };
  return {operandIndex(typeOf(op.getA()), op.getTransposeA(), at[at.size() - 2], k),
          operandIndex(typeOf(op.getB()), op.getTransposeB(), k, at.back()),
          {}};
}

struct Windows {
  static void within(const Expr &e, int64_t size, SmallVectorImpl<std::string> &list) {
    Emitter::within(e, size, list);
  }
};

Term contractedTerm(Emitter &e, Operation *op, const Indices &at, ArrayRef<Expr> where) {
  if (auto o = dyn_cast<MatmulOp>(op))
    return matmulTerm(o, at, where[0]);
  Term term;
  if (auto o = dyn_cast<ConvOp>(op)) {
    auto x = shapeOf(o.getX()), w = shapeOf(o.getW());
    Expr group = e.x.divide(at[1], w[0] / o.getGroups());
    term.a = {at[0], e.x.add(group * w[1], where[0])};
    term.b = {at[1], where[0]};
    for (size_t d = 0; d + 2 < x.size(); ++d) {
      Expr p = windowPlace(at[d + 2], where[d + 1], o.getStrides()[d], o.getDilations()[d],
                           o.getLow()[d]);
      Windows::within(p, x[d + 2], term.conditions);
      term.a.push_back(p);
      term.b.push_back(where[d + 1]);
    }
    return term;
  }
  if (auto o = dyn_cast<ConvWeightGradOp>(op)) {
    auto x = shapeOf(o.getX()), dy = shapeOf(o.getDy());
    Expr group = e.x.divide(at[0], dy[1] / o.getGroups());
    term.a = {where[0], e.x.add(group * (x[1] / o.getGroups()), at[1])};
    term.b = {where[0], at[0]};
    for (size_t d = 0; d + 2 < x.size(); ++d) {
      Expr p = windowPlace(where[d + 1], at[d + 2], o.getStrides()[d], o.getDilations()[d],
                           o.getLow()[d]);
      Windows::within(p, x[d + 2], term.conditions);
      term.a.push_back(p);
      term.b.push_back(where[d + 1]);
    }
    return term;
  }
  auto o = cast<ConvTransposeOp>(op);
  auto x = shapeOf(o.getX()), w = shapeOf(o.getW());
  Expr group = e.x.divide(at[1], w[1]), channel = e.x.add(group * (w[0] / o.getGroups()), where[0]);
  term.a = {at[0], channel};
  term.b = {channel, e.x.remainder(at[1], w[1])};
  for (size_t d = 0; d + 2 < x.size(); ++d) {
    // y + low = stride * p + dilation * k: only the k that make p whole take part.
    Expr q = at[d + 2] + Expr(o.getLow()[d]) - where[d + 1] * o.getDilations()[d];
    int64_t stride = o.getStrides()[d];
    if (q.low() < 0)
      term.conditions.push_back(q.text() + " >= 0");
    Expr rest = e.x.remainder(q, stride);
    if (!(rest == Expr(0)))
      term.conditions.push_back(rest.text() + " == 0");
    Expr p = e.x.divide(q, stride);
    if (p.high() >= x[d + 2])
      term.conditions.push_back(p.text() + " < " + std::to_string(x[d + 2]));
    term.a.push_back(p);
    term.b.push_back(where[d + 1]);
  }
  return term;
}

std::string Emitter::sum(Type element, ArrayRef<int64_t> extents,
                         function_ref<void(ArrayRef<Expr>, const std::string &)> term) {
  std::string total = t.fresh("v");
  t.line(computeName(element) + " " + total + " = " + literal(element, 0.0) + ";");
  loops(extents, [&](ArrayRef<Expr> where) { term(where, total); });
  return total;
}

std::string Emitter::matmul(MatmulOp op, const Indices &at) { return conv(op, at); }

std::string Emitter::conv(Operation *op, const Indices &at) {
  Type element = elementOf(op->getResult(0));
  std::string total =
      sum(element, contractedExtents(op), [&](ArrayRef<Expr> where, const std::string &total) {
        Term term = contractedTerm(*this, op, at, where);
        guarded(term.conditions, [&] {
          std::string a = eval(op->getOperand(0), term.a), b = eval(op->getOperand(1), term.b);
          t.line(total + (isFloat(element)
                              ? " += " + a + " * " + b + ";"
                              : " = dk::add(" + total + ", dk::mul(" + a + ", " + b + "));"));
        });
      });
  Value bias = biasOf(op);
  if (!bias)
    return total;
  std::string b = eval(bias, {at[1]});
  return let(computeName(element), combine(ReduceKind::sum, element, total, b));
}

template <typename Op>
static Expr inputPlace(Op op, const Indices &at, ArrayRef<Expr> k, size_t d) {
  return windowPlace(at[d + 2], k[d], op.getStrides()[d], op.getDilations()[d], op.getLow()[d]);
}

std::string Emitter::maxPool(Operation *op, Value result, const Indices &at) {
  auto shape = shapeOf(op->getOperand(0));
  Type element = elementOf(op->getOperand(0));
  auto attribute = [&](StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  };
  auto window = attribute("window"), strides = attribute("strides"),
       dilations = attribute("dilations"), low = attribute("low");
  std::string best = t.fresh("v"), where = t.fresh("v");
  auto indices = dyn_cast<MaxPoolIndicesOp>(op);
  t.line(computeName(element) + " " + best + " = " + neutral(ReduceKind::max, element) + ";");
  t.line("long long " + where + " = -1;");
  loops(window, [&](ArrayRef<Expr> k) {
    Indices from{at[0], at[1]};
    SmallVector<std::string> inside;
    for (size_t d = 0; d < window.size(); ++d) {
      Expr p = windowPlace(at[d + 2], k[d], strides[d], dilations[d], low[d]);
      within(p, shape[d + 2], inside);
      from.push_back(p);
    }
    guarded(inside, [&] {
      std::string v = eval(op->getOperand(0), from);
      // The first of equal ones wins; NaN wins over every number.
      Expr place = linear(window, Indices(k.begin(), k.end()));
      if (indices) {
        place = linear(shape, from);
        if (indices.getColumnMajor()) {
          // The spatial dimensions counted with the first one fastest.
          place = x.add(from[0] * shape[1], from[1]) * product(shape.drop_front(2));
          int64_t step = 1;
          for (size_t d = 2; d < shape.size(); step *= shape[d], ++d)
            place = x.add(place, from[d] * step);
        }
      }
      t.line("if (" + where + " < 0 || dk::better<true, false>(" + v + ", " + best + ")) " + best +
             " = " + v + ", " + where + " = " + place.text() + ";");
    });
  });
  scopes.back()[keyOf(op->getResult(0), at)] = best;
  if (op->getNumResults() == 1)
    return best;
  std::string second = where;
  if (!indices)
    second = let("unsigned char", "(unsigned char)(" + where + " < 0 ? 0 : " + where + ")");
  scopes.back()[keyOf(op->getResult(1), at)] = second;
  return result == op->getResult(0) ? best : second;
}

/// How many places of each window count, as text: what an average divides by.
template <typename Op>
static std::string countText(Op op, ArrayRef<int64_t> image, ArrayRef<Expr> position) {
  std::string count;
  for (size_t d = 0; d < position.size(); ++d) {
    Expr start = position[d] * op.getStrides()[d];
    int64_t size = image[d];
    if (op.getIncludePad())
      size += op.getLow()[d] + op.getCountedHigh()[d];
    else
      start = start - Expr(op.getLow()[d]);
    int64_t window = op.getWindow()[d], dilation = op.getDilations()[d];
    bool whole = start.low() >= 0 && start.high() + (window - 1) * dilation < size;
    std::string one = whole ? std::to_string(window)
                            : "dk::taps(" + start.text() + ", " + std::to_string(window) + ", " +
                                  std::to_string(dilation) + ", " + std::to_string(size) + ")";
    count += (count.empty() ? "" : " * ") + one;
  }
  return count;
}

std::string Emitter::avgPool(AvgPoolOp op, const Indices &at) {
  auto shape = shapeOf(op.getX());
  Type element = elementOf(op.getX());
  std::string type = computeName(element);
  std::string total = sum(element, op.getWindow(), [&](ArrayRef<Expr> k, const std::string &total) {
    Indices from{at[0], at[1]};
    SmallVector<std::string> inside;
    for (size_t d = 0; d < k.size(); ++d) {
      from.push_back(inputPlace(op, at, k, d));
      within(from.back(), shape[d + 2], inside);
    }
    guarded(inside, [&] { t.line(total + " += " + eval(op.getX(), from) + ";"); });
  });
  std::string count = countText(op, shape.drop_front(2), ArrayRef<Expr>(at).drop_front(2));
  return let(type, "dk::average(" + total + ", (" + type + ")(" + count + "))");
}

std::string Emitter::poolGrad(Operation *op, const Indices &at) {
  auto max = dyn_cast<MaxPoolGradOp>(op);
  auto avg = dyn_cast<AvgPoolGradOp>(op);
  Value dy = op->getOperand(0);
  auto forward = shapeOf(dy).drop_front(2);
  Type element = elementOf(dy);
  auto attribute = [&](StringRef name) {
    return op->getAttrOfType<DenseI64ArrayAttr>(name).asArrayRef();
  };
  auto window = attribute("window"), strides = attribute("strides"),
       dilations = attribute("dilations"), low = attribute("low");
  return sum(element, window, [&](ArrayRef<Expr> k, const std::string &total) {
    // The windows that have this element at their place k.
    Indices from{at[0], at[1]};
    SmallVector<std::string> inside;
    for (size_t d = 0; d < window.size(); ++d) {
      Expr q = at[d + 2] + Expr(low[d]) - k[d] * dilations[d];
      if (q.low() < 0)
        inside.push_back(q.text() + " >= 0");
      Expr rest = x.remainder(q, strides[d]);
      if (!(rest == Expr(0)))
        inside.push_back(rest.text() + " == 0");
      Expr p = x.divide(q, strides[d]);
      if (p.high() >= forward[d])
        inside.push_back(p.text() + " < " + std::to_string(forward[d]));
      from.push_back(p);
    }
    guarded(inside, [&] {
      if (avg) {
        std::string count = countText(avg, avg.getSpatial(), ArrayRef<Expr>(from).drop_front(2));
        t.line(total + " += dk::average(" + eval(dy, from) + ", (" + computeName(element) + ")(" +
               count + "));");
        return;
      }
      std::string position = eval(max.getPosition(), from);
      Expr place = linear(window, Indices(k.begin(), k.end()));
      t.line("if (" + position + " == " + place.text() + ") " + total + " += " + eval(dy, from) +
             ";");
    });
  });
}

} // namespace dlc::cuda
