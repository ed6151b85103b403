//===- Types.h - types of the fields in descriptions of library calls -----===//
#ifndef DLC_RUNTIME_LIBRARY_SCHEMA_TYPES_H
#define DLC_RUNTIME_LIBRARY_SCHEMA_TYPES_H

#include "dlc/DType.h"
#include "runtime/program/Message.h"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace dlc::schema {

/// Maximum of every size in a description, and of every product of sizes: 2^40.
constexpr int64_t kMaxSize = int64_t(1) << 40;

/// Number of elements, rows, channels, .. of a tensor.
struct Size {
  int64_t value = 0;
  constexpr Size(int64_t value = 0) : value(value) {}
  constexpr operator int64_t() const { return value; }
};

/// List of integers that are not sizes: strides, padding, dilations.
struct Integers : std::vector<int64_t> {
  using vector::vector;
  Integers(std::vector<int64_t> values) : vector(std::move(values)) {}
};

/// Shape of a tensor, or sizes of a batch. The product of the sizes is at most kMaxSize.
struct Sizes : std::vector<Size> {
  using vector::vector;
  Sizes(const std::vector<int64_t> &values) : vector(values.begin(), values.end()) {}
  operator std::vector<int64_t>() const { return {begin(), end()}; }
};

/// Strides of a matrix, or the word "packed" for a matrix in a library's own layout.
struct PackedOrStrides {
  bool isPacked = false;
  Integers strides;
  bool operator==(const PackedOrStrides &) const = default;
};

/// Value, or the word "buffer" for a value in a buffer of the call.
template <typename T> struct OrBuffer {
  T value = 0;
  bool isBuffer = false;
  OrBuffer(T value = 0) : value(value) {}
  static OrBuffer buffer() {
    OrBuffer made;
    made.isBuffer = true;
    return made;
  }
  bool operator==(const OrBuffer &) const = default;
};

/// Field whose absence differs from every value.
template <typename T> using Maybe = std::optional<T>;

/// Condition that a field satisfies, and whether it may be missing.
struct Rule {
  enum class Presence {
    Required, ///< must be present
    Optional, ///< has its default value if missing; not written if it has its default value
    Written,  ///< has its default value if missing; always written
  };
  Presence presence = Presence::Required;
  /// Bounds of an integer, or of each integer in a list.
  int64_t low = 0, high = kMaxSize;
  /// Number of elements of a list, or maximum number of records in a list of records. 0 for any
  /// number up to `most`.
  size_t count = 0;
  int64_t step = 1; ///< divisor of each integer

  size_t most = 32; ///< maximum number of elements of a list

  constexpr Rule of(size_t length) const {
    Rule rule = *this;
    rule.count = length;
    return rule;
  }
  constexpr Rule atMost(size_t length) const { return of(length); }
  constexpr Rule anyLength() const {
    Rule rule = *this;
    rule.most = SIZE_MAX;
    return rule;
  }
  constexpr Rule multipleOf(int64_t divisor) const {
    Rule rule = *this;
    rule.step = divisor;
    return rule;
  }
};

constexpr Rule required(int64_t low = 0, int64_t high = kMaxSize) {
  return {Rule::Presence::Required, low, high};
}
constexpr Rule optional(int64_t low = 0, int64_t high = kMaxSize) {
  return {Rule::Presence::Optional, low, high};
}
constexpr Rule written(int64_t low = 0, int64_t high = kMaxSize) {
  return {Rule::Presence::Written, low, high};
}

/// Base of all records.
struct Record {
  /// Name of the library or operation that starts the messages of complain().
  std::string library;

  template <typename... Parts> [[noreturn]] void complain(const Parts &...parts) const {
    runtime::fail(library, ": ", parts...);
  }
  /// Records with equal fields are equal, also if their messages differ.
  bool operator==(const Record &) const { return true; }
};

/// Pairs of an enumerator and its name in the text form.
template <typename Enum> using Names = std::span<const std::pair<Enum, const char *>>;

} // namespace dlc::schema

#endif // DLC_RUNTIME_LIBRARY_SCHEMA_TYPES_H
