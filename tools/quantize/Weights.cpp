//===- Weights.cpp - quantizes weights to integers ------------------------===//
#include "tools/quantize/Weights.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace dlc::quantize {
namespace {

template <typename T>
void fill(onnx::TensorProto &tensor, onnx::TensorProto::DataType type,
          const std::vector<int64_t> &dims, const std::vector<T> &values) {
  tensor.set_data_type(type);
  for (int64_t size : dims)
    tensor.add_dims(size);
  tensor.set_raw_data(values.data(), values.size() * sizeof(T));
}

/// Weights as a matrix of output channels times reduction (K) elements.
struct WeightMatrix {
  const float *values;
  int64_t channels, depth;
  bool isChannelFirst;
  int64_t at(int64_t channel, int64_t k) const {
    return isChannelFirst ? channel * depth + k : k * channels + channel;
  }
};

WeightMatrix makeWeightMatrix(const QuantizableLayer &layer, const onnx::TensorProto &weights) {
  int64_t channels = layer.shape[size_t(layer.channels)];
  return {getFloatData(weights), channels, countElements(weights) / channels, layer.channels == 0};
}

/// Quantizes weights to 4 bits in blocks of `block` elements along the reduction (K) dimension.
/// Calls `take(channel, k, q)` for each quantized weight, and fills `scales`, of shape [channels,
/// blocks].
void eachInBlocks(const WeightMatrix &m, int64_t block, std::vector<float> &scales,
                  llvm::function_ref<void(int64_t, int64_t, int)> take) {
  int64_t blocks = (m.depth + block - 1) / block;
  scales.assign(size_t(m.channels * blocks), 0.0f);
  for (int64_t c = 0; c < m.channels; ++c)
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t from = b * block, to = std::min(m.depth, from + block);
      float largest = 0;
      for (int64_t k = from; k < to; ++k)
        largest = std::max(largest, std::abs(m.values[m.at(c, k)]));
      float scale = largest > 0 ? std::max(largest / 7, std::numeric_limits<float>::min()) : 1;
      scales[size_t(c * blocks + b)] = scale;
      for (int64_t k = from; k < to; ++k)
        take(c, k, int(std::clamp(std::nearbyint(m.values[m.at(c, k)] / scale), -7.0f, 7.0f)));
    }
}

} // namespace

QuantizedTensor perChannel(const QuantizableLayer &layer, const onnx::TensorProto &weights,
                           const onnx::TensorProto *bias, float xScale) {
  WeightMatrix m = makeWeightMatrix(layer, weights);
  QuantizedTensor result;
  std::vector<int8_t> values(size_t(m.channels * m.depth));
  for (int64_t c = 0; c < m.channels; ++c) {
    float scale = 0;
    for (int64_t k = 0; k < m.depth; ++k)
      scale = std::max(scale, std::abs(m.values[m.at(c, k)]) / 127);
    // The bias may increase the scale of a channel with small weights, so that the quantized bias
    // fits in 32 bits.
    if (bias)
      scale = std::max(scale, std::abs(getFloatData(*bias)[c]) / xScale * 0x1p-30f);
    scale = scale > 0 ? std::max(scale, std::numeric_limits<float>::min()) : 1;
    result.perChannel.push_back(scale);
    for (int64_t k = 0; k < m.depth; ++k)
      values[size_t(m.at(c, k))] =
          int8_t(std::clamp(std::nearbyint(m.values[m.at(c, k)] / scale), -127.0f, 127.0f));
  }
  fill(result.values, onnx::TensorProto::INT8, layer.shape, values);
  fill(result.scales, onnx::TensorProto::FLOAT, {m.channels}, result.perChannel);
  return result;
}

QuantizedTensor quantizeInBlocks(const QuantizableLayer &layer, const onnx::TensorProto &weights,
                                 int64_t block) {
  WeightMatrix m = makeWeightMatrix(layer, weights);
  int64_t blocks = (m.depth + block - 1) / block;
  std::vector<uint8_t> packed(size_t((m.channels * m.depth + 1) / 2));
  std::vector<float> byChannel;
  eachInBlocks(m, block, byChannel, [&](int64_t c, int64_t k, int number) {
    int64_t at = m.at(c, k);
    packed[size_t(at / 2)] |= uint8_t((number & 15) << (at % 2 * 4));
  });
  std::vector<int64_t> shape{m.channels, blocks};
  std::vector<float> scales = byChannel;
  if (!m.isChannelFirst) {
    std::swap(shape[0], shape[1]);
    for (int64_t c = 0; c < m.channels; ++c)
      for (int64_t b = 0; b < blocks; ++b)
        scales[size_t(b * m.channels + c)] = byChannel[size_t(c * blocks + b)];
  }
  QuantizedTensor result;
  fill(result.values, onnx::TensorProto::INT4, layer.shape, packed);
  fill(result.scales, onnx::TensorProto::FLOAT, shape, scales);
  return result;
}

QuantizedTensor quantizeInBlocksTransposed(const QuantizableLayer &layer,
                                           const onnx::TensorProto &weights, int64_t block) {
  WeightMatrix m = makeWeightMatrix(layer, weights);
  int64_t blocks = (m.depth + block - 1) / block, bytes = block / 2;
  // The padding of the last block has the value 8, because this is the zero point of MatMulNBits.
  std::vector<uint8_t> packed(size_t(m.channels * blocks * bytes), 0x88);
  std::vector<float> scales;
  eachInBlocks(m, block, scales, [&](int64_t c, int64_t k, int number) {
    uint8_t &byte = packed[size_t(c * blocks * bytes + k / 2)];
    int shift = int(k % 2 * 4);
    byte = uint8_t((byte & ~(15 << shift)) | ((number + 8) << shift));
  });
  QuantizedTensor result;
  fill(result.values, onnx::TensorProto::UINT8, {m.channels, blocks, bytes}, packed);
  fill(result.scales, onnx::TensorProto::FLOAT, {m.channels, blocks}, scales);
  return result;
}

QuantizedTensor quantizeBias(const onnx::TensorProto &bias, const QuantizedTensor &weights,
                             float xScale) {
  QuantizedTensor result;
  std::vector<int32_t> values;
  for (size_t c = 0; c < weights.perChannel.size(); ++c) {
    float scale = xScale * weights.perChannel[c];
    result.perChannel.push_back(scale);
    constexpr double kMax = std::numeric_limits<int32_t>::max();
    double number = scale > 0 ? std::nearbyint(double(getFloatData(bias)[c]) / scale) : 0;
    values.push_back(int32_t(std::clamp(number, -kMax, kMax)));
  }
  auto count = int64_t(values.size());
  fill(result.values, onnx::TensorProto::INT32, {count}, values);
  fill(result.scales, onnx::TensorProto::FLOAT, {count}, result.perChannel);
  return result;
}

} // namespace dlc::quantize
