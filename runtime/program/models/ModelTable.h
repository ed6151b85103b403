//===- ModelTable.h - metadata and tensors of a language-model file ----------===//
//
// A GGUF file and a Hugging Face folder both describe a model as named values and named tensors,
// without a graph. Their readers return this table. Tensors are views of mapped files.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_PROGRAM_MODELS_MODELTABLE_H
#define DLC_RUNTIME_PROGRAM_MODELS_MODELTABLE_H

#include "dlc/Export.h"
#include "runtime/program/Program.h"
#include "runtime/program/models/BlockFormat.h"

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Kind of the elements of a metadata value. Getters return integers of all sizes as int64_t.
enum class MetaKind : uint8_t { Bool, Integer, Unsigned, Real, String };

/// A metadata value: one element, or a list of elements of one kind.
struct DLC_EXPORT MetaValue {
  MetaKind kind = MetaKind::Integer;
  bool isList = false;
  /// Elements of all kinds except String: little endian, `elementBytes` bytes each, in memory that
  /// ModelTable::owners keeps alive.
  const uint8_t *numbers = nullptr;
  uint32_t elementBytes = 0;
  /// Number of elements in `numbers`.
  uint64_t count = 0;
  /// Elements of kind String, in memory that ModelTable::owners keeps alive.
  std::vector<std::string_view> strings;

  /// Returns the number of elements; 1 for a single value.
  uint64_t size() const { return kind == MetaKind::String ? strings.size() : count; }
  /// Returns an element of `numbers` as a double; NaN if the index is out of range.
  double real(uint64_t index) const;
  /// Returns an element of kind Bool, Integer or Unsigned. Returns nothing for other kinds, for an
  /// index out of range, and for a value that exceeds int64_t.
  std::optional<int64_t> integer(uint64_t index) const;
};

/// A tensor of a model file in row-major order: the last dimension is contiguous. Each row is a
/// sequence of whole blocks of the format.
struct ModelTensor {
  BlockFormat format = BlockFormat::F32;
  std::vector<int64_t> shape;
  Span data;

  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : shape)
      n *= d;
    return n;
  }
};

enum class ModelFormat : uint8_t { Gguf, HuggingFace };

/// Metadata and tensors by name. The getters throw dlc::Error if a required key is missing, or if a
/// value has another kind or is out of range.
class DLC_EXPORT ModelTable {
public:
  std::string path;
  ModelFormat format = ModelFormat::Gguf;
  std::map<std::string, MetaValue, std::less<>> metadata;
  std::map<std::string, ModelTensor, std::less<>> tensors;
  /// Keys of a config.json whose value is null. `metadata` does not contain them.
  std::set<std::string, std::less<>> nulls;
  /// Owners of the memory of strings and numbers in `metadata`.
  std::vector<std::shared_ptr<const void>> owners;

  /// Return the value or the tensor with the name; null if there is none.
  const MetaValue *find(std::string_view key) const;
  const ModelTensor *findTensor(std::string_view name) const;

  /// Returns an integer in [low, high]. If the key is missing, returns the fallback, which is not
  /// checked; a key without a fallback is required.
  int64_t integer(std::string_view key, int64_t low, int64_t high,
                  std::optional<int64_t> fallback = {}) const;
  /// Returns a finite number in [low, high]. Without a fallback the key is required.
  double real(std::string_view key, double low, double high,
              std::optional<double> fallback = {}) const;
  /// Returns a bool; the fallback if the key is missing.
  bool boolean(std::string_view key, bool fallback) const;
  /// Returns a string. Without a fallback the key is required.
  std::string string(std::string_view key, std::optional<std::string> fallback = {}) const;
  /// Returns a list of `count` integers in [low, high]. A single integer is repeated. Returns
  /// nothing if the key is missing.
  std::optional<std::vector<int64_t>> integers(std::string_view key, uint64_t count, int64_t low,
                                               int64_t high) const;

  /// Throws dlc::Error with the path of the model as a prefix.
  [[noreturn]] void fail(const std::string &text) const;

private:
  /// Returns the value of a key, which must not be a list; null if an optional key is missing.
  const MetaValue *single(std::string_view key, bool required) const;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_MODELTABLE_H
