//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
// A recurrent layer in its standard form becomes one dlc operation. Any other (other activations,
// peepholes, clipping, sequences of different lengths, quantized weights) becomes a loop over time
// of primitive operations.
#include "frontend/onnx/Families.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

enum class Cell { Lstm, Gru, Rnn };

struct GateActivation {
  std::string name;
  double alpha = 0, beta = 0;
};

struct RecurrentLayer {
  Cell cell;
  int64_t gates, directions, T, N, I, H;
  std::string direction;
  std::vector<GateActivation> activations;
  bool standard = true;
  double clip = 0;
  bool inputForget = false, linearBeforeReset = false;
  /// Operands, in the layouts x [T, N, I]; w [D, G*H, I]; r [D, G*H, H]; b [D, 2*G*H]; h0 and c0
  /// [D, N, H].
  Value x, w, r, bias, h0, c0, peepholes, lengths;
  /// Scales and zero points of quantized w and r. Quantized weights are stored transposed: w [D, I,
  /// G*H], r [D, H, G*H]. There is one scale per direction, or one per column [D, G*H].
  QuantizationParams wq, rq;
};

/// Multiplies x by the transposed weights of one direction. If the weights are quantized, x is
/// quantized dynamically.
Value multiplyByWeights(Build &b, Value x, Value w, const QuantizationParams &q) {
  if (!q.scale)
    return b.matmul(x, w, false, true);
  DynamicQuantizeResult xq = quantizeDynamically(b, x);
  return buildQuantizedMatmul(b, xq.values, xq.by, w, q);
}

Value applyActivation(Build &b, const GateActivation &f, Value x) {
  StringRef name(f.name);
  auto is = [&](StringRef other) { return name.equals_insensitive(other); };
  if (is("Sigmoid"))
    return b.sigmoid(x);
  if (is("Tanh"))
    return b.unary<TanhOp>(x);
  if (is("Relu"))
    return b.unary<ReluOp>(x);
  if (is("Affine"))
    return b.add(b.mul(x, f.alpha), f.beta);
  if (is("HardSigmoid"))
    return buildHardSigmoid(b, x, f.alpha, f.beta);
  if (is("ScaledTanh"))
    return b.mul(b.unary<TanhOp>(b.mul(x, f.beta)), f.alpha);
  if (is("Softsign"))
    return buildSoftsign(b, x);
  if (is("Softplus"))
    return b.unary<Log1pOp>(b.unary<ExpOp>(x));
  if (is("LeakyRelu"))
    return buildLeakyRelu(b, x, f.alpha);
  if (is("Elu"))
    return buildElu(b, x, f.alpha);
  if (is("ThresholdedRelu"))
    return b.select(b.compare(Predicate::ge, x, b.like(x, f.alpha)), x, b.like(x, 0));
  return b.error("activation '" + Twine(f.name) +
                 "' is not supported; supported: Sigmoid, Tanh, Relu, Affine, HardSigmoid, "
                 "ScaledTanh, Softsign, Softplus, LeakyRelu, Elu, ThresholdedRelu");
}

bool readActivations(Node &n, Build &b, RecurrentLayer &layer, ArrayRef<StringRef> defaults) {
  std::vector<std::string> names = n.strings("activations");
  std::vector<double> alphas = n.reals("activation_alpha"), betas = n.reals("activation_beta");
  size_t number = defaults.size() * size_t(layer.directions);
  if (!b.require(names.empty() || names.size() == number,
                 "attribute 'activations' must have " + Twine(number) + " entries"))
    return false;
  size_t nextAlpha = 0, nextBeta = 0;
  for (size_t i = 0; i < number; ++i) {
    GateActivation f{names.empty() ? defaults[i % defaults.size()].str() : names[i]};
    StringRef name(f.name);
    layer.standard &= name.equals_insensitive(defaults[i % defaults.size()]) ||
                      (layer.cell == Cell::Rnn && name.equals_insensitive("Relu"));
    // `activation_alpha` and `activation_beta` have entries only for those activations that have
    // the parameter.
    struct {
      const char *name;
      double alpha, beta;
      bool hasBeta;
    } parameters[] = {{"Affine", 1, 0, true},     {"HardSigmoid", 0.2f, 0.5, true},
                      {"ScaledTanh", 1, 1, true}, {"LeakyRelu", 0.01f, 0, false},
                      {"Elu", 1, 0, false},       {"ThresholdedRelu", 1, 0, false}};
    for (auto &p : parameters)
      if (name.equals_insensitive(p.name)) {
        f.alpha = nextAlpha < alphas.size() ? alphas[nextAlpha++] : p.alpha;
        if (p.hasBeta)
          f.beta = nextBeta < betas.size() ? betas[nextBeta++] : p.beta;
      }
    layer.activations.push_back(f);
  }
  if (layer.cell == Cell::Rnn && layer.directions == 2)
    layer.standard &=
        StringRef(layer.activations[0].name).equals_insensitive(layer.activations[1].name);
  return true;
}

