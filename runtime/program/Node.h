//===- Node.h - values of a manifest with their positions, for error messages -===//
#ifndef DLC_RUNTIME_PROGRAM_NODE_H
#define DLC_RUNTIME_PROGRAM_NODE_H

#include "runtime/program/Message.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace dlc::runtime {

using nlohmann::json;

/// Upper limit of all sizes and offsets in a manifest, far above real programs.
constexpr uint64_t kMaxBytes = uint64_t(1) << 46;

/// Position of a value in the manifest, as a linked list of keys and indices. Its text is built
/// only for error messages.
struct ManifestPosition {
  const ManifestPosition *parent = nullptr;
  const char *key = nullptr;
  size_t index = 0;

  std::string text() const {
    if (!parent)
      return "";
    std::string before = parent->text();
    if (key)
      return before.empty() ? std::string(key) : before + "." + key;
    return before + "[" + std::to_string(index) + "]";
  }
};

template <typename... Parts>
[[noreturn]] void failAt(const ManifestPosition &where, const Parts &...parts) {
  std::string place = where.text();
  fail("program manifest: ", place, place.empty() ? "" : ": ", parts...,
       "; the program is damaged, or another version of dlc made it; compile the model again");
}

/// A JSON value with its position in the manifest.
struct ManifestNode {
  const json &value;
  ManifestPosition where;

  ManifestNode member(const char *key) const {
    if (!value.is_object())
      failAt(where, "required: an object; found: ", value.type_name());
    auto found = value.find(key);
    static const json null;
    return {found == value.end() ? null : *found, {&where, key, 0}};
  }
  bool absent() const { return value.is_null(); }
  ManifestNode at(size_t index) const { return {value[index], {&where, nullptr, index}}; }

  template <typename Fn> void forEach(Fn &&each) const {
    if (absent())
      return;
    if (!value.is_array())
      failAt(where, "required: an array; found: ", value.type_name());
    for (size_t i = 0; i < value.size(); ++i)
      each(ManifestNode{value[i], {&where, nullptr, i}});
  }

  uint64_t unsignedUpTo(uint64_t limit) const {
    // Integers from the JSON parser are unsigned; integers inserted by C++ code may be signed.
    bool fits =
        value.is_number_unsigned() || (value.is_number_integer() && value.get<int64_t>() >= 0);
    if (!fits)
      failAt(where, "required: a non-negative integer; found: ", describe());
    uint64_t number = value.get<uint64_t>();
    if (number > limit)
      failAt(where, "required: at most ", limit, "; found: ", number);
    return number;
  }
  uint64_t unsignedOr(uint64_t otherwise, uint64_t limit) const {
    return absent() ? otherwise : unsignedUpTo(limit);
  }
  int64_t integerOr(int64_t otherwise) const {
    if (absent())
      return otherwise;
    bool fits = value.is_number_integer() &&
                (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t(INT64_MAX));
    if (!fits)
      failAt(where, "required: an integer; found: ", describe());
    int64_t number = value.get<int64_t>();
    if (number > int64_t(kMaxBytes) || number < -int64_t(kMaxBytes))
      failAt(where, "the number ", number, " is out of range");
    return number;
  }
  bool booleanOr(bool otherwise) const {
    if (absent())
      return otherwise;
    if (!value.is_boolean())
      failAt(where, "required: true or false; found: ", describe());
    return value.get<bool>();
  }
  double numberOr(double otherwise) const {
    if (absent())
      return otherwise;
    if (!value.is_number())
      failAt(where, "required: a number; found: ", describe());
    return value.get<double>();
  }
  std::string string() const {
    if (!value.is_string())
      failAt(where, "required: a string; found: ", describe());
    return value.get<std::string>();
  }
  std::string stringOr(const char *otherwise) const { return absent() ? otherwise : string(); }

  std::string describe() const {
    if (value.is_structured())
      return value.type_name();
    std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
    return absent() ? "nothing" : text.substr(0, 60);
  }
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_NODE_H
