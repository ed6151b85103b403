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
#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Element type of a metadata value. Integers of all sizes are stored with 64 bits.
enum class MetaKind : uint8_t { Bool, Integer, Unsigned, Real, String };

/// A metadata value: one element, or a list of elements of one kind.
struct DLC_EXPORT MetaValue {
  MetaKind kind = MetaKind::Integer;
  bool isList = false;
  /// Elements of numeric kinds as stored in the file: little endian, `elementBytes` bytes each.
  const uint8_t *numbers = nullptr;
  uint32_t elementBytes = 0;
  uint64_t count = 0;
  /// Elements of kind String, in the file's memory.
  std::vector<std::string_view> strings;

  /// Returns the number of elements; 1 for a single value.
  uint64_t size() const { return kind == MetaKind::String ? strings.size() : count; }
  /// Returns an element of a numeric kind as a double.
  double real(uint64_t index) const;
  /// Returns an element of kind Bool, Integer or Unsigned; nothing if the value exceeds int64_t or
  /// the kind is another.
  std::optional<int64_t> integer(uint64_t index) const;
};

/// A tensor of a model file: row-major, the last dimension is contiguous. Each row is a sequence of
/// whole blocks of the format.
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

/// Metadata and tensors by name. The getters validate: they throw dlc::Error if a key is required
/// and missing, has another kind, or has a value out of range.
class DLC_EXPORT ModelTable {
public:
  std::string path;
  ModelFormat format = ModelFormat::Gguf;
  std::map<std::string, MetaValue, std::less<>> metadata;
  std::map<std::string, ModelTensor, std::less<>> tensors;
  /// Owners of the memory of strings and numbers in `metadata`.
  std::vector<std::shared_ptr<const void>> owners;

  const MetaValue *find(std::string_view key) const;
  const ModelTensor *findTensor(std::string_view name) const;

  /// Returns an integer in [low, high]. Without a fallback the key is required.
  int64_t integer(std::string_view key, int64_t low, int64_t high,
                  std::optional<int64_t> fallback = {}) const;
  /// Returns a finite number in [low, high]. Without a fallback the key is required.
  double real(std::string_view key, double low, double high,
              std::optional<double> fallback = {}) const;
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
  const MetaValue *single(std::string_view key, bool required) const;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_MODELS_MODELTABLE_H