/// Recurrent weights and bias of one direction, which are the same in all time steps.
struct DirectionWeights {
  /// r [G*H, H], or transposed [H, G*H] if the weights are quantized.
  Value r, bias;
  QuantizationParams by;
  /// Parts of r for a GRU whose reset gate is applied before the candidate's matmul
  /// (`linear_before_reset` = 0): those of the gates, and that of the candidate.
  Value gates, candidate;
  SmallVector<Value> peepholes;
};

QuantizationParams selectDirectionQuantization(Build &b, const QuantizationParams &q, int64_t d) {
  return q.scale ? QuantizationParams{b.at(q.scale, 0, d), b.at(q.zeroPoint, 0, d)}
                 : QuantizationParams();
}

DirectionWeights readDirectionWeights(Build &b, const RecurrentLayer &l, int64_t d) {
  DirectionWeights own{b.at(l.r, 0, d),
                       b.sliceAxis(b.at(l.bias, 0, d), 0, l.gates * l.H, l.gates * l.H)};
  own.by = selectDirectionQuantization(b, l.rq, d);
  if (l.cell == Cell::Gru && !l.linearBeforeReset) {
    own.gates = b.sliceAxis(own.r, 0, 0, 2 * l.H);
    own.candidate = b.sliceAxis(own.r, 0, 2 * l.H, l.H);
  }
  for (int64_t p = 0; l.peepholes && p < 3; ++p)
    own.peepholes.push_back(b.sliceAxis(b.at(l.peepholes, 0, d), 0, p * l.H, l.H));
  return own;
}

/// Recurrent state: h, and for an LSTM also c.
using State = SmallVector<Value>;

/// Computes one time step of one direction. wx is the matmul of the input and w, [N, G*H],
/// including the biases.
State buildTimeStep(Build &b, const RecurrentLayer &l, int64_t d, Value wx, const State &s,
                    const DirectionWeights &w) {
  auto clip = [&](Value v) { return l.clip > 0 ? b.clamp(v, -l.clip, l.clip) : v; };
  auto gate = [&](Value v, int64_t g) { return b.sliceAxis(v, 1, g * l.H, l.H); };
  auto f = [&](int64_t i) -> const GateActivation & {
    return l.activations[size_t(d) * (l.activations.size() / size_t(l.directions)) + size_t(i)];
  };
  Value h = s[0];
  if (l.cell == Cell::Rnn) {
    Value sum = b.add(b.add(wx, multiplyByWeights(b, h, w.r, w.by)), w.bias);
    return {applyActivation(b, f(0), clip(sum))};
  }
  if (l.cell == Cell::Lstm) {
    Value all = b.add(b.add(wx, multiplyByWeights(b, h, w.r, w.by)), w.bias), before = s[1];
    auto peep = [&](Value v, int64_t p, Value c) {
      return l.peepholes ? b.add(v, b.mul(w.peepholes[p], c)) : v;
    };
    Value in = applyActivation(b, f(0), clip(peep(gate(all, 0), 0, before)));
    Value forget = l.inputForget ? b.sub(b.like(in, 1), in)
                                 : applyActivation(b, f(0), clip(peep(gate(all, 2), 2, before)));
    Value candidate = applyActivation(b, f(1), clip(gate(all, 3)));
    Value c = b.add(b.mul(forget, before), b.mul(in, candidate));
    Value out = applyActivation(b, f(0), clip(peep(gate(all, 1), 1, c)));
    return {b.mul(out, applyActivation(b, f(2), c)), c};
  }
  // One matmul computes all gates that do not depend on the reset gate. If `linear_before_reset` is
  // 0, the bias of the candidate is included in wx.
  Value fromState = b.matmul(h, l.linearBeforeReset ? w.r : w.gates, false, true);
  if (l.linearBeforeReset)
    fromState = b.add(fromState, w.bias);
  auto open = [&](int64_t g) {
    return applyActivation(b, f(0), clip(b.add(gate(wx, g), gate(fromState, g))));
  };
  Value update = open(0), reset = open(1);
  Value inner = l.linearBeforeReset ? b.mul(reset, gate(fromState, 2))
                                    : b.matmul(b.mul(reset, h), w.candidate, false, true);
  Value candidate = applyActivation(b, f(1), clip(b.add(gate(wx, 2), inner)));
  return {b.add(b.mul(b.sub(b.like(update, 1), update), candidate), b.mul(update, h))};
}

