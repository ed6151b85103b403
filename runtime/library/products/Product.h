//===- Product.h - a matrix product, described and run ---------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
#define DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H

#include "dlc/Export.h"
#include "runtime/library/Library.h"
#include "runtime/library/describe/Product.h"
#include "runtime/library/products/Panel.h"

namespace dlc::products {

/// Part of an operand: of `lanes` rows (the left one) or columns (the right one), `depths` deep.
/// `lane` and `depth` are strides in elements.
template <typename T> struct OperandOf {
  const T *from = nullptr;
  int64_t lane = 0, depth = 0, lanes = 0, depths = 0;
};
using Operand = OperandOf<float>;
/// Of bf16, by its bits; one of the strides is 1.
using NarrowOperand = OperandOf<uint16_t>;

/// How operands are cut and packed, and by what they are multiplied.
struct DLC_EXPORT Form {
  const char *name = "";
  int64_t rows = 0, columns = 0, depth = 0; ///< of a block of an operand, and of a step of it
  int64_t leftBytes = 0, rightBytes = 0;    ///< of a packed step
  int parts = 0;                            ///< of tiles
  int64_t depthAtOnce = 512;  ///< of a sum, what goes through the second-level cache at once
  bool anyRows = false;       ///< blocks of a left operand may as well have fewer rows
  int64_t fewColumns = 0;     ///< up to so many, rows of a left operand are read where they lie
  bool (*isHere)() = nullptr; ///< whether this machine can do it
  void (*packLeft)(const Form &, const Operand &, const Place &, void *to) = nullptr;
  void (*packRight)(const Form &, const Operand &, const Place &, void *to) = nullptr;
  /// The same of bf16, where the form takes it, and sums rounded to it.
  void (*packLeftNarrow)(const Form &, const NarrowOperand &, void *to) = nullptr;
  void (*packRightNarrow)(const Form &, const NarrowOperand &, void *to) = nullptr;
  Narrow narrow = nullptr;
  void (*multiply)(const Panel &, const Epilogue &) = nullptr;
  void (*multiplyLying)(const Lying &) = nullptr;  ///< of whole blocks of columns and whole steps
  const Strassen *strassen = nullptr;              ///< where it can take Strassen's algorithm
  void (*enter)() = nullptr, (*leave)() = nullptr; ///< around calls of multiply in one thread

  /// A right operand of [k, n], made once.
  uint64_t packedBytes(int64_t k, int64_t n) const;
};

inline int64_t upTo(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }
inline int64_t blocksOf(int64_t n, int64_t unit) { return (n + unit - 1) / unit; }

/// How a product (describe/Product.h) is computed:
///
///   {.., "parts": 2 or "lanes": 16, "strassen": false}
///
/// "parts": on tiles (tiles/Describe.h); "lanes": in vectors of so many numbers
/// (vectors/Describe.h), which change no elements of operands, but sum them up. A sum that is not
/// the only post-op needs k <= kSummedDepth. "strassen": in vectors, seven products of quarters
/// instead of eight (Strassen.cpp); of no batch, and nothing packed before.
struct DLC_EXPORT Product : describe::Product {
  Form form;
  bool isStrassen = false;

  /// Throws dlc::Error.
  static Product parse(const nlohmann::json &desc, const Form &form);
};

/// Fewest rows that Strassen's algorithm takes.
constexpr int64_t kStrassenRows = 28;

/// Most columns whose sums go through the second-level cache at once.
constexpr int64_t kColumnsAtOnce = 2048;

/// Sums of so many products are made at once in every form.
constexpr int64_t kSummedDepth = 512;

/// Most columns of the right operand that are packed together, for sums of `k` products. Where
/// there are no more, each thread packs rows of its own.
DLC_EXPORT int64_t panelColumns(const Form &form, int64_t k);

/// Throws dlc::Error.
std::unique_ptr<runtime::LibraryCall> makeProduct(const nlohmann::json &desc, const Form &form,
                                                  std::span<const runtime::BufferInfo> buffers,
                                                  int threads);

} // namespace dlc::products

#endif // DLC_RUNTIME_LIBRARY_PRODUCTS_PRODUCT_H
