//===- KindsBackward.cpp - oneDNN gradients of convolutions, pools and batch normalization -===//
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Window.h"
#include "runtime/program/Message.h"

namespace dlc::onednn {

using runtime::fail;

void buildConvolutionBackwardData(PrimitiveBuilder &builder) {
  auto diffDst = builder.argument("diff_dst", DNNL_ARG_DIFF_DST);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto diffSrc = builder.argument("diff_src", DNNL_ARG_DIFF_SRC, true);
  Window window(builder, diffSrc);
  builder.attributes();
  builder.created(dnnl_convolution_backward_data_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_convolution_direct, diffSrc, weights, diffDst,
      window.strides.data(), window.gaps.data(), window.low.data(), window.high.data(), nullptr,
      builder.attr.get()));
}

void buildConvolutionBackwardWeights(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto diffDst = builder.argument("diff_dst", DNNL_ARG_DIFF_DST);
  auto diffWeights = builder.argument("diff_weights", DNNL_ARG_DIFF_WEIGHTS, true);
  auto diffBias = builder.argument("diff_bias", DNNL_ARG_DIFF_BIAS, true, false);
  Window window(builder, src);
  builder.attributes();
  builder.created(dnnl_convolution_backward_weights_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_convolution_direct, src, diffWeights, diffBias, diffDst,
      window.strides.data(), window.gaps.data(), window.low.data(), window.high.data(), nullptr,
      builder.attr.get()));
}

static bool hasSameLayout(const_dnnl_memory_desc_t a, const_dnnl_memory_desc_t b) {
  return a && b && dnnl_memory_desc_equal(a, b);
}

void buildPoolingBackward(PrimitiveBuilder &builder) {
  auto diffDst = builder.argument("diff_dst", DNNL_ARG_DIFF_DST);
  auto workspace = builder.argument("workspace", DNNL_ARG_WORKSPACE, false, false);
  auto diffSrc = builder.argument("diff_src", DNNL_ARG_DIFF_SRC, true);
  Pool pool(builder, diffSrc);
  if (pool.algorithm == dnnl_pooling_max && !workspace)
    fail("oneDNN: pooling_backward: alg max needs 'workspace'");
  if (pool.algorithm != dnnl_pooling_max && workspace)
    fail("oneDNN: pooling_backward: 'workspace' is only valid with alg max");
  builder.attributes();
  // oneDNN chooses the implementation of the pooling gradient by the workspace of a forward
  // primitive descriptor. The loop below tries each forward implementation until one has the
  // required workspace.
  dnnl_primitive_desc_t raw = nullptr;
  builder.created(dnnl_pooling_forward_primitive_desc_create(
      &raw, getEngine(), dnnl_forward_training, pool.algorithm, diffSrc, diffDst,
      pool.strides.data(), pool.sizes.data(), pool.gaps.data(), pool.low.data(), pool.high.data(),
      builder.attr.get()));
  builder.forward.reset(raw);
  dnnl_status_t status = dnnl_unimplemented;
  do {
    if (workspace && builder.slots[1].givenTag != "any" &&
        !hasSameLayout(workspace, dnnl_primitive_desc_query_md(builder.forward.get(),
                                                               dnnl_query_workspace_md, 0)))
      continue;
    status = dnnl_pooling_backward_primitive_desc_create(
        &builder.raw, getEngine(), pool.algorithm, diffSrc, diffDst, pool.strides.data(),
        pool.sizes.data(), pool.gaps.data(), pool.low.data(), pool.high.data(),
        builder.forward.get(), builder.attr.get());
  } while (status != dnnl_success &&
           dnnl_primitive_desc_next_impl(builder.forward.get()) == dnnl_success);
  builder.created(status);
}

void buildBatchNormalizationTraining(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  unsigned flags = addScaleAndShift(builder);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.argument("mean", DNNL_ARG_MEAN, true);
  builder.argument("variance", DNNL_ARG_VARIANCE, true);
  builder.attributes();
  builder.created(dnnl_batch_normalization_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_training, src, dst, readEpsilon(builder), flags,
      builder.attr.get()));
}

void buildBatchNormalizationBackward(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto diffDst = builder.argument("diff_dst", DNNL_ARG_DIFF_DST);
  builder.argument("mean", DNNL_ARG_MEAN);
  builder.argument("variance", DNNL_ARG_VARIANCE);
  unsigned flags = dnnl_normalization_flags_none;
  if (builder.argument("scale", DNNL_ARG_SCALE, false, false))
    flags |= dnnl_use_scale;
  auto diffSrc = builder.argument("diff_src", DNNL_ARG_DIFF_SRC, true);
  auto diffScale = builder.argument("diff_scale", DNNL_ARG_DIFF_SCALE, true, false);
  auto diffShift = builder.argument("diff_shift", DNNL_ARG_DIFF_SHIFT, true, false);
  if (!diffScale != !(flags & dnnl_use_scale))
    fail("oneDNN: batch_normalization_backward: scale and diff_scale must be given together");
  if (diffShift)
    flags |= dnnl_use_shift;
  builder.attributes();
  float epsilon = readEpsilon(builder);
  dnnl_primitive_desc_t raw = nullptr;
  builder.created(dnnl_batch_normalization_forward_primitive_desc_create(
      &raw, getEngine(), dnnl_forward_training, src, diffDst, epsilon, flags, builder.attr.get()));
  builder.forward.reset(raw);
  builder.created(dnnl_batch_normalization_backward_primitive_desc_create(
      &builder.raw, getEngine(), flags ? dnnl_backward : dnnl_backward_data, diffSrc, diffDst, src,
      epsilon, flags, builder.forward.get(), builder.attr.get()));
}

} // namespace dlc::onednn
