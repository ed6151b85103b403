//===- Recurrent.cpp - LSTM, GRU and RNN layers as oneDNN calls -----===//
#include "codegen/providers/onednn/Describe.h"

using namespace mlir;

namespace dlc::onednn_desc {

namespace {

/// Reorders the gates of weights [1, G*H, K] to oneDNN's order.
ref::Tensor permuteGates(const ref::Tensor &w, ArrayRef<int64_t> order) {
  auto result = ref::Tensor::empty(w.getType());
  int64_t gates = order.size(), rows = w.getShape()[1] / gates;
  int64_t bytes =
      rows * (w.getRank() > 2 ? w.getShape()[2] : 1) * ref::elementBytes(w.getElementType());
  for (int64_t g = 0; g < gates; ++g)
    std::memcpy(result.mutableData() + g * bytes, w.data() + order[g] * bytes, bytes);
  return result;
}

/// Adds the input bias and the recurrent bias of each gate. If `apart`, the last gate's recurrent
/// bias is stored separately, as oneDNN requires for lbr_gru (four biases).
ref::Tensor mergeBias(const ref::Tensor &b, ArrayRef<int64_t> order, int64_t hidden, bool apart) {
  int64_t gates = order.size(), out = gates + apart;
  auto type = RankedTensorType::get({1, out * hidden}, b.getElementType());
  auto result = ref::Tensor::empty(type);
  for (int64_t g = 0; g < gates; ++g)
    for (int64_t i = 0; i < hidden; ++i) {
      double input = b.getDouble(order[g] * hidden + i),
             recurrent = b.getDouble((gates + order[g]) * hidden + i);
      bool last = apart && g == gates - 1;
      result.setDouble(g * hidden + i, last ? input : input + recurrent);
      if (last)
        result.setDouble(gates * hidden + i, recurrent);
    }
  return result;
}

} // namespace

double getFlopsPerStep(Operation *recurrent) {
  double batch = double(typeOf(recurrent->getOperand(0)).getDimSize(1));
  ArrayRef<int64_t> weights = shapeOf(recurrent->getOperand(2));
  return 2 * batch * double(weights[1]) * double(weights[2]);
}

std::optional<QueryResult> queryRecurrent(Operation *op, const OnednnQuery &query) {
  auto refuse = [&](const char *reason) { return query.refuse(reason); };
  Value x = op->getOperand(0), h0 = op->getOperand(4);
  auto xType = typeOf(x), rType = typeOf(op->getOperand(2));
  Type element = xType.getElementType();
  if (!element.isF32())
    return refuse("required: f32; other recurrent layers are decomposed into matmuls");
  if (rType.getDimSize(0) != 1)
    return refuse("bidirectional layers are decomposed into two layers");
  ref::Tensor constants[3];
  for (int i = 0; i < 3; ++i) {
    ConstantOp constant = constantOf(op->getOperand(i + 1));
    auto tensor =
        constant ? ref::Tensor::fromAttr(constant.getValue()) : FailureOr<ref::Tensor>(failure());
    if (failed(tensor))
      return refuse("the weights are not constant");
    constants[i] = *tensor;
  }
  int64_t hidden = rType.getDimSize(2), gates = rType.getDimSize(1) / hidden;
  int64_t steps = xType.getDimSize(0), batch = xType.getDimSize(1), width = xType.getDimSize(2);
  PendingCall call;
  call.op = op;
  schema::OnednnKind &kind = call.desc.call.kind;
  schema::OnednnArguments &arguments = call.desc.arguments;
  schema::OnednnVanillaRnn parameters;
  SmallVector<int64_t> order{0};
  bool lbr = false;
  Direction direction;
  if (auto o = dyn_cast<LstmOp>(op)) {
    kind = schema::OnednnKind::Lstm;
    order = {0, 2, 3, 1}; // order of gates in dlc: i o f c; in oneDNN: i f c o
    direction = o.getDirection();
  } else if (auto o = dyn_cast<GruOp>(op)) {
    lbr = o.getLinearBeforeReset();
    kind = lbr ? schema::OnednnKind::LbrGru : schema::OnednnKind::Gru;
    order = {0, 1, 2};
    direction = o.getDirection();
  } else {
    auto rnn = cast<RnnOp>(op);
    kind = schema::OnednnKind::VanillaRnn;
    parameters.activation =
        rnn.getRelu() ? schema::OnednnAlgorithm::Relu : schema::OnednnAlgorithm::Tanh;
    direction = rnn.getDirection();
  }
  parameters.direction = direction == Direction::reverse ? schema::RecurrentDirection::Right2Left
                                                         : schema::RecurrentDirection::Left2Right;
  if (kind == schema::OnednnKind::VanillaRnn)
    call.desc.parameters = parameters;
  else
    call.desc.parameters = schema::OnednnRecurrent(parameters);
  arguments.srcLayer = describeArgument({steps, batch, width}, element);
  arguments.srcIter = describeArgument({1, 1, batch, hidden}, element);
  arguments.weightsLayer = describeArgument({1, 1, width, gates, hidden}, element, "any");
  arguments.weightsIter = describeArgument({1, 1, hidden, gates, hidden}, element, "any");
  arguments.bias = describeArgument({1, 1, gates + lbr, hidden}, element);
  arguments.dstLayer = describeArgument({steps, batch, hidden}, element);
  arguments.dstIter = describeArgument({1, 1, batch, hidden}, element);
  call.sources.push_back({"src_layer", {CallArgument::Kind::Value, x}});
  call.sources.push_back({"src_iter", {CallArgument::Kind::Value, h0}});
  auto result = [](unsigned i) {
    CallArgument argument{CallArgument::Kind::Result};
    argument.result = i;
    return argument;
  };
  call.sources.push_back({"dst_layer", result(0)});
  call.sources.push_back({"dst_iter", result(1)});
  if (isa<LstmOp>(op)) {
    arguments.srcIterC = describeArgument({1, 1, batch, hidden}, element);
    arguments.dstIterC = describeArgument({1, 1, batch, hidden}, element);
    call.sources.push_back({"src_iter_c", {CallArgument::Kind::Value, op->getOperand(5)}});
    call.sources.push_back({"dst_iter_c", result(2)});
  }
  // The tag abdec means the memory order layer, direction, gate, output, input.
  call.packs.push_back({"weights_layer", permuteGates(constants[0], order), "abdec"});
  call.packs.push_back({"weights_iter", permuteGates(constants[1], order), "abdec"});
  call.packs.push_back({"bias", mergeBias(constants[2], order, hidden, lbr), ""});
  call.desc.call.alone = query.alone;
  call.flops = 2.0 * double(steps * batch * gates * hidden) * double(width + hidden);
  return completeCall(std::move(call), query);
}

} // namespace dlc::onednn_desc
