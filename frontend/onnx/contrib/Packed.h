//===- Packed.h - unpacks low-bit integers from bytes ---------------------===//
#ifndef DLC_FRONTEND_ONNX_CONTRIB_PACKED_H
#define DLC_FRONTEND_ONNX_CONTRIB_PACKED_H

#include "frontend/onnx/Node.h"

namespace dlc::onnxfront {

/// Layout of a byte tensor of packed integers: `bits` bits per integer, lowest bits first. Each
/// block of `block` integers has one scale.
struct Packing {
  int64_t bits, block;
  int64_t perByte() const { return 8 / bits; }
  /// Returns the default zero point, which is the middle of the range of unsigned integers of
  /// `bits` bits.
  double middle() const { return double(int64_t(1) << (bits - 1)); }
};

bool isBytes(Build &b, Value v);
/// Unpacks bytes [.., n] into u8 values [.., n * 8 / bits].
Value unpackBits(Build &b, Value bytes, const Packing &p);
/// Returns the zero points [rows, blocks] in the scales' type. `given` is the input of the node:
/// zero points packed in bytes, or in the scales' type. If it is null, returns the default zero
/// point as a scalar.
Value zeroPoints(Build &b, Value given, Value scales, int64_t rows, int64_t blocks,
                 const Packing &p);

} // namespace dlc::onnxfront

#endif // DLC_FRONTEND_ONNX_CONTRIB_PACKED_H
