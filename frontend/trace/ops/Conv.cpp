//===- Conv.cpp - convolution ---------------------------------------------===//
#include "frontend/trace/State.h"

using namespace mlir;

namespace dlc::trace {

namespace {
/// Returns the attributes that forward and transposed convolutions share, such as strides and
/// padding. `low` receives the padding at the start.
template <typename Properties>
Properties windowed(ApiCall &call, const Operand &x, const ConvOptions &options,
                    std::vector<int64_t> &low) {
  int64_t rank = call.type(x).getRank();
  if (rank < 3 || rank > 5)
    call.fail("x must be [N, C, spatial..] with 1 to 3 spatial dimensions; found ", call.type(x),
              "; add a batch dimension with unsqueeze(x, 0)");
  size_t spatial = size_t(rank - 2);
  low = call.spread("padding", options.padding, spatial);
  Properties properties{};
  properties.strides = call.list(call.spread("stride", options.stride, spatial));
  properties.dilations = call.list(call.spread("dilation", options.dilation, spatial));
  properties.low = call.list(low);
  properties.high =
      call.list(options.high.empty() ? low : call.spread("high", options.high, spatial));
  properties.groups = call.integer(options.groups);
  return properties;
}
} // namespace

Tensor conv(const Operand &x, const Operand &weight, const Operand &bias,
            const ConvOptions &options) {
  ApiCall call("conv", {&x, &weight, &bias});
  std::vector<int64_t> low;
  auto properties = windowed<ConvOp::Adaptor::Properties>(call, x, options, low);
  return call.tensor(call.make<ConvOp>(call.values({&x, &weight, &bias}), properties));
}

Tensor conv2d(const Operand &x, const Operand &weight, const Operand &bias,
              const ConvOptions &options) {
  ApiCall call("conv2d", {&x, &weight, &bias});
  if (call.type(x).getRank() != 4)
    call.fail("x must be [N, C, H, W]; found ", call.type(x));
  return conv(x, weight, bias, options);
}

Tensor conv_transpose(const Operand &x, const Operand &weight, const Operand &bias,
                      const ConvOptions &options, Dims extra) {
  ApiCall call("conv_transpose", {&x, &weight, &bias});
  std::vector<int64_t> low;
  auto properties = windowed<ConvTransposeOp::Adaptor::Properties>(call, x, options, low);
  properties.extra = call.list(call.spread("extra", extra, low.size()));
  return call.tensor(call.make<ConvTransposeOp>(call.values({&x, &weight, &bias}), properties));
}

} // namespace dlc::trace
