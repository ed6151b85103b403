//===- Blocks.h - products of blocks, in vectors or on tiles --------------------------===//
//
// A matrix that is the right operand of products is packed once, whole, and then used in parts that
// begin at whole blocks of 32. So is a left one on tiles; vectors read it as it lies.
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
/// Elements between rows of a block of so many columns: not a power of two, whose rows would share
/// places in a cache.
inline int64_t pitch(int64_t columns) { return padded(columns) + 16; }

/// A matrix in memory; `lane` and `depth` are strides of its lines and along them.
struct Plain {
  const float *at = nullptr;
  int64_t lane = 0, depth = 1;
};

/// A packed matrix: bytes from 32 of its lines to the next.
struct Packed {
  char *at = nullptr;
  int64_t lanes = 0;
};

/// A left operand: packed (tiles), or as it lies (vectors).
struct Left {
  Plain plain;
  Packed packed;
};

struct Units {
  const Kernels *kernels;
  int parts; ///< 0: vectors

  /// Of a packed matrix.
  int64_t bytes(int64_t lanes, int64_t depths) const {
    return padded(lanes) * padded(depths) * 2 * (parts ? parts : 2);
  }
  Packed packRight(Plain from, int64_t lanes, int64_t depths, char *to) const {
    Packed packed{to, bytes(32, depths)};
    if (parts)
      tiles::packRight(from.at, from.lane, from.depth, lanes, depths, parts, to);
    else
      kernels->packRight(from.at, from.lane, from.depth, lanes, depths,
                         kernels->width * padded(depths), reinterpret_cast<float *>(to));
    return packed;
  }
  Left left(Plain from, int64_t lanes, int64_t depths, char *to) const {
    if (!parts)
      return {from, {}};
    tiles::packLeft(from.at, from.lane, from.depth, lanes, depths, parts, to);
    return {from, {to, bytes(32, depths)}};
  }

  /// Lines from `lane` on, a multiple of 32, and what lies `depth` deep, one too.
  Packed part(Packed whole, int64_t lane, int64_t depth) const {
    int64_t step = parts ? parts * tiles::kPartBytes : 32 * kernels->width * 4;
    return {whole.at + lane / 32 * whole.lanes + depth / 32 * step, whole.lanes};
  }
  Left part(const Left &whole, int64_t lane) const {
    Left some = whole;
    some.plain.at += lane * some.plain.lane;
    some.packed.at += lane / 32 * some.packed.lanes;
    return some;
  }

  struct Size {
    int64_t rows, columns, depth;
  };
  /// dst = left * right, or added to it. Whole blocks of 32 x 32 may be written.
  void multiply(const Left &left, Packed right, Size size, float *dst, int64_t dstRow,
                bool adds) const {
    if (!parts) {
      kernels->multiply({left.plain.at, left.plain.lane, left.plain.depth,
                         reinterpret_cast<const float *>(right.at),
                         right.lanes * kernels->width / 32 / 4, dst, dstRow, size.rows,
                         size.columns, size.depth, adds});
      return;
    }
    products::Panel panel;
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

/// A thread's scratch memory, given out piece by piece; without a base only counted.
class Pieces {
public:
  explicit Pieces(char *base) : base(base) {}
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
