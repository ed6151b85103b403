//===- Packed.h - numbers of few bits in bytes -----------------------------===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_PACKED_H
#define DLC_FRONTEND_ONNX_CONTRIB_PACKED_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// A tensor whose bytes hold numbers of `bits` each, the lowest first, with a scale for each block.
struct Packing {
  int64_t bits, block;
  int64_t perByte() const { return 8 / bits; }
  /// The zero point where there is none.
  double middle() const { return double(int64_t(1) << (bits - 1)); }
};

bool isBytes(Build &b, Value v);
/// Bytes [.., n] as numbers [.., n * 8 / bits], in u8.
Value unpack(Build &b, Value bytes, const Packing &p);
/// The zero points of [rows, blocks], in the scales' type: packed in bytes, in that type, or none,
/// which is a scalar.
Value zeroPoints(Build &b, Value given, Value scales, int64_t rows, int64_t blocks,
                 const Packing &p);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_PACKED_H