/// Result of a time step: the next state and the output.
struct TimeStepResult {
  State states;
  Value y;
};

/// Runs `steps` time steps and returns the final state and the outputs [T, ...]. More than one step
/// becomes a dlc.loop.
TimeStepResult overTime(Build &b, int64_t steps, const State &first,
                        llvm::function_ref<TimeStepResult(Value iteration, const State &)> step) {
  if (steps == 1) {
    TimeStepResult only = step(b.scalarInt(b.i64, 0), first);
    return {only.states, only.y ? b.expandDims(only.y, 0) : Value()};
  }
  Value trip = b.scalarInt(b.i64, steps);
  Region region;
  Block *block = new Block;
  region.push_back(block);
  Value iteration = block->addArgument(RankedTensorType::get({}, b.i64), b.getLoc());
  State inside;
  SmallVector<Type> types;
  for (Value state : first) {
    if (!state)
      return {};
    inside.push_back(block->addArgument(state.getType(), b.getLoc()));
    types.push_back(state.getType());
  }
  {
    OpBuilder::InsertionGuard guard(b.b);
    b.b.setInsertionPointToEnd(block);
    TimeStepResult next = step(iteration, inside);
    if (b.ok()) {
      Dims shape = b.dims(next.y);
      shape.insert(shape.begin(), steps);
      types.push_back(RankedTensorType::get(shape, b.elem(next.y)));
      next.states.push_back(next.y);
      YieldOp::create(b.b, b.getLoc(), ValueRange(next.states));
    }
  }
  if (!b.ok()) {
    b.discard(region);
    return {};
  }
  auto loop = LoopOp::create(b.b, b.getLoc(), types, trip, Value(), first);
  loop.getBody().takeBody(region);
  TimeStepResult result;
  llvm::append_range(result.states, loop->getResults().drop_back());
  result.y = loop->getResults().back();
  return result;
}

/// Builds a recurrent layer as a loop over time for each direction. Returns the outputs y [T, D, N,
/// H] and the final states h [D, N, H] and c [D, N, H].
std::vector<Value> buildAsLoops(Build &b, const RecurrentLayer &l) {
  std::vector<Value> ys, hs, cs;
  for (int64_t d = 0; d < l.directions && b.ok(); ++d) {
    bool backward = l.direction == "reverse" || d == 1;
    Value w = b.at(l.w, 0, d);
    DirectionWeights own = readDirectionWeights(b, l, d);
    QuantizationParams wq = selectDirectionQuantization(b, l.wq, d);
    Value bias = b.sliceAxis(b.at(l.bias, 0, d), 0, 0, l.gates * l.H);
    if (own.gates)
      bias = b.add(bias, own.bias);
    Value all = b.add(multiplyByWeights(b, l.x, wq.scale ? w : b.expandDims(w, 0), wq), bias);
    Value end =
        l.lengths && backward ? b.sub(b.like(l.lengths, double(l.T - 1)), l.lengths) : Value();
    State first{b.at(l.h0, 0, d)};
    if (l.c0)
      first.push_back(b.at(l.c0, 0, d));
    TimeStepResult last =
        overTime(b, l.T, first, [&](Value iteration, const State &s) -> TimeStepResult {
          Value t = backward ? b.sub(b.scalarInt(b.i64, l.T - 1), iteration) : iteration;
          State next = buildTimeStep(b, l, d, b.gather(all, t, 0), s, own);
          Value y = next.front();
          if (l.lengths) {
            // After the end of a sequence, its state remains unchanged and its outputs are zeros.
            Value now = b.cast(iteration, b.elem(l.lengths));
            Value live = backward ? b.compare(Predicate::lt, end, now)
                                  : b.compare(Predicate::lt, now, l.lengths);
            live = b.reshape(live, {l.N, 1});
            y = b.select(live, y, b.like(y, 0));
            for (auto [after, before] : llvm::zip_equal(next, s))
              after = b.select(live, after, before);
          }
          return {next, y};
        });
    if (!b.ok())
      return {};
    ys.push_back(backward ? b.reverse(last.y, 0) : last.y);
    hs.push_back(last.states[0]);
    if (l.c0)
      cs.push_back(last.states[1]);
  }
  if (!b.ok())
    return {};
  return {b.stack(ys, 1), b.stack(hs, 0), l.cell == Cell::Lstm ? b.stack(cs, 0) : Value()};
}

