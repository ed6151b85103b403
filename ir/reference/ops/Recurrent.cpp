//===- Recurrent.cpp - reference evaluation of LSTM, GRU and RNN layers ---===//
#include "ir/dlc/Dialect.h"
#include "ir/reference/Rows.h"

#include <cmath>

using namespace mlir;

namespace dlc {
using namespace ref;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

namespace {
/// Operands of a recurrent layer as doubles, and the sizes of the layer.
struct RecurrentOperands {
  RecurrentOperands(Inputs inputs, int64_t gates, Direction direction)
      : steps(inputs[0].getShape()[0]), batches(inputs[0].getShape()[1]),
        features(inputs[0].getShape()[2]), directions(inputs[1].getShape()[0]),
        hidden(inputs[2].getShape()[2]), gates(gates), direction(direction),
        x(loadAll<double>(inputs[0])), w(loadAll<double>(inputs[1])), r(loadAll<double>(inputs[2])),
        b(loadAll<double>(inputs[3])), state(loadAll<double>(inputs[4])) {}

  int64_t steps, batches, features, directions, hidden, gates;
  Direction direction;
  std::vector<double> x, w, r, b, state;

  /// Returns the input term w x + bias of one unit of one gate at one time step.
  double fromInput(int64_t d, int64_t t, int64_t n, int64_t gate, int64_t unit) const {
    const int64_t row = gate * hidden + unit;
    const double *weights = w.data() + (d * gates * hidden + row) * features;
    const double *values = x.data() + (t * batches + n) * features;
    double sum = b[d * 2 * gates * hidden + row];
    for (int64_t i = 0; i < features; ++i)
      sum += weights[i] * values[i];
    return sum;
  }
  /// Returns the recurrent term r h of one unit of one gate, without the bias.
  double fromHidden(int64_t d, const double *h, int64_t gate, int64_t unit) const {
    const double *weights = r.data() + ((d * gates + gate) * hidden + unit) * hidden;
    double sum = 0;
    for (int64_t i = 0; i < hidden; ++i)
      sum += weights[i] * h[i];
    return sum;
  }
  double hiddenBias(int64_t d, int64_t gate, int64_t unit) const {
    return b[(d * 2 * gates + gates + gate) * hidden + unit];
  }
  /// Returns the argument of a gate's activation function: the sum of the input, recurrent and bias
  /// terms.
  double gateSum(int64_t d, int64_t t, int64_t n, const double *h, int64_t gate,
                 int64_t unit) const {
    return fromInput(d, t, n, gate, unit) + fromHidden(d, h, gate, unit) +
           hiddenBias(d, gate, unit);
  }

  /// Runs a recurrent layer: each direction and batch row over time. `step(d, t, n, old, next)`
  /// computes the next hidden state from the old one.
  template <typename F> void run(Operation *op, Inputs inputs, Outputs outputs, F step) {
    Tensor y = makeResult(op->getResult(0), {steps, directions, batches, hidden},
                          inputs[0].getElementType());
    Tensor last =
        makeResult(op->getResult(1), {directions, batches, hidden}, inputs[0].getElementType());
    std::vector<double> next(hidden);
    for (int64_t d = 0; d < directions; ++d) {
      const bool backwards = direction == Direction::reverse || d == 1;
      for (int64_t n = 0; n < batches; ++n) {
        double *h = state.data() + (d * batches + n) * hidden;
        for (int64_t i = 0; i < steps; ++i) {
          const int64_t t = backwards ? steps - 1 - i : i;
          step(d, t, n, h, next.data());
          std::copy(next.begin(), next.end(), h);
          storeRow<double>(y, ((t * directions + d) * batches + n) * hidden, hidden, h);
        }
      }
    }
    storeAll<double>(last, state);
    outputs.push_back(y);
    outputs.push_back(last);
  }
};
} // namespace

LogicalResult LstmOp::evaluate(Inputs inputs, Outputs outputs) {
  enum { Input, Output, Forget, Cell };
  RecurrentOperands layer(inputs, 4, getDirection());
  std::vector<double> cells = loadAll<double>(inputs[5]);
  layer.run(*this, inputs, outputs,
            [&](int64_t d, int64_t t, int64_t n, const double *h, double *next) {
              for (int64_t u = 0; u < layer.hidden; ++u) {
                double &c = cells[(d * layer.batches + n) * layer.hidden + u];
                const double i = sigmoid(layer.gateSum(d, t, n, h, Input, u));
                const double o = sigmoid(layer.gateSum(d, t, n, h, Output, u));
                const double f = sigmoid(layer.gateSum(d, t, n, h, Forget, u));
                c = f * c + i * std::tanh(layer.gateSum(d, t, n, h, Cell, u));
                next[u] = o * std::tanh(c);
              }
            });
  Tensor last = makeResult(getC(), inputs[5].getShape(), inputs[5].getElementType());
  storeAll<double>(last, cells);
  outputs.push_back(last);
  return success();
}

LogicalResult GruOp::evaluate(Inputs inputs, Outputs outputs) {
  enum { Update, Reset, Candidate };
  RecurrentOperands layer(inputs, 3, getDirection());
  const bool linearBeforeReset = getLinearBeforeReset();
  std::vector<double> resets(layer.hidden), kept(layer.hidden);
  layer.run(*this, inputs, outputs,
            [&](int64_t d, int64_t t, int64_t n, const double *h, double *next) {
              for (int64_t u = 0; u < layer.hidden; ++u) {
                resets[u] = sigmoid(layer.gateSum(d, t, n, h, Reset, u));
                kept[u] = resets[u] * h[u];
              }
              for (int64_t u = 0; u < layer.hidden; ++u) {
                const double z = sigmoid(layer.gateSum(d, t, n, h, Update, u));
                const double bias = layer.hiddenBias(d, Candidate, u);
                const double recurrent =
                    linearBeforeReset ? resets[u] * (layer.fromHidden(d, h, Candidate, u) + bias)
                                      : layer.fromHidden(d, kept.data(), Candidate, u) + bias;
                const double value = std::tanh(layer.fromInput(d, t, n, Candidate, u) + recurrent);
                next[u] = (1 - z) * value + z * h[u];
              }
            });
  return success();
}

LogicalResult RnnOp::evaluate(Inputs inputs, Outputs outputs) {
  RecurrentOperands layer(inputs, 1, getDirection());
  const bool relu = getRelu();
  layer.run(*this, inputs, outputs,
            [&](int64_t d, int64_t t, int64_t n, const double *h, double *next) {
              for (int64_t u = 0; u < layer.hidden; ++u) {
                const double sum = layer.gateSum(d, t, n, h, 0, u);
                next[u] = relu ? maxOf(sum, 0.0) : std::tanh(sum);
              }
            });
  return success();
}

} // namespace dlc
