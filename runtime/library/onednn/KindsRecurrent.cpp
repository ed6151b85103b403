//===- KindsRecurrent.cpp - oneDNN recurrent layers -----------------------===//
#include "runtime/library/onednn/Operation.h"

namespace dlc::onednn {

namespace {

/// Memory descriptors of a recurrent layer's arguments, in the buffer order of Desc.md. The
/// descriptor of a missing optional argument is null.
struct RecurrentArguments {
  const_dnnl_memory_desc_t srcLayer, srcIter, srcIterC = nullptr, weightsLayer, weightsIter,
                                              peephole = nullptr, projection = nullptr, bias,
                                              dstLayer, dstIter, dstIterC = nullptr;

  RecurrentArguments(PrimitiveBuilder &builder, bool isLstm) {
    srcLayer = builder.argument("src_layer", DNNL_ARG_SRC_LAYER);
    srcIter = builder.argument("src_iter", DNNL_ARG_SRC_ITER, false, false);
    if (isLstm)
      srcIterC = builder.argument("src_iter_c", DNNL_ARG_SRC_ITER_C, false, false);
    weightsLayer = builder.argument("weights_layer", DNNL_ARG_WEIGHTS_LAYER);
    weightsIter = builder.argument("weights_iter", DNNL_ARG_WEIGHTS_ITER);
    if (isLstm) {
      peephole = builder.argument("weights_peephole", DNNL_ARG_WEIGHTS_PEEPHOLE, false, false);
      projection =
          builder.argument("weights_projection", DNNL_ARG_WEIGHTS_PROJECTION, false, false);
    }
    bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
    dstLayer = builder.argument("dst_layer", DNNL_ARG_DST_LAYER, true);
    dstIter = builder.argument("dst_iter", DNNL_ARG_DST_ITER, true, false);
    if (isLstm)
      dstIterC = builder.argument("dst_iter_c", DNNL_ARG_DST_ITER_C, true, false);
  }
};

dnnl_rnn_direction_t readDirection(const PrimitiveBuilder &builder) {
  // In the order of schema::RecurrentDirection.
  static constexpr dnnl_rnn_direction_t directions[] = {
      dnnl_unidirectional_left2right, dnnl_unidirectional_right2left, dnnl_bidirectional_concat,
      dnnl_bidirectional_sum};
  return directions[static_cast<size_t>(builder.read<schema::OnednnRecurrent>().direction)];
}

} // namespace

void buildVanillaRnn(PrimitiveBuilder &builder) {
  RecurrentArguments layers(builder, false);
  builder.attributes();
  const auto fields = builder.read<schema::OnednnVanillaRnn>();
  builder.created(dnnl_vanilla_rnn_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, eltwiseAlgorithmOf(fields.activation),
      readDirection(builder), layers.srcLayer, layers.srcIter, layers.weightsLayer,
      layers.weightsIter, layers.bias, layers.dstLayer, layers.dstIter, 0,
      static_cast<float>(fields.alpha), static_cast<float>(fields.beta), builder.attr.get()));
}

void buildLstm(PrimitiveBuilder &builder) {
  RecurrentArguments layers(builder, true);
  builder.attributes();
  builder.created(dnnl_lstm_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, readDirection(builder), layers.srcLayer,
      layers.srcIter, layers.srcIterC, layers.weightsLayer, layers.weightsIter, layers.peephole,
      layers.projection, layers.bias, layers.dstLayer, layers.dstIter, layers.dstIterC, 0,
      builder.attr.get()));
}

void buildGru(PrimitiveBuilder &builder) {
  RecurrentArguments layers(builder, false);
  builder.attributes();
  builder.created(dnnl_gru_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, readDirection(builder), layers.srcLayer,
      layers.srcIter, layers.weightsLayer, layers.weightsIter, layers.bias, layers.dstLayer,
      layers.dstIter, 0, builder.attr.get()));
}

void buildLbrGru(PrimitiveBuilder &builder) {
  RecurrentArguments layers(builder, false);
  builder.attributes();
  builder.created(dnnl_lbr_gru_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, readDirection(builder), layers.srcLayer,
      layers.srcIter, layers.weightsLayer, layers.weightsIter, layers.bias, layers.dstLayer,
      layers.dstIter, 0, builder.attr.get()));
}

} // namespace dlc::onednn
