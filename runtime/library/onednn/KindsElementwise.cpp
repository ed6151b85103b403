//===- KindsElementwise.cpp - reorder, eltwise, binary, softmax, normalization, reduction -===//
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Operation.h"
#include "runtime/program/Message.h"

namespace dlc::onednn {

using runtime::fail;

void buildReorder(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_FROM);
  auto dst = builder.argument("dst", DNNL_ARG_TO, true);
  builder.attributes();
  builder.created(dnnl_reorder_primitive_desc_create(&builder.raw, src, getEngine(), dst,
                                                     getEngine(), builder.attr.get()));
}

void buildEltwise(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  const auto fields = builder.read<schema::OnednnEltwise>();
  builder.created(dnnl_eltwise_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, eltwiseAlgorithmOf(fields.alg), src, dst,
      static_cast<float>(fields.alpha.value_or(defaultAlpha(fields.alg))),
      static_cast<float>(fields.beta.value_or(defaultBeta(fields.alg))), builder.attr.get()));
}

void buildBinary(PrimitiveBuilder &builder) {
  auto src0 = builder.argument("src0", DNNL_ARG_SRC_0);
  auto src1 = builder.argument("src1", DNNL_ARG_SRC_1);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  const auto algorithm = binaryAlgorithmOf(builder.read<schema::OnednnBinary>().alg);
  builder.created(dnnl_binary_primitive_desc_create(&builder.raw, getEngine(), algorithm, src0,
                                                    src1, dst, builder.attr.get()));
}

void buildSoftmax(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  const auto fields = builder.read<schema::OnednnSoftmax>();
  if (size_t rank = getDims(src).size(); fields.axis >= static_cast<int64_t>(rank))
    fields.complain("'axis' must be less than the rank ", rank, "; found: ", fields.axis);
  builder.attributes();
  builder.created(dnnl_softmax_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference,
      fields.alg == schema::SoftmaxAlgorithm::Log ? dnnl_softmax_log : dnnl_softmax_accurate, src,
      dst, static_cast<int>(fields.axis), builder.attr.get()));
}

float readEpsilon(const PrimitiveBuilder &builder) {
  return static_cast<float>(builder.read<schema::OnednnNormalization>().epsilon);
}

unsigned addScaleAndShift(PrimitiveBuilder &builder) {
  unsigned flags = dnnl_normalization_flags_none;
  if (builder.argument("scale", DNNL_ARG_SCALE, false, false))
    flags |= dnnl_use_scale;
  if (builder.argument("shift", DNNL_ARG_SHIFT, false, false))
    flags |= dnnl_use_shift;
  return flags;
}

void buildLayerNormalization(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  unsigned flags = dnnl_normalization_flags_none;
  auto mean = builder.argument("mean", DNNL_ARG_MEAN, false, false);
  auto variance = builder.argument("variance", DNNL_ARG_VARIANCE, false, false);
  if (!mean != !variance)
    fail("oneDNN: layer_normalization: mean and variance must be given together");
  if (mean)
    flags |= dnnl_use_global_stats;
  flags |= addScaleAndShift(builder);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  builder.created(dnnl_layer_normalization_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, src, dst, mean, readEpsilon(builder),
      flags, builder.attr.get()));
}

void buildBatchNormalization(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  builder.argument("mean", DNNL_ARG_MEAN);
  builder.argument("variance", DNNL_ARG_VARIANCE);
  unsigned flags = dnnl_use_global_stats | addScaleAndShift(builder);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  if (builder.read<schema::OnednnNormalization>().relu)
    flags |= dnnl_fuse_norm_relu;
  builder.attributes();
  builder.created(dnnl_batch_normalization_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, src, dst, readEpsilon(builder), flags,
      builder.attr.get()));
}

void buildReduction(PrimitiveBuilder &builder) {
  // In the order of schema::ReductionAlgorithm.
  static constexpr dnnl_alg_kind_t algorithms[] = {dnnl_reduction_max,
                                                   dnnl_reduction_min,
                                                   dnnl_reduction_sum,
                                                   dnnl_reduction_mul,
                                                   dnnl_reduction_mean,
                                                   dnnl_reduction_norm_lp_max,
                                                   dnnl_reduction_norm_lp_sum,
                                                   dnnl_reduction_norm_lp_power_p_max,
                                                   dnnl_reduction_norm_lp_power_p_sum};
  static_assert(std::size(algorithms) == namesOf(schema::ReductionAlgorithm()).size());
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  const auto fields = builder.read<schema::OnednnReduction>();
  builder.attributes();
  builder.created(dnnl_reduction_primitive_desc_create(
      &builder.raw, getEngine(), algorithms[size_t(fields.alg)], src, dst,
      static_cast<float>(fields.p), static_cast<float>(fields.eps), builder.attr.get()));
}

void buildLrn(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  const auto fields = builder.read<schema::OnednnLrn>();
  builder.attributes();
  builder.created(dnnl_lrn_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference,
      fields.alg == schema::LrnAlgorithm::WithinChannel ? dnnl_lrn_within_channel
                                                        : dnnl_lrn_across_channels,
      src, dst, fields.localSize, static_cast<float>(fields.alpha), static_cast<float>(fields.beta),
      static_cast<float>(fields.k), builder.attr.get()));
}

} // namespace dlc::onednn
