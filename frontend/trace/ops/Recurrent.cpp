//===- Recurrent.cpp - LSTM, GRU and plain recurrent layers ---------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

namespace {
DirectionAttr toDirectionAttr(ApiCall &call, Direction direction) {
  static constexpr dlc::Direction directions[] = {dlc::Direction::forward, dlc::Direction::reverse,
                                                  dlc::Direction::both};
  return DirectionAttr::get(call.context(), directions[int(direction)]);
}

RecurrentResult makeResult(ApiCall &call, ArrayRef<Value> values) {
  return {call.tensor(values[0]), call.tensor(values[1]),
          values.size() > 2 ? call.tensor(values[2]) : Tensor()};
}
} // namespace

RecurrentResult lstm(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                     const Operand &h0, const Operand &c0, Direction direction) {
  ApiCall call("lstm", {&x, &w, &r, &b, &h0, &c0});
  LstmOp::Adaptor::Properties properties;
  properties.direction = toDirectionAttr(call, direction);
  return makeResult(call,
                    call.makeAll<LstmOp>(call.values({&x, &w, &r, &b, &h0, &c0}), properties));
}

RecurrentResult gru(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                    const Operand &h0, Direction direction, bool linearBeforeReset) {
  ApiCall call("gru", {&x, &w, &r, &b, &h0});
  GruOp::Adaptor::Properties properties;
  properties.direction = toDirectionAttr(call, direction);
  properties.linear_before_reset = call.flag(linearBeforeReset);
  return makeResult(call, call.makeAll<GruOp>(call.values({&x, &w, &r, &b, &h0}), properties));
}

RecurrentResult rnn(const Operand &x, const Operand &w, const Operand &r, const Operand &b,
                    const Operand &h0, Direction direction, bool useRelu) {
  ApiCall call("rnn", {&x, &w, &r, &b, &h0});
  RnnOp::Adaptor::Properties properties;
  properties.direction = toDirectionAttr(call, direction);
  properties.relu = call.flag(useRelu);
  return makeResult(call, call.makeAll<RnnOp>(call.values({&x, &w, &r, &b, &h0}), properties));
}

} // namespace dlc::trace
