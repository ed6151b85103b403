//===- Product.h - a matrix product in parts, described and run -----------------===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_TILES_PRODUCT_H

#include "dlc/Export.h"
#include "runtime/library/tiles/Kernel.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace dlc::tiles {

/// Whether this machine has tiles and the system lets us use them.
DLC_EXPORT bool available();

/// dst[batch.., m, n] = post-ops(scale · a[batch.., m, k] · b[batch.., k, n] + bias[n])
///
///   {"kind": "product", "parts": 2, "batch": [..], "m", "n", "k", "a": [strides of batch.., m, k],
///    "b": [strides] or "packed", "dst": [strides; the last is 1], "scale": 1, "bias": true,
///    "post_ops": [{"kind": "eltwise", "alg", "alpha", "beta"}, {"kind": "sum", "scale"},
///                 {"kind": "binary", "alg": add mul sub, "strides": [batch.., m, n]}],
///    "prologue": {"of": "a" or "b", "row", "exp": false, "shift": 0 or 1, "factor": 0 or 1,
///                 "hot": value, "sums": false}}
///
/// All of f32, strides in elements. Buffers: a, b, [bias], dst, one for each binary post-op. A sum
/// is the last post-op; one that is not alone needs k <= kDepthAtOnce. "packed": see packedBytes().
/// The prologue (Kernel.h) changes elements of an operand that lies in rows of "row" elements, each
/// time they are packed. Its buffers follow: [shift], [factor] (of all rows, or one), [hot] (i64),
/// [sums], which gets the sum of each column over all rows, where rows are what is summed.
struct DLC_EXPORT Product {
  std::vector<int64_t> batch, aStrides, bStrides, dstStrides;
  int64_t m = 0, n = 0, k = 0;
  int parts = 2;
  bool isPacked = false, hasBias = false;
  Epilogue epilogue; ///< without addresses
  std::vector<std::vector<int64_t>> operandStrides;

  struct Change {
    bool isOfLeft = true, across = false, hasShift = false, hasFactor = false, hasHot = false,
         hasSums = false;
    int64_t row = 0;   ///< elements between two rows
    Prologue prologue; ///< without addresses
  };
  std::optional<Change> change;

  /// Throws dlc::Error.
  static Product parse(const nlohmann::json &desc);
};

/// A right operand of [k, n] as tiles want it, made once.
DLC_EXPORT uint64_t packedBytes(int64_t k, int64_t n, int parts);
DLC_EXPORT void packWeights(const float *b, int64_t rowStride, int64_t columnStride, int64_t k,
                            int64_t n, int parts, void *packed);

/// What goes through the second-level cache at once, in elements of a sum.
constexpr int64_t kDepthAtOnce = 512;

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_PRODUCT_H