std::vector<Value> buildRecurrentOp(Build &b, const RecurrentLayer &l) {
  Direction direction = l.directions == 2          ? Direction::both
                        : l.direction == "reverse" ? Direction::reverse
                                                   : Direction::forward;
  SmallVector<NamedAttribute> attributes{
      b.attr("direction", DirectionAttr::get(b.context, direction))};
  if (l.cell == Cell::Lstm)
    return b.ops<LstmOp>({l.x, l.w, l.r, l.bias, l.h0, l.c0}, attributes);
  if (l.cell == Cell::Gru) {
    if (l.linearBeforeReset)
      attributes.push_back(b.attrUnit("linear_before_reset"));
    return b.ops<GruOp>({l.x, l.w, l.r, l.bias, l.h0}, attributes);
  }
  if (StringRef(l.activations[0].name).equals_insensitive("Relu"))
    attributes.push_back(b.attrUnit("relu"));
  return b.ops<RnnOp>({l.x, l.w, l.r, l.bias, l.h0}, attributes);
}

/// Reads the sizes and directions of the layer and checks the shapes of its weights. Returns false
/// after an error. Quantized weights are transposed.
bool readSizes(Node &n, Build &b, RecurrentLayer &l, bool quantized) {
  l.T = b.dim(l.x, 0);
  l.N = b.dim(l.x, 1);
  l.I = b.dim(l.x, 2);
  l.H = b.dim(l.r, quantized ? 1 : 2);
  if (!b.require(n.integer("hidden_size", l.H) == l.H,
                 "attribute 'hidden_size' contradicts R; required: " + Twine(l.H) + "; found: " +
                     Twine(n.integer("hidden_size", l.H)) + "; remove or correct the attribute"))
    return false;
  l.direction = n.string("direction", "forward");
  l.directions = l.direction == "bidirectional" ? 2 : 1;
  if (l.direction != "forward" && l.direction != "reverse" && l.directions != 2) {
    n.unsupported("direction", l.direction, "forward, reverse, bidirectional");
    return false;
  }
  int64_t outer = quantized ? 2 : 1, inner = quantized ? 1 : 2;
  return b.require(
      b.dim(l.w, 0) == l.directions && b.dim(l.w, outer) == l.gates * l.H &&
          b.dim(l.w, inner) == l.I && b.dim(l.r, 0) == l.directions &&
          b.dim(l.r, outer) == l.gates * l.H && l.H > 0 && l.T > 0,
      quantized ? "W must be [directions, inputs, gates * hidden] and R [directions, hidden, "
                  "gates * hidden]"
                : "W must be [directions, gates * hidden, inputs] and R [directions, gates * "
                  "hidden, hidden]");
}

/// Reads `sequence_lens`. Returns false after an error.
bool readLengths(Node &n, Build &b, RecurrentLayer &l) {
  if (!n.has(4))
    return true;
  l.lengths = n.in(4);
  if (!b.require(b.rank(l.lengths) == 1 && b.dim(l.lengths, 0) == l.N,
                 "sequence_lens must have one entry per sequence; required: " + Twine(l.N) +
                     "; found: " + Twine(b.count(l.lengths)) + "; correct its shape"))
    return false;
  // `sequence_lens` has no effect if all lengths are T.
  if (auto lengths = b.known(l.lengths)) {
    bool full = true;
    for (int64_t i = 0; i < lengths->size(); ++i) {
      const int64_t length = lengths->getInt(i);
      if (!b.require(length >= 0 && length <= l.T,
                     "sequence_lens is out of range; required: 0 to " + Twine(l.T) +
                         "; found: " + Twine(length) + "; correct the lengths"))
        return false;
      full &= length == l.T;
    }
    if (full)
      l.lengths = {};
  }
  return true;
}

