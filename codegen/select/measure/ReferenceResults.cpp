//===- ReferenceResults.cpp - reference results in f64 --------------------===//
#include "codegen/select/measure/ReferenceResults.h"
#include "ir/dlc/Contraction.h"

#include "ir/reference/Evaluate.h"
#include "ir/reference/Rows.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc {

namespace {

using Places = std::vector<int64_t>;
using ref::Shape;

/// All elements of a result are computed if neither its multiplications nor its elements exceed
/// kQuick. An intermediate value is not computed completely if it needs more than kMax
/// multiplications or has more than kMaxElements elements.
constexpr double kQuick = 1 << 22, kMax = 2e8, kMaxElements = 2e7;
/// Number of sample positions. kFewPlaces applies to weight gradients, whose sums have many terms.
constexpr int64_t kPlaces = 512, kFewPlaces = 64;

ArrayRef<int64_t> shapeOf(Value v) { return cast<RankedTensorType>(v.getType()).getShape(); }
int64_t sizeOf(Value v) { return ref::multiplyDims(shapeOf(v)); }

Shape toMultiIndex(int64_t place, ArrayRef<int64_t> shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; place /= shape[d])
    index[d] = place % shape[d];
  return index;
}

int64_t toLinearIndex(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  int64_t place = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    place = place * shape[d] + index[d];
  return place;
}

/// Returns the number of multiplications that computing all elements takes; 0 for operations whose
/// work is proportional to their number of elements.
double countMultiplications(Operation *op) {
  auto multiplies = dyn_cast<MultiplyAddInterface>(op);
  return multiplies ? multiplies.countMultiplyAdds() : 0;
}

class ReferenceEvaluator {
public:
  ReferenceEvaluator(Operation *op, ArrayRef<ref::Tensor> operands, bool inOwnTypes)
      : op(op), own(inOwnTypes) {
    auto fusion = dyn_cast<FusionOp>(op);
    for (auto [i, tensor] : llvm::enumerate(operands))
      given[fusion ? Value(fusion.getBody().getArgument(i)) : op->getOperand(i)] = tensor;
  }

