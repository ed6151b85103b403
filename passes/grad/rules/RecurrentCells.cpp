//===- RecurrentCells.cpp - one time step of a recurrent layer, forward and backward ----===//
#include "passes/grad/rules/RecurrentCells.h"

using namespace mlir;

namespace dlc::grad {

/// Returns the slice of gate `g` from the values of all gates, [N, G*H].
static Expr sliceGate(Expr gates, int64_t g, int64_t hidden) {
  return gates.part(1, g * hidden, hidden);
}

/// Return the gradients of sigmoid and tanh, computed from their results y.
static Expr openBack(Expr dy, Expr y) { return dy * (y * (1 - y)); }
static Expr tanhBack(Expr dy, Expr y) { return dy * (1 - y * y); }

/// Returns the gradient of the recurrent weights: dr = gates^T h, with h the states before the
/// step.
static Expr recurrentWeightGradient(TensorBuilder &b, Expr gates, ArrayRef<Value> kept) {
  return matmul(gates, Expr(b, kept[1]), /*transposeX=*/true);
}

// LSTM cell: c' = f c + i g, h' = o tanh(c'), where i, o, f are sigmoids and g is a tanh. Backward:
// dc' += dh' o (1 - tanh^2 c'), do = dh' tanh c', di = dc' g, df = dc' c, dg = dc' i, dc = dc' f
RecurrentCell lstmCell() {
  enum { Y, H, C, I, O, F, G };
  RecurrentCell cell;
  cell.forward = [](TensorBuilder &b, const RecurrentWeights &w, Expr now, ArrayRef<Value> states) {
    Expr sums = matmul(Expr(b, states[0]), Expr(b, w.r), false, true) + now;
    Expr i = sliceGate(sums, 0, w.hidden).as<SigmoidOp>(),
         o = sliceGate(sums, 1, w.hidden).as<SigmoidOp>();
    Expr f = sliceGate(sums, 2, w.hidden).as<SigmoidOp>(),
         g = sliceGate(sums, 3, w.hidden).as<TanhOp>();
    Expr c = f * Expr(b, states[1]) + i * g;
    return RecurrentCell::Values{o * c.as<TanhOp>(), c, i, o, f, g};
  };
  cell.backward = [](TensorBuilder &b, const RecurrentWeights &w, ArrayRef<Value> next,
                     ArrayRef<Value> kept) {
    Expr dh(b, next[0]), c(b, kept[C]), i(b, kept[I]), o(b, kept[O]), f(b, kept[F]), g(b, kept[G]);
    Expr t = (f * c + i * g).as<TanhOp>();
    Expr dc = Expr(b, next[1]) + tanhBack(dh * o, t);
    Expr gates = concat(
        {openBack(dc * g, i), openBack(dh * t, o), openBack(dc * c, f), tanhBack(dc * i, g)}, 1, b);
    return RecurrentCell::Values{matmul(gates, Expr(b, w.r)), dc * f, gates};
  };
  cell.recurrentGradient = recurrentWeightGradient;
  return cell;
}

// GRU cell with the reset gate after the recurrent matmul (`linear_before_reset`): h' = (1 - z) n +
// z h, n = tanh(x_n + r (R_n h + b_n)). Backward, with q = R_n h + b_n: dz = dh' (h - n), dn = dh'
// (1 - z), dr = dn q, dq = dn r, dh = dh' z + [dz, dr, dq] R
static RecurrentCell lateResetCell() {
  enum { Y, H, Z, OPEN, Q, N };
  RecurrentCell cell;
  cell.forward = [](TensorBuilder &b, const RecurrentWeights &w, Expr now, ArrayRef<Value> states) {
    Expr h(b, states[0]), sums = matmul(h, Expr(b, w.r), false, true) + Expr(b, w.bias);
    auto open = [&](int64_t g) {
      return (sliceGate(sums, g, w.hidden) + sliceGate(now, g, w.hidden)).as<SigmoidOp>();
    };
    Expr z = open(0), r = open(1), q = sliceGate(sums, 2, w.hidden);
    Expr n = (r * q + sliceGate(now, 2, w.hidden)).as<TanhOp>();
    return RecurrentCell::Values{(1 - z) * n + z * h, z, r, q, n};
  };
  cell.backward = [](TensorBuilder &b, const RecurrentWeights &w, ArrayRef<Value> next,
                     ArrayRef<Value> kept) {
    Expr dh(b, next[0]), h(b, kept[H]), z(b, kept[Z]), r(b, kept[OPEN]), q(b, kept[Q]),
        n(b, kept[N]);
    Expr dz = openBack(dh * (h - n), z), dn = tanhBack(dh * (1 - z), n);
    Expr dr = openBack(dn * q, r);
    Expr recurrent = concat({dz, dr, dn * r}, 1, b), input = concat({dz, dr, dn}, 1, b);
    return RecurrentCell::Values{dh * z + matmul(recurrent, Expr(b, w.r)), input, recurrent};
  };
  cell.recurrentGradient = recurrentWeightGradient;
  return cell;
}

// GRU cell with the reset gate before the recurrent matmul: h' = (1 - z) n + z h, n = tanh(x_n +
// R_n (r h)). Backward: dz = dh' (h - n), dn = dh' (1 - z), dp = dn R_n, dr = dp h, dh = dh' z + dp
// r + [dz, dr] R_zr; dR_n = dn^T (r h)
static RecurrentCell earlyResetCell() {
  enum { Y, H, Z, OPEN, N };
  RecurrentCell cell;
  cell.wantsApart = true;
  cell.forward = [](TensorBuilder &b, const RecurrentWeights &w, Expr now, ArrayRef<Value> states) {
    int64_t hidden = w.hidden;
    Expr h(b, states[0]), sums = matmul(h, Expr(b, w.gates), false, true);
    auto open = [&](int64_t g) {
      return (sliceGate(sums, g, hidden) + sliceGate(now, g, hidden)).as<SigmoidOp>();
    };
    Expr z = open(0), r = open(1);
    Expr recurrent = matmul(r * h, Expr(b, w.candidate), false, true);
    Expr n = (recurrent + sliceGate(now, 2, hidden)).as<TanhOp>();
    return RecurrentCell::Values{(1 - z) * n + z * h, z, r, n};
  };
  cell.backward = [](TensorBuilder &b, const RecurrentWeights &w, ArrayRef<Value> next,
                     ArrayRef<Value> kept) {
    Expr dh(b, next[0]), h(b, kept[H]), z(b, kept[Z]), r(b, kept[OPEN]), n(b, kept[N]);
    Expr dz = openBack(dh * (h - n), z), dn = tanhBack(dh * (1 - z), n);
    Expr dp = matmul(dn, Expr(b, w.candidate));
    Expr dr = openBack(dp * h, r);
    Expr early = matmul(concat({dz, dr}, 1, b), Expr(b, w.gates));
    return RecurrentCell::Values{dh * z + dp * r + early, concat({dz, dr, dn}, 1, b)};
  };
  cell.recurrentGradient = [](TensorBuilder &b, Expr gates, ArrayRef<Value> kept) {
    Expr h(b, kept[H]), r(b, kept[OPEN]);
    int64_t hidden = h.dim(1);
    Expr early = matmul(gates.part(1, 0, 2 * hidden), h, true);
    Expr late = matmul(gates.part(1, 2 * hidden, hidden), r * h, true);
    return concat({early, late}, 0, b);
  };
  return cell;
}

RecurrentCell gruCell(bool linearBeforeReset) {
  return linearBeforeReset ? lateResetCell() : earlyResetCell();
}

// Elman RNN cell, h' = tanh(s): ds = dh' (1 - h'^2). h' = relu(s): ds = dh' where h' > 0, else 0
RecurrentCell rnnCell(bool relu) {
  RecurrentCell cell;
  cell.forward = [relu](TensorBuilder &b, const RecurrentWeights &w, Expr now,
                        ArrayRef<Value> states) {
    Expr sum = matmul(Expr(b, states[0]), Expr(b, w.r), false, true) + now;
    Expr h = relu ? sum.as<ReluOp>() : sum.as<TanhOp>();
    return RecurrentCell::Values{h};
  };
  cell.backward = [relu](TensorBuilder &b, const RecurrentWeights &w, ArrayRef<Value> next,
                         ArrayRef<Value> kept) {
    Expr dh(b, next[0]), h(b, kept[0]);
    Expr ds = relu ? keep(compare(Predicate::gt, h, h.scalar(0)), dh) : tanhBack(dh, h);
    return RecurrentCell::Values{matmul(ds, Expr(b, w.r)), ds};
  };
  cell.recurrentGradient = recurrentWeightGradient;
  return cell;
}

} // namespace dlc::grad
