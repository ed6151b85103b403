//===- KindsContraction.cpp - oneDNN convolutions, matmuls, pools and resampling -===//
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Window.h"
#include "runtime/program/Message.h"

namespace dlc::onednn {

using runtime::fail;

/// Returns the number of spatial dimensions of `src`.
static size_t countSpatial(const PrimitiveBuilder &builder, const_dnnl_memory_desc_t src) {
  size_t rank = getDims(src).size();
  if (rank < 3)
    fail(builder.library, ": required: src of at least 3 dimensions; found: ", rank);
  return rank - 2;
}

Window::Window(describe::Window window) : describe::Window(std::move(window)), gaps(dilations) {
  for (int64_t &gap : gaps)
    --gap;
}

Window::Window(const PrimitiveBuilder &builder, const_dnnl_memory_desc_t src)
    : Window(describe::Window::of(builder.read<schema::StepFields>(), countSpatial(builder, src))) {
}

/// Returns the window of a pool.
static describe::Window poolWindowOf(const PrimitiveBuilder &builder,
                                     const_dnnl_memory_desc_t src) {
  return describe::Window::of(
      static_cast<const schema::KernelFields &>(builder.read<schema::OnednnPool>()),
      countSpatial(builder, src));
}

Pool::Pool(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src)
    : Window(poolWindowOf(builder, src)) {
  // In the order of schema::PoolAlgorithm.
  static constexpr dnnl_alg_kind_t algorithms[] = {
      dnnl_pooling_max, dnnl_pooling_avg_include_padding, dnnl_pooling_avg_exclude_padding};
  algorithm = algorithms[static_cast<size_t>(builder.read<schema::OnednnPool>().alg)];
}

void buildConvolution(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  Window window(builder, src);
  builder.attributes();
  // In the order of schema::ConvolutionAlgorithm.
  static constexpr dnnl_alg_kind_t algorithms[] = {
      dnnl_convolution_direct, dnnl_convolution_winograd, dnnl_convolution_auto};
  const dnnl_alg_kind_t algorithm =
      algorithms[static_cast<size_t>(builder.read<schema::OnednnConvolution>().alg)];
  builder.created(dnnl_convolution_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, algorithm, src, weights, bias, dst,
      window.strides.data(), window.gaps.data(), window.low.data(), window.high.data(),
      builder.attr.get()));
}

void buildDeconvolution(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  Window window(builder, src);
  builder.attributes();
  builder.created(dnnl_deconvolution_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, dnnl_deconvolution_direct, src, weights,
      bias, dst, window.strides.data(), window.gaps.data(), window.low.data(), window.high.data(),
      builder.attr.get()));
}

void buildInnerProduct(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  builder.created(dnnl_inner_product_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference, src, weights, bias, dst,
      builder.attr.get()));
}

void buildMatmul(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  builder.created(dnnl_matmul_primitive_desc_create(&builder.raw, getEngine(), src, weights, bias,
                                                    dst, builder.attr.get()));
}

void buildPooling(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  bool training = builder.argument("workspace", DNNL_ARG_WORKSPACE, true, false);
  Pool pool(builder, src);
  if (training && pool.algorithm != dnnl_pooling_max)
    fail("oneDNN: pooling: 'workspace' is only valid with alg max");
  builder.attributes();
  builder.created(dnnl_pooling_forward_primitive_desc_create(
      &builder.raw, getEngine(), training ? dnnl_forward_training : dnnl_forward_inference,
      pool.algorithm, src, dst, pool.strides.data(), pool.sizes.data(), pool.gaps.data(),
      pool.low.data(), pool.high.data(), builder.attr.get()));
}

void buildResampling(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  builder.attributes();
  const auto fields = builder.read<schema::OnednnResampling>();
  const std::vector<float> factors(fields.factors.begin(), fields.factors.end());
  if (!factors.empty() && factors.size() + 2 != getDims(src).size())
    fail("oneDNN: resampling: ", factors.size(), " factors for ", getDims(src).size() - 2,
         " spatial dimensions");
  builder.created(dnnl_resampling_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference,
      fields.alg == schema::ResamplingAlgorithm::Linear ? dnnl_resampling_linear
                                                        : dnnl_resampling_nearest,
      factors.empty() ? nullptr : factors.data(), src, dst, builder.attr.get()));
}

} // namespace dlc::onednn