  std::optional<std::vector<ExpectedResult>> run() {
    SmallVector<Value> wanted;
    double steps = 0, elements = 0;
    auto add = [&](Operation *inner) {
      steps += countMultiplications(inner);
      for (Value v : inner->getResults())
        elements += double(sizeOf(v));
      return !isa<RandomOp>(inner) || own;
    };
    if (auto fusion = dyn_cast<FusionOp>(op)) {
      for (Operation &inner : fusion.getBody().front().without_terminator())
        if (!add(&inner))
          return std::nullopt;
      llvm::append_range(wanted, fusion.getBody().front().getTerminator()->getOperands());
    } else {
      if (!add(op))
        return std::nullopt;
      llvm::append_range(wanted, op->getResults());
    }
    bool everywhere = steps <= kQuick && elements <= kQuick;
    std::vector<ExpectedResult> expected;
    for (Value v : wanted) {
      ExpectedResult each;
      if (everywhere || sizeOf(v) <= kPlaces) {
        if (sizeOf(v) > kPlaces || everywhere) {
          each.values = whole(v);
        } else {
          for (int64_t i = 0; i < sizeOf(v); ++i)
            each.places.push_back(i);
          each.values = at(v, each.places);
        }
      } else {
        each.places =
            somePlaces(sizeOf(v), v.getDefiningOp<ConvWeightGradOp>() ? kFewPlaces : kPlaces);
        each.values = at(v, each.places);
      }
      if (!each.values)
        return std::nullopt;
      expected.push_back(std::move(each));
    }
    return expected;
  }

private:
  static Places somePlaces(int64_t count, int64_t howMany) {
    Places places = {0, count - 1};
    uint64_t state = 88172645463325252u;
    while (int64_t(places.size()) < howMany) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      places.push_back(int64_t(state % uint64_t(count)));
    }
    return places;
  }

  Type wide(Type element) const {
    return !own && isa<FloatType>(element) ? Float64Type::get(element.getContext()) : element;
  }
  RankedTensorType typeOf(Value v, ArrayRef<int64_t> shape) const {
    return RankedTensorType::get(shape, wide(cast<RankedTensorType>(v.getType()).getElementType()));
  }

  static ref::Tensor converted(const ref::Tensor &from, Type element) {
    if (!from || from.getElementType() == element)
      return from;
    ref::Tensor to = ref::Tensor::empty(RankedTensorType::get(from.getShape(), element));
    for (int64_t i = 0; i < to.size(); ++i)
      to.setDouble(i, from.getDouble(i));
    return to;
  }

  /// Evaluates the operation with `inputs`, which may have other shapes and wider types than its
  /// operands. Returns its results in order; empty if the evaluation fails.
  SmallVector<ref::Tensor> evaluate(Operation *from, ArrayRef<ref::Tensor> inputs,
                                    std::optional<int64_t> length) {
    Operation *clone = from->clone();
    for (Value result : clone->getResults())
      result.setType(length ? typeOf(result, {*length}) : typeOf(result, shapeOf(result)));
    if (auto cast = dyn_cast<CastOp>(clone))
      cast.setToAttr(TypeAttr::get(wide(cast.getTo())));
    SmallVector<ref::Tensor> outputs;
    if (failed(ref::evaluateOp(
            clone, inputs, [](Value) { return ref::Tensor(); }, outputs)))
      outputs.clear();
    clone->destroy();
    return outputs;
  }

  /// Returns all elements of the value, in its own type if it is an operand, for users that support
  /// any element type.
  ref::Tensor source(Value v) {
    auto found = given.find(v);
    return found != given.end() ? found->second : whole(v);
  }

  ref::Tensor whole(Value v) {
    if (auto found = known.find(v); found != known.end())
      return found->second;
    if (auto found = given.find(v); found != given.end())
      return known[v] = converted(found->second, typeOf(v, {}).getElementType());
    Operation *from = v.getDefiningOp();
    if (!from)
      return {};
    if (auto constant = dyn_cast<ConstantOp>(from)) {
      auto value = ref::Tensor::fromAttr(constant.getValue());
      return known[v] =
                 failed(value) ? ref::Tensor() : converted(*value, typeOf(v, {}).getElementType());
    }
    if (countMultiplications(from) > kMax || sizeOf(v) > kMaxElements)
      return {};
    SmallVector<ref::Tensor> inputs;
    for (Value operand : from->getOperands()) {
      inputs.push_back(whole(operand));
      if (!inputs.back())
        return {};
    }
    auto outputs = evaluate(from, inputs, std::nullopt);
    if (outputs.empty())
      return {};
    for (auto [result, tensor] : llvm::zip(from->getResults(), outputs))
      known[result] = tensor;
    return known[v];
  }

  ref::Tensor gather(Value v, const ref::Tensor &from, const Places &places) {
    if (!from)
      return {};
    ref::Tensor to = ref::Tensor::empty(typeOf(v, {int64_t(places.size())}));
    for (size_t i = 0; i < places.size(); ++i)
      if (to.isFloat())
        to.setDouble(i, from.getDouble(places[i]));
      else
        to.setInt(i, from.getInt(places[i]));
    return to;
  }

  ref::Tensor at(Value v, const Places &places) {
    if (auto found = known.find(v); found != known.end())
      return gather(v, found->second, places);
    if (auto found = given.find(v); found != given.end())
      return gather(v, found->second, places);
    Operation *from = v.getDefiningOp();
    if (from && from->hasTrait<Elementwise>()) {
      SmallVector<ref::Tensor> inputs;
      for (Value operand : from->getOperands()) {
        inputs.push_back(at(operand, stretched(places, shapeOf(v), shapeOf(operand))));
        if (!inputs.back())
          return {};
      }
      auto outputs = evaluate(from, inputs, int64_t(places.size()));
      return outputs.empty() ? ref::Tensor() : outputs[0];
    }
    return llvm::TypeSwitch<Operation *, ref::Tensor>(from)
        .Case<BroadcastOp>(
            [&](auto o) { return at(o.getX(), stretched(places, shapeOf(v), shapeOf(o.getX()))); })
        .Case<ReshapeOp, ReorderOp, TransferOp>([&](auto o) { return at(o.getX(), places); })
        .Case<TransposeOp, TransposedViewOp>(
            [&](auto o) { return at(o.getX(), permuted(o, places)); })
        .Case<MatmulOp, ConvOp, ConvTransposeOp, ConvWeightGradOp>(
            [&](auto o) { return sums(o, places); })
        .Case<GroupedMatmulOp, GroupedWeightGradOp>([&](auto o) { return grouped(o, places); })
        .Default([&](Operation *) { return gather(v, whole(v), places); });
  }

  /// Maps positions in the broadcast shape `to` to positions in the operand's shape `from`.
  static Places stretched(const Places &places, ArrayRef<int64_t> to, ArrayRef<int64_t> from) {
    if (to == from)
      return places;
    Places result;
    for (int64_t place : places) {
      Shape index = toMultiIndex(place, to), own(from.size());
      for (size_t d = 0; d < from.size(); ++d)
        own[d] = from[d] == 1 ? 0 : index[d + to.size() - from.size()];
      result.push_back(toLinearIndex(own, from));
    }
    return result;
  }

  template <typename Op> static Places permuted(Op op, const Places &places) {
    Places result;
    for (int64_t place : places) {
      Shape index = toMultiIndex(place, shapeOf(op.getY())), own(index.size());
      for (auto [d, from] : llvm::enumerate(op.getPermutation()))
        own[from] = index[d];
      result.push_back(toLinearIndex(own, shapeOf(op.getX())));
    }
    return result;
  }

  template <typename Op> ref::Tensor sums(Op op, const Places &places) {
    Value v = op->getResult(0);
    if (isIntegerContraction(op))
      return gather(v, whole(v), places);
    ref::Tensor x = source(op->getOperand(0)), y = source(op->getOperand(1)), bias;
    if (Value ofChannels = biasOf(op))
      bias = source(ofChannels);
    if (!x || !y || (biasOf(op) && !bias))
      return {};
    ref::Tensor result = ref::Tensor::empty(typeOf(v, {int64_t(places.size())}));
    if (!result.isFloat())
      return gather(v, whole(v), places);
    for (size_t i = 0; i < places.size(); ++i) {
      Shape index = toMultiIndex(places[i], shapeOf(v));
      result.setDouble(i, sumAt(op, x, y, index) + (bias ? bias.getDouble(index[1]) : 0));
    }
    return result;
  }

  template <typename Op> ref::Tensor grouped(Op op, const Places &places) {
    ref::Tensor x = source(op->getOperand(0)), y = source(op->getOperand(1)),
                ends = source(op.getEnds());
    if (!x || !y || !ends)
      return {};
    std::vector<int64_t> borders = ref::groupBorders(ends, x.getShape()[0]);
    Value v = op->getResult(0);
    ref::Tensor result = ref::Tensor::empty(typeOf(v, {int64_t(places.size())}));
    for (size_t i = 0; i < places.size(); ++i)
      result.setDouble(i, sumAt(op, x, y, borders, toMultiIndex(places[i], shapeOf(v))));
    return result;
  }

  static double sumAt(GroupedMatmulOp op, const ref::Tensor &a, const ref::Tensor &b,
                      const std::vector<int64_t> &borders, ArrayRef<int64_t> index) {
    if (index[0] >= borders.back())
      return 0;
    int64_t group = llvm::upper_bound(borders, index[0]) - borders.begin() - 1;
    int64_t k = a.getShape()[1], n = shapeOf(op.getY())[1];
    double sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum +=
          a.getDouble(index[0] * k + p) *
          b.getDouble(group * k * n + (op.getTransposeB() ? index[1] * k + p : p * n + index[1]));
    return sum;
  }

  static double sumAt(GroupedWeightGradOp, const ref::Tensor &a, const ref::Tensor &dy,
                      const std::vector<int64_t> &borders, ArrayRef<int64_t> index) {
    double sum = 0;
    for (int64_t row = borders[index[0]]; row < borders[index[0] + 1]; ++row)
      sum += a.getDouble(row * a.getShape()[1] + index[1]) *
             dy.getDouble(row * dy.getShape()[1] + index[2]);
    return sum;
  }

  static double sumAt(MatmulOp op, const ref::Tensor &a, const ref::Tensor &b,
                      ArrayRef<int64_t> index) {
    size_t rank = index.size();
    auto own = [&](ArrayRef<int64_t> shape) {
      Shape batch(shape.size(), 0);
      for (size_t d = 0; d + 2 < shape.size(); ++d)
        batch[d] = shape[d] == 1 ? 0 : index[d + rank - shape.size()];
      return batch;
    };
    Shape left = own(a.getShape()), right = own(b.getShape());
    size_t m = left.size() - (op.getTransposeA() ? 1 : 2),
           ka = left.size() - (op.getTransposeA() ? 2 : 1);
    size_t n = right.size() - (op.getTransposeB() ? 2 : 1),
           kb = right.size() - (op.getTransposeB() ? 1 : 2);
    left[m] = index[rank - 2];
    right[n] = index[rank - 1];
    double sum = 0;
    for (int64_t k = 0; k < a.getShape()[ka]; ++k) {
      left[ka] = right[kb] = k;
      sum += a.getDouble(toLinearIndex(left, a.getShape())) *
             b.getDouble(toLinearIndex(right, b.getShape()));
    }
    return sum;
  }

  /// Returns one element of a convolution's result: the sum of x times weight(channel, tap) over
  /// the window taps for which `reach` finds a position inside the image.
  static double sumOverTaps(const ref::Tensor &x, ArrayRef<int64_t> window, int64_t example,
                            int64_t first, int64_t channels,
                            function_ref<bool(ArrayRef<int64_t> tap, Shape &at)> reach,
                            function_ref<double(int64_t, int64_t)> weight) {
    ArrayRef<int64_t> image = x.getShape().drop_front(2);
    int64_t pixels = ref::multiplyDims(image), place = 0;
    double sum = 0;
    ref::forEachIndex(window, [&](const std::vector<int64_t> &tap) {
      Shape at(tap.size());
      if (reach(tap, at))
        for (int64_t c = 0; c < channels; ++c)
          sum += x.getDouble((example * x.getShape()[1] + first + c) * pixels +
                             toLinearIndex(at, image)) *
                 weight(c, place);
      ++place;
    });
    return sum;
  }

  static double sumAt(ConvOp op, const ref::Tensor &x, const ref::Tensor &w,
                      ArrayRef<int64_t> index) {
    ArrayRef<int64_t> window = w.getShape().drop_front(2), image = x.getShape().drop_front(2);
    int64_t channels = w.getShape()[1], features = w.getShape()[0] / op.getGroups(),
            taps = ref::multiplyDims(window);
    auto reach = [&](ArrayRef<int64_t> tap, Shape &at) {
      bool inside = true;
      for (size_t d = 0; d < tap.size(); ++d) {
        at[d] = index[d + 2] * op.getStrides()[d] + tap[d] * op.getDilations()[d] - op.getLow()[d];
        inside &= at[d] >= 0 && at[d] < image[d];
      }
      return inside;
    };
    return sumOverTaps(x, window, index[0], index[1] / features * channels, channels, reach,
                       [&](int64_t c, int64_t place) {
                         return w.getDouble((index[1] * channels + c) * taps + place);
                       });
  }

  static double sumAt(ConvTransposeOp op, const ref::Tensor &x, const ref::Tensor &w,
                      ArrayRef<int64_t> index) {
    ArrayRef<int64_t> window = w.getShape().drop_front(2), image = x.getShape().drop_front(2);
    int64_t features = w.getShape()[1], channels = w.getShape()[0] / op.getGroups(),
            taps = ref::multiplyDims(window);
    int64_t first = index[1] / features * channels;
    auto reach = [&](ArrayRef<int64_t> tap, Shape &at) {
      bool inside = true;
      for (size_t d = 0; d < tap.size(); ++d) {
        int64_t from = index[d + 2] + op.getLow()[d] - tap[d] * op.getDilations()[d];
        at[d] = from / op.getStrides()[d];
        inside &= from >= 0 && from % op.getStrides()[d] == 0 && at[d] < image[d];
      }
      return inside;
    };
    return sumOverTaps(x, window, index[0], first, channels, reach, [&](int64_t c, int64_t place) {
      return w.getDouble(((first + c) * features + index[1] % features) * taps + place);
    });
  }

  static double sumAt(ConvWeightGradOp op, const ref::Tensor &x, const ref::Tensor &dy,
                      ArrayRef<int64_t> index) {
    ArrayRef<int64_t> image = x.getShape().drop_front(2), positions = dy.getShape().drop_front(2);
    int64_t pixels = ref::multiplyDims(image), count = ref::multiplyDims(positions),
            features = dy.getShape()[1];
    int64_t channels = x.getShape()[1] / op.getGroups(),
            c = index[0] / (features / op.getGroups()) * channels + index[1];
    double sum = 0;
    for (int64_t n = 0; n < x.getShape()[0]; ++n) {
      int64_t position = 0;
      ref::forEachIndex(positions, [&](const std::vector<int64_t> &p) {
        int64_t at = 0;
        bool inside = true;
        for (size_t d = 0; d < p.size(); ++d) {
          int64_t own =
              p[d] * op.getStrides()[d] + index[d + 2] * op.getDilations()[d] - op.getLow()[d];
          inside &= own >= 0 && own < image[d];
          at = at * image[d] + own;
        }
        if (inside)
          sum += dy.getDouble((n * features + index[0]) * count + position) *
                 x.getDouble((n * x.getShape()[1] + c) * pixels + at);
        ++position;
      });
    }
    return sum;
  }

  Operation *op;
  bool own;
  DenseMap<Value, ref::Tensor> given, known;
};

} // namespace

std::optional<std::vector<ExpectedResult>>
expectedResults(Operation *op, ArrayRef<ref::Tensor> operands, bool inOwnTypes) {
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  return ReferenceEvaluator(op, operands, inOwnTypes).run();
}

} // namespace dlc
