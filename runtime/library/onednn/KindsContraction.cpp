//===- KindsContraction.cpp - oneDNN convolutions, matmuls, pools and resampling -===//
#include "runtime/library/onednn/Layout.h"
#include "runtime/library/onednn/Window.h"
#include "runtime/program/Message.h"

namespace dlc::onednn {

using runtime::fail;

static describe::Window windowOf(const PrimitiveBuilder &builder, const_dnnl_memory_desc_t src,
                                 const describe::Window::Words &words) {
  size_t rank = getDims(src).size();
  if (rank < 3)
    builder.complain("required: src of at least 3 dimensions; found: ", rank);
  return describe::Window::read(builder, rank - 2, words);
}

Window::Window(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src,
               describe::Window::Words words)
    : describe::Window(windowOf(builder, src, words)), gaps(dilations) {
  for (int64_t &gap : gaps)
    --gap;
}

Pool::Pool(PrimitiveBuilder &builder, const_dnnl_memory_desc_t src)
    : Window(builder, src, describe::kKernelWords) {
  std::string alg = builder.word("alg", "max");
  algorithm = alg == "max"           ? dnnl_pooling_max
              : alg == "avg_include" ? dnnl_pooling_avg_include_padding
              : alg == "avg_exclude" ? dnnl_pooling_avg_exclude_padding
                                     : dnnl_alg_kind_undef;
  if (algorithm == dnnl_alg_kind_undef)
    fail("oneDNN: ", builder.word("kind", ""), ": unknown alg '", alg,
         "'; required: max, avg_include or avg_exclude");
}

void buildConvolution(PrimitiveBuilder &builder) {
  auto src = builder.argument("src", DNNL_ARG_SRC);
  auto weights = builder.argument("weights", DNNL_ARG_WEIGHTS);
  auto bias = builder.argument("bias", DNNL_ARG_BIAS, false, false);
  auto dst = builder.argument("dst", DNNL_ARG_DST, true);
  Window window(builder, src);
  builder.attributes();
  std::string alg = builder.word("alg", "direct");
  dnnl_alg_kind_t algorithm = alg == "winograd" ? dnnl_convolution_winograd
                              : alg == "auto"   ? dnnl_convolution_auto
                                                : dnnl_convolution_direct;
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
  std::vector<float> factors;
  if (builder.has("factors"))
    for (const nlohmann::json &factor : builder.desc["factors"])
      factors.push_back(factor.get<float>());
  if (!factors.empty() && factors.size() + 2 != getDims(src).size())
    fail("oneDNN: resampling: ", factors.size(), " factors for ", getDims(src).size() - 2,
         " spatial dimensions");
  std::string alg = builder.word("alg", "nearest");
  builder.created(dnnl_resampling_forward_primitive_desc_create(
      &builder.raw, getEngine(), dnnl_forward_inference,
      alg == "linear" ? dnnl_resampling_linear : dnnl_resampling_nearest,
      factors.empty() ? nullptr : factors.data(), src, dst, builder.attr.get()));
}

} // namespace dlc::onednn