template <Cell cell> void recurrent(Node &n, Build &b, RecurrentLayer l) {
  l.cell = cell;
  l.gates = cell == Cell::Lstm ? 4 : cell == Cell::Gru ? 3 : 1;
  bool batchFirst = n.flag("layout");
  if (!b.require(b.rank(n.in(0)) == 3 && b.rank(n.in(1)) == 3 && b.rank(n.in(2)) == 3,
                 "X, W and R must have rank 3"))
    return;
  l.x = batchFirst ? b.transpose(n.in(0), {1, 0, 2}) : n.in(0);
  l.w = n.in(1);
  l.r = n.in(2);
  const bool quantized = bool(l.wq.scale);
  if (!readSizes(n, b, l, quantized))
    return;
  Type element = b.elem(l.x);
  auto state = [&](int64_t i) {
    if (!n.has(i))
      return b.splat(element, {l.directions, l.N, l.H}, 0);
    return batchFirst && b.rank(n.in(i)) == 3 ? b.transpose(n.in(i), {1, 0, 2}) : n.in(i);
  };
  l.bias = n.has(3) ? n.in(3) : b.splat(element, {l.directions, 2 * l.gates * l.H}, 0);
  l.h0 = state(5);
  if (cell == Cell::Lstm) {
    l.c0 = state(6);
    l.peepholes = n.in(7);
    l.inputForget = n.integer("input_forget", 0) != 0;
  }
  l.linearBeforeReset = n.integer("linear_before_reset", 0) != 0;
  l.clip = n.real("clip", 0);
  if (!readLengths(n, b, l))
    return;
  StringRef defaults[] = {cell == Cell::Rnn ? "Tanh" : "Sigmoid", "Tanh", "Tanh"};
  size_t used = cell == Cell::Lstm ? 3 : cell == Cell::Gru ? 2 : 1;
  if (!readActivations(n, b, l, ArrayRef<StringRef>(defaults).take_front(used)) || !b.ok())
    return;
  l.standard &= !quantized && !l.peepholes && !l.lengths && l.clip <= 0 && !l.inputForget;
  std::vector<Value> results = l.standard ? buildRecurrentOp(b, l) : buildAsLoops(b, l);
  if (!b.ok())
    return;
  n.set(0, batchFirst ? b.transpose(results[0], {2, 0, 1, 3}) : results[0]);
  for (int64_t i = 1; i < int64_t(results.size()); ++i)
    if (results[i])
      n.set(i, batchFirst ? b.transpose(results[i], {1, 0, 2}) : results[i]);
}

template <Cell cell> void recurrentNode(Node &n, Build &b) { recurrent<cell>(n, b, {}); }

/// DynamicQuantizeLSTM. The left operand of each matmul is quantized with a range computed at run
/// time: over all time steps for the inputs, and over the whole batch at each step for the state.
void dynamicQuantizeLstm(Node &n, Build &b) {
  RecurrentLayer l;
  auto weights = [&](int64_t w, int64_t scale) -> QuantizationParams {
    Value x = n.in(w), zero = n.in(scale + 1);
    QuantizationParams q{n.in(scale), zero};
    if (!b.require(b.rank(x) == 3, "W and R must have rank 3"))
      return q;
    int64_t all = b.count(q.scale), directions = b.dim(x, 0);
    b.require(b.elem(zero) == b.elem(x) && b.isFloat(q.scale),
              "the scales must be floats, and the zero points have the weights' type");
    b.require(all == directions || all == directions * b.dim(x, 2),
              "the scales must be one per direction, or one per direction and column; there are " +
                  Twine(all));
    b.require(b.count(zero) == all, "the numbers of zero points and of scales must be equal");
    if (b.ok() && all != directions)
      return {b.reshape(q.scale, {directions, b.dim(x, 2)}),
              b.reshape(zero, {directions, b.dim(x, 2)})};
    return {b.reshape(q.scale, {directions}), b.reshape(zero, {directions})};
  };
  l.wq = weights(1, 8);
  l.rq = weights(2, 10);
  if (b.ok())
    recurrent<Cell::Lstm>(n, b, l);
}

const Operator table[] = {
    {"LSTM", recurrentNode<Cell::Lstm>},
    {"GRU", recurrentNode<Cell::Gru>},
    {"RNN", recurrentNode<Cell::Rnn>},
    {"DynamicQuantizeLSTM", 3, dynamicQuantizeLstm,
     "activation_alpha activation_beta activations clip direction hidden_size input_forget",
     microsoft},
};

} // namespace

ArrayRef<Operator> recurrentOperators() { return table; }

} // namespace dlc::onnxfront
