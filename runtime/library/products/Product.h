//===- Product.h - a matrix product, described and run ---------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H

#include "dlc/Export.h"
#include "runtime/library/Library.h"
#include "runtime/library/products/Panel.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace dlc::products {

/// Part of an operand: of `lanes` rows (the left one) or columns (the right one), `depths` deep.
/// `lane` and `depth` are strides in elements.
struct Operand {
  const float *from = nullptr;
  int64_t lane = 0, depth = 0, lanes = 0, depths = 0;
};

/// How operands are cut and packed, and by what they are multiplied.
struct DLC_EXPORT Form {
  const char *name = "";
  int64_t rows = 0, columns = 0, depth = 0; ///< of a block of an operand, and of a step of it
  int64_t leftBytes = 0, rightBytes = 0;    ///< of a packed step
  int parts = 0;                            ///< of tiles
  int64_t fewColumns = 0;     ///< up to so many, rows of a left operand are read where they lie
  bool (*isHere)() = nullptr; ///< whether this machine can do it
  void (*packLeft)(const Form &, const Operand &, const Place &, void *to) = nullptr;
  void (*packRight)(const Form &, const Operand &, const Place &, void *to) = nullptr;
  void (*multiply)(const Panel &, const Epilogue &) = nullptr;
  const Strassen *strassen = nullptr;              ///< where it can multiply by quarters
  void (*enter)() = nullptr, (*leave)() = nullptr; ///< around calls of multiply in one thread

  /// A right operand of [k, n], made once.
  uint64_t packedBytes(int64_t k, int64_t n) const;
};

/// dst[batch.., m, n] = post-ops(scale · a[batch.., m, k] · b[batch.., k, n] + bias[n])
///
///   {"kind": "product", "parts": 2 or "lanes": 16, "batch": [..], "m", "n", "k", "a": [strides of
///   batch.., m, k],
///    "b": [strides] or "packed", "dst": [strides; the last is 1], "scale": 1, "bias": true,
///    "post_ops": [{"kind": "eltwise", "alg", "alpha", "beta"}, {"kind": "sum", "scale"},
///                 {"kind": "binary", "alg": add mul sub logistic_gradient tanh_gradient
///                  relu_gradient, "strides": [batch.., m, n]}],
///    "prologue": {"of": "a" or "b", "row", "exp": false, "shift": 0 or 1, "factor": 0 or 1,
///                 "hot": value, "sums": false}}
///
/// All of f32, strides in elements. Buffers: a, b, [bias], dst, one for each binary post-op. A sum
/// is the last post-op; one that is not alone needs k <= kDepthAtOnce. "packed": as the form's
/// packRight writes the whole. "parts": on tiles (tiles/Describe.h); "lanes": in vectors of so many
/// numbers (vectors/Describe.h). "strassen": true, in vectors: seven products of quarters instead
/// of eight (Strassen.cpp); of no batch, and nothing packed before.
/// A gradient is that of an activation whose result y is the operand: what comes is multiplied by
/// y (1 - y), by 1 - y², or is 0 where y is not above 0.
/// The prologue (Kernel.h) changes elements of an operand that lies in rows of "row" elements, each
/// time they are packed. Its buffers follow: [shift], [factor] (of all rows, or one), [hot] (i64),
/// [sums], which gets the sum of each column over all rows, where rows are what is summed. Vectors
/// only sum up.
struct DLC_EXPORT Product {
  std::vector<int64_t> batch, aStrides, bStrides, dstStrides;
  int64_t m = 0, n = 0, k = 0;
  Form form;
  bool isPacked = false, hasBias = false, isStrassen = false;
  Epilogue epilogue; ///< without addresses
  std::vector<std::vector<int64_t>> operandStrides;

  struct Change {
    bool isOfLeft = true, across = false, hasShift = false, hasFactor = false, hasHot = false,
         hasSums = false;
    int64_t row = 0;   ///< elements between two rows
    Prologue prologue; ///< without addresses

    /// Whether elements become others, which may be summed up as well.
    bool changes() const { return prologue.exponential || hasShift || hasFactor || hasHot; }
  };
  std::optional<Change> change;

  /// Whether all that becomes of sums is to be added to what dst holds.
  bool addsUp() const;

  /// Throws dlc::Error.
  static Product parse(const nlohmann::json &desc, const Form &form);
};

/// Fewest rows of a product by quarters.
constexpr int64_t kStrassenRows = 28;

/// What goes through the second-level cache at once, in elements of a sum, and most columns.
constexpr int64_t kDepthAtOnce = 512, kColumnsAtOnce = 2048;

/// Most columns of the right operand that are packed together, for sums of `k` products. Where
/// there are no more, each thread packs rows of its own.
DLC_EXPORT int64_t panelColumns(const Form &form, int64_t k);

/// Throws dlc::Error.
std::unique_ptr<runtime::LibraryCall> makeProduct(const nlohmann::json &desc, const Form &form,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
