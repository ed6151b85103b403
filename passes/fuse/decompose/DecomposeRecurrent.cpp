//===- DecomposeRecurrent.cpp - recurrent layers as library layers or loops ----===//
//
// A library runs an f32 recurrent layer in one direction with constant weights. Other layers become
// such layers if possible: a bidirectional layer becomes two layers, and 16-bit floats are
// converted to f32. All remaining layers become loops over time.
//
//===----------------------------------------------------------------------===//
#include "ir/dlc/Shape.h"
#include "ir/reference/Evaluate.h"
#include "passes/Costs.h"
#include "passes/Devices.h"
#include "passes/fuse/decompose/DecomposePatterns.h"
#include "passes/simplify/Constants.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace dlc {
namespace {

/// Operand numbers of all recurrent layers: input, weights, recurrent weights, bias, initial hidden
/// state and initial cell state.
enum { X, W, R, B, H0, C0 };

/// Evaluates the operation that defines `value` if its operands are constants, because a library
/// packs only constant weights. Otherwise returns `value`.
Value foldConstantOp(Value value, PatternRewriter &rewriter) {
  Operation *op = value.getDefiningOp();
  SmallVector<ref::Tensor> inputs, outputs;
  for (Value operand : op->getOperands()) {
    std::optional<ref::Tensor> tensor = constantTensor(operand);
    if (!tensor)
      return value;
    inputs.push_back(*tensor);
  }
  ScopedDiagnosticHandler silence(op->getContext(), [](Diagnostic &) { return success(); });
  auto nothing = [](Value) { return ref::Tensor(); };
  if (failed(ref::evaluateOp(op, inputs, nothing, outputs)) || outputs.size() != 1)
    return value;
  Value constant = makeConstant(rewriter, op->getLoc(), outputs.front(), typeOf(value));
  rewriter.replaceOp(op, constant);
  return constant;
}

/// Creates the slice [from, from + size) of dimension `axis`.
Value sliceAxis(TensorBuilder &b, Value x, int64_t axis, int64_t from, int64_t size) {
  SmallVector<int64_t> start(typeOf(x).getRank(), 0), sizes(shapeOf(x)),
      stride(typeOf(x).getRank(), 1);
  start[axis] = from;
  sizes[axis] = size;
  return b.make<SliceOp>(x, start, sizes, stride);
}

Value foldedReshape(TensorBuilder &b, PatternRewriter &rewriter, Value x, ArrayRef<int64_t> shape) {
  Value reshaped = b.reshape(x, shape);
  return reshaped == x ? x : foldConstantOp(reshaped, rewriter);
}

bool isSixteenBits(Value x) {
  Type element = typeOf(x).getElementType();
  return element.isF16() || element.isBF16();
}

template <typename Layer> bool hasStaticShapes(Layer op) {
  return llvm::all_of(llvm::concat<Value>(op->getOperands(), op->getResults()),
                      [](Value v) { return typeOf(v).hasStaticShape(); });
}

/// Returns whether each time step multiplies only a few vectors by a matrix. Matmul kernels are
/// faster at this than a library's layer: they take 0.75 of its time for an LSTM of 32 or 256 units
/// and one vector on a Zen 5, and 0.67 to 1.05 for GRUs.
template <typename Layer> bool hasFewVectorsPerStep(Layer op) {
  constexpr int64_t kVectors = 2;
  return shapeOf(op.getH0())[1] <= kVectors;
}

/// Returns whether a CPU library has a kernel for the layer with its attributes and types. Without
/// `costs`, libraries are assumed to have kernels for all recurrent layers in f32.
template <typename Layer> bool isSupportedByLibrary(Layer op, Costs *costs) {
  if (op.getDirection() == Direction::both || !typeOf(op.getX()).getElementType().isF32())
    return false;
  if (OnAttr on = deviceOf(op.getX().getType()); on && !can(on, DLC_DEVICE_HOST_CODE))
    return false; // other devices run the layer as a loop of kernels
  for (Value operand : op->getOperands())
    if (staticElements(typeOf(operand)) == 0)
      return false;
  if (hasFewVectorsPerStep(op))
    return false;
  return llvm::all_of(ArrayRef<Value>{op.getW(), op.getR(), op.getB()},
                      [](Value v) { return constantTensor(v).has_value(); }) &&
         (!costs || hasKernel(*costs, op));
}

/// Creates a recurrent layer with the attributes of `op`, but another direction.
template <typename Layer>
Operation *createLayer(PatternRewriter &rewriter, Layer op, Direction direction,
                       ArrayRef<Value> operands) {
  NamedAttrList attributes(op->getAttrs());
  attributes.set("direction", DirectionAttr::get(op.getContext(), direction));
  return Layer::create(rewriter, op.getLoc(), ValueRange(operands), attributes.getAttrs());
}

// Splits a bidirectional layer: layer(both) = concat(layer(forward), layer(reverse))
template <typename Layer> struct SplitDirections : OpRewritePattern<Layer> {
  using OpRewritePattern<Layer>::OpRewritePattern;
  LogicalResult matchAndRewrite(Layer op, PatternRewriter &rewriter) const override {
    if (op.getDirection() != Direction::both || !hasStaticShapes(op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    SmallVector<Operation *> layers;
    for (Direction direction : {Direction::forward, Direction::reverse}) {
      SmallVector<Value> operands{op.getX()};
      for (Value both : op->getOperands().drop_front())
        operands.push_back(
            foldConstantOp(sliceAxis(b, both, 0, int64_t(layers.size()), 1), rewriter));
      layers.push_back(createLayer(rewriter, op, direction, operands));
    }
    SmallVector<Value> results;
    for (unsigned i = 0; i < op->getNumResults(); ++i) {
      SmallVector<Value> halves{layers[0]->getResult(i), layers[1]->getResult(i)};
      results.push_back(b.make<ConcatOp>(halves, /*axis=*/i == 0 ? 1 : 0));
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};

// Computes a 16-bit layer in f32: layer(x: f16) = cast(layer(cast(x): f32)). A state that is
// rounded to 16 bits in every time step would accumulate errors.
template <typename Layer> struct Widen : OpRewritePattern<Layer> {
  using OpRewritePattern<Layer>::OpRewritePattern;
  LogicalResult matchAndRewrite(Layer op, PatternRewriter &rewriter) const override {
    if (op.getDirection() == Direction::both || !isSixteenBits(op.getX()) || !hasStaticShapes(op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    Type narrow = typeOf(op.getX()).getElementType();
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(foldConstantOp(b.cast(operand, rewriter.getF32Type()), rewriter));
    Operation *layer = createLayer(rewriter, op, op.getDirection(), operands);
    SmallVector<Value> results;
    for (Value result : layer->getResults())
      results.push_back(b.cast(result, narrow));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Dimension sizes of the operands of a unidirectional layer.
struct LayerSizes {
  explicit LayerSizes(Operation *op)
      : steps(shapeOf(op->getOperand(X))[0]), batch(shapeOf(op->getOperand(X))[1]),
        features(shapeOf(op->getOperand(X))[2]), gated(shapeOf(op->getOperand(R))[1]),
        hidden(shapeOf(op->getOperand(R))[2]) {}
  int64_t steps, batch, features, gated, hidden;
};

/// Function that builds one time step. Arguments: the input's contribution to the gates, [N, G*H],
/// and the states, each [N, H]. Returns the next states, of which the first is the output of the
/// time step.
using Step = llvm::function_ref<SmallVector<Value>(TensorBuilder &, Value, ValueRange)>;

/// Returns the slice of gate `g` from the values of all gates, [N, G*H].
Value sliceGate(TensorBuilder &b, Value gates, int64_t g, int64_t hidden) {
  return sliceAxis(b, gates, 1, g * hidden, hidden);
}

/// Returns the recurrent weights r as a matrix [G*H, H].
Value recurrentWeights(TensorBuilder &b, PatternRewriter &rewriter, Operation *op) {
  LayerSizes size(op);
  return foldedReshape(b, rewriter, op->getOperand(R), {size.gated, size.hidden});
}

/// Returns the biases of the input weights (if `which` is 0) or of the recurrent weights (if 1), as
/// [G*H].
Value sliceBias(TensorBuilder &b, PatternRewriter &rewriter, Operation *op, int64_t which) {
  LayerSizes size(op);
  Value half =
      foldConstantOp(sliceAxis(b, op->getOperand(B), 1, which * size.gated, size.gated), rewriter);
  return foldedReshape(b, rewriter, half, {size.gated});
}

/// Rewrites the layer as a loop over time steps. `added` is the bias that is added to the input's
/// contribution to the gates.
void rewriteAsLoop(Operation *op, Direction direction, Value added, PatternRewriter &rewriter,
                   Step step) {
  Location loc = op->getLoc();
  TensorBuilder b(rewriter, loc);
  LayerSizes size(op);
  bool reverse = direction == Direction::reverse;
  // One matmul before the loop computes the input's contribution to the gates of all time steps.
  Value x = b.reshape(op->getOperand(X), {size.steps * size.batch, size.features});
  Value w = foldedReshape(b, rewriter, op->getOperand(W), {size.gated, size.features});
  Value fromInput = b.make<AddOp>(b.make<MatmulOp>(x, w, false, true), added);
  fromInput = b.reshape(fromInput, {size.steps, size.batch, size.gated});

  auto index = makeTensorType({}, rewriter.getI64Type(), deviceOf(x.getType()));
  auto number = [&](int64_t value) -> Value {
    return b.make<ConstantOp>(llvm::cast<ElementsAttr>(DenseElementsAttr::get(index, value)));
  };
  SmallVector<Value> states;
  for (Value state : op->getOperands().drop_front(H0))
    states.push_back(b.reshape(state, {size.batch, size.hidden}));
  SmallVector<Type> types{ValueRange(states).getTypes()};
  auto state = llvm::cast<RankedTensorType>(types.front());
  SmallVector<Type> arguments{index}, results(types);
  llvm::append_range(arguments, types);
  results.push_back(makeTensorType({size.steps, size.batch, size.hidden}, state.getElementType(),
                                   state.getEncoding()));
  Value last = reverse ? number(size.steps - 1) : Value();
  auto loop = LoopOp::create(rewriter, loc, results, number(size.steps), Value(), states);
  {
    OpBuilder::InsertionGuard guard(rewriter);
    Block *body = rewriter.createBlock(&loop.getBody(), {}, arguments,
                                       SmallVector<Location>(arguments.size(), loc));
    Value time = body->getArgument(0);
    if (reverse)
      time = b.make<SubOp>(last, time);
    Value now = b.make<GatherOp>(fromInput, time, /*axis=*/0);
    SmallVector<Value> next = step(b, now, body->getArguments().drop_front());
    next.push_back(next.front());
    YieldOp::create(rewriter, loc, next);
  }

  Value y = loop->getResults().back();
  if (reverse && size.steps > 1)
    y = b.make<SliceOp>(y, ArrayRef<int64_t>{size.steps - 1, 0, 0}, shapeOf(y),
                        ArrayRef<int64_t>{-1, 1, 1});
  SmallVector<Value> values{b.reshape(y, {size.steps, 1, size.batch, size.hidden})};
  for (Value after : loop->getResults().drop_back())
    values.push_back(b.reshape(after, {1, size.batch, size.hidden}));
  rewriter.replaceOp(op, values);
}

/// Base of the patterns that compute a layer as a loop if no library computes it.
template <typename Layer> struct LoopPattern : OpRewritePattern<Layer> {
  LoopPattern(MLIRContext *context, Costs *costs)
      : OpRewritePattern<Layer>(context), costs(costs) {}

  bool needsLoop(Layer op) const {
    return hasStaticShapes(op) && op.getDirection() != Direction::both &&
           !isSixteenBits(op.getX()) && !isSupportedByLibrary(op, costs);
  }

  Costs *costs;
};

// LSTM time step: c' = f c + i tanh(g), h' = o tanh(c')
struct LstmLoop : LoopPattern<LstmOp> {
  using LoopPattern::LoopPattern;
  LogicalResult matchAndRewrite(LstmOp op, PatternRewriter &rewriter) const override {
    if (!needsLoop(op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    int64_t hidden = LayerSizes(op).hidden;
    Value r = recurrentWeights(b, rewriter, op);
    Value added = foldConstantOp(
        b.make<AddOp>(sliceBias(b, rewriter, op, 0), sliceBias(b, rewriter, op, 1)), rewriter);
    rewriteAsLoop(op, op.getDirection(), added, rewriter,
                  [&](TensorBuilder &b, Value now, ValueRange states) -> SmallVector<Value> {
                    enum { Input, Output, Forget, Cell };
                    Value gates = b.make<AddOp>(b.make<MatmulOp>(states[0], r, false, true), now);
                    auto open = [&](int64_t g) {
                      return b.make<SigmoidOp>(sliceGate(b, gates, g, hidden));
                    };
                    Value kept = b.make<MulOp>(open(Forget), states[1]);
                    Value candidate = b.make<TanhOp>(sliceGate(b, gates, Cell, hidden));
                    Value c = b.make<AddOp>(kept, b.make<MulOp>(open(Input), candidate));
                    return {b.make<MulOp>(open(Output), b.make<TanhOp>(c)), c};
                  });
    return success();
  }
};

// GRU time step: h' = (1 - z) tanh(candidate) + z h
struct GruLoop : LoopPattern<GruOp> {
  using LoopPattern::LoopPattern;
  LogicalResult matchAndRewrite(GruOp op, PatternRewriter &rewriter) const override {
    if (!needsLoop(op))
      return failure();
    enum { Update, Reset, Candidate };
    TensorBuilder b(rewriter, op.getLoc());
    int64_t hidden = LayerSizes(op).hidden;
    bool late = op.getLinearBeforeReset();
    Value r = recurrentWeights(b, rewriter, op);
    Value inputBias = sliceBias(b, rewriter, op, 0), hiddenBias = sliceBias(b, rewriter, op, 1);
    // If the reset gate is applied after the recurrent matmul (`linear_before_reset`), it also
    // scales the recurrent bias of the candidate.
    Value added = late ? inputBias : foldConstantOp(b.make<AddOp>(inputBias, hiddenBias), rewriter);
    Value early = late ? r : foldConstantOp(sliceAxis(b, r, 0, 0, 2 * hidden), rewriter);
    Value rest = late ? Value() : foldConstantOp(sliceAxis(b, r, 0, 2 * hidden, hidden), rewriter);
    rewriteAsLoop(
        op, op.getDirection(), added, rewriter,
        [&](TensorBuilder &b, Value now, ValueRange states) -> SmallVector<Value> {
          Value h = states[0], gates = b.make<MatmulOp>(h, early, false, true);
          if (late)
            gates = b.make<AddOp>(gates, hiddenBias);
          auto open = [&](int64_t g) {
            return b.make<SigmoidOp>(
                b.make<AddOp>(sliceGate(b, gates, g, hidden), sliceGate(b, now, g, hidden)));
          };
          Value z = open(Update), opened = open(Reset);
          Value recurrent = late ? b.make<MulOp>(opened, sliceGate(b, gates, Candidate, hidden))
                                 : b.make<MatmulOp>(b.make<MulOp>(opened, h), rest, false, true);
          Value value =
              b.make<TanhOp>(b.make<AddOp>(recurrent, sliceGate(b, now, Candidate, hidden)));
          Value fresh = b.make<MulOp>(b.make<SubOp>(b.scalar(1, z), z), value);
          return {b.make<AddOp>(fresh, b.make<MulOp>(z, h))};
        });
    return success();
  }
};

// Elman RNN time step: h' = tanh(r h + w x + b), or relu(r h + w x + b)
struct RnnLoop : LoopPattern<RnnOp> {
  using LoopPattern::LoopPattern;
  LogicalResult matchAndRewrite(RnnOp op, PatternRewriter &rewriter) const override {
    if (!needsLoop(op))
      return failure();
    TensorBuilder b(rewriter, op.getLoc());
    bool relu = op.getRelu();
    Value r = recurrentWeights(b, rewriter, op);
    Value added = foldConstantOp(
        b.make<AddOp>(sliceBias(b, rewriter, op, 0), sliceBias(b, rewriter, op, 1)), rewriter);
    rewriteAsLoop(op, op.getDirection(), added, rewriter,
                  [&](TensorBuilder &b, Value now, ValueRange states) -> SmallVector<Value> {
                    Value sum = b.make<AddOp>(b.make<MatmulOp>(states[0], r, false, true), now);
                    return {relu ? b.make<ReluOp>(sum) : b.make<TanhOp>(sum)};
                  });
    return success();
  }
};

} // namespace

void addRecurrentDecompositions(RewritePatternSet &patterns, Costs *costs) {
  MLIRContext *context = patterns.getContext();
  patterns.add<SplitDirections<LstmOp>, SplitDirections<GruOp>, SplitDirections<RnnOp>>(context);
  patterns.add<Widen<LstmOp>, Widen<GruOp>, Widen<RnnOp>>(context);
  patterns.add<LstmLoop, GruLoop, RnnLoop>(context, costs);
}

} // namespace dlc
