//===- Blocks.h - matmuls of blocks, in vectors or on tiles ---------------===//
//
// A right operand is packed once, completely, and then used in parts that begin at multiples of 32.
// A left operand is packed in the same way for tiles; vector kernels read it in place.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ATTENTION_BLOCKS_H
#define DLC_RUNTIME_LIBRARY_ATTENTION_BLOCKS_H

#include "runtime/library/attention/Kernels.h"
#include "runtime/library/tiles/Kernel.h"

#include <algorithm>
#include <cstddef>

namespace dlc::attention {

inline int64_t padded(int64_t n) { return (n + 31) / 32 * 32; }
/// Returns the stride between rows of a block with `columns` columns, in elements. The stride is
/// not a power of two, because the rows would then map to the same cache sets.
inline int64_t pitch(int64_t columns) { return padded(columns) + 16; }

/// Unpacked matrix. `lane` is the stride between its lines (rows of a left operand, columns of a
/// right operand), and `depth` the stride between the elements of a line, in elements.
struct StridedMatrix {
  const float *at = nullptr;
  int64_t lane = 0, depth = 1;
};

/// Packed matrix. `lanes` is the stride between two blocks of 32 lines, in bytes.
struct PackedMatrix {
  char *at = nullptr;
  int64_t lanes = 0;
};

/// Left operand of a matmul: packed for tiles, or read in place by vector kernels.
struct LeftOperand {
  StridedMatrix plain;
  PackedMatrix packed;
};

struct MatmulBackend {
  const Kernels *kernels;
  int parts; ///< number of bf16 parts for tiles; 0 for vectors

  /// Returns the size of a packed matrix in bytes.
  int64_t bytes(int64_t lanes, int64_t depths) const {
    return padded(lanes) * padded(depths) * 2 * (parts ? parts : 2);
  }
  PackedMatrix packRight(StridedMatrix from, int64_t lanes, int64_t depths, char *to) const {
    PackedMatrix packed{to, bytes(32, depths)};
    if (parts)
      tiles::packRight(from.at, from.lane, from.depth, lanes, depths, parts, to);
    else
      kernels->packRight(from.at, from.lane, from.depth, lanes, depths,
                         kernels->width * padded(depths), reinterpret_cast<float *>(to));
    return packed;
  }
  LeftOperand left(StridedMatrix from, int64_t lanes, int64_t depths, char *to) const {
    if (!parts)
      return {from, {}};
    tiles::packLeft(from.at, from.lane, from.depth, lanes, depths, parts, to);
    return {from, {to, bytes(32, depths)}};
  }

  /// Returns the part of a packed matrix that begins at line `lane` and at element `depth` of the
  /// lines, both multiples of 32.
  PackedMatrix part(PackedMatrix whole, int64_t lane, int64_t depth) const {
    int64_t step = parts ? parts * tiles::kPartBytes : 32 * kernels->width * 4;
    return {whole.at + lane / 32 * whole.lanes + depth / 32 * step, whole.lanes};
  }
  LeftOperand part(const LeftOperand &whole, int64_t lane) const {
    LeftOperand some = whole;
    some.plain.at += lane * some.plain.lane;
    some.packed.at += lane / 32 * some.packed.lanes;
    return some;
  }

  struct Size {
    int64_t rows, columns, depth;
  };
  /// Computes dst = left * right, or dst += left * right if `adds` is set. May write full blocks of
  /// 32 x 32 elements.
  void multiply(const LeftOperand &left, PackedMatrix right, Size size, float *dst, int64_t dstRow,
                bool adds) const {
    if (!parts) {
      kernels->multiply({left.plain.at, left.plain.lane, left.plain.depth,
                         reinterpret_cast<const float *>(right.at),
                         right.lanes * kernels->width / 32 / 4, dst, dstRow, size.rows,
                         size.columns, size.depth, adds});
      return;
    }
    products::PanelArguments panel;
    panel.left = left.packed.at;
    panel.leftStride = left.packed.lanes;
    panel.right = right.at;
    panel.rightStride = right.lanes;
    panel.steps = padded(size.depth) / 32;
    panel.dst = dst;
    panel.dstRow = dstRow;
    panel.rows = (size.rows + 15) / 16 * 16;
    panel.columns = padded(size.columns);
    panel.parts = parts;
    panel.isFirst = !adds;
    tiles::multiply(panel, {});
  }
};

/// Bump allocator for a thread's scratch memory. If the base is null, it only counts the bytes.
class ScratchAllocator {
public:
  explicit ScratchAllocator(char *base) : base(base) {}
  char *bytes(int64_t count) {
    char *at = base ? base + used : nullptr;
    used += (count + 63) / 64 * 64;
    return at;
  }
  float *floats(int64_t count) { return reinterpret_cast<float *>(bytes(4 * count)); }
  int64_t size() const { return used; }

private:
  char *base;
  int64_t used = 0;
};

} // namespace dlc::attention

#endif // DLC_RUNTIME_LIBRARY_ATTENTION_BLOCKS_H
