//===- BlockFormat.h - storage formats of the weights of language models -----===//
//
// A block format stores a fixed number of elements in a fixed number of bytes: quantized values,
// their scales and, in some formats, minimums. F32, F16 and BF16 are formats with one element per
// block. Blocks have the byte layouts of GGUF files.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_MODELS_BLOCKFORMAT_H
#define DLC_RUNTIME_PROGRAM_MODELS_BLOCKFORMAT_H

#include "dlc/Export.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace dlc::runtime {

/// Block formats with the names of ggml.
enum class BlockFormat : uint8_t {
  F32,
  F16,
  BF16,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4,
};

/// Properties of a block format.
struct BlockFormatInfo {
  BlockFormat format;
  const char *name;
  /// Number of the format in GGUF files (`ggml_type`).
  uint32_t ggufType;
  /// Number of elements in a block, and size of a block in bytes.
  uint32_t elements, bytes;
};

/// Returns the formats in the order of BlockFormat.
DLC_EXPORT std::span<const BlockFormatInfo> blockFormats();
inline const BlockFormatInfo &blockFormatInfo(BlockFormat format) {
  return blockFormats()[static_cast<size_t>(format)];
}
/// Returns the format with the GGUF number `ggufType`; null if dlc does not support the format.
DLC_EXPORT const BlockFormatInfo *findBlockFormat(uint32_t ggufType);
/// Returns the name of the format with the GGUF number `ggufType`, including formats that dlc does
/// not support; "?" if the number is unknown.
DLC_EXPORT std::string_view ggufTypeName(uint32_t ggufType);

/// Writes the f32 values of `count` blocks to `values`, which has `count * elements` elements. This
/// is the reference implementation: its results equal those of `gguf.quants` bit for bit.
DLC_EXPORT void dequantize(BlockFormat format, const void *blocks, uint64_t count, float *values);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_BLOCKFORMAT_H
