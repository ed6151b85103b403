//===- Schema.h - typed descriptions of library calls ---------------------===//
//
// The .def files have one row for each field of each description. This header defines from them:
//
//   enum class E           for each ENUM(E), with namesOf(E()), nameOf(value) and parse<E>(name)
//   struct R               for each RECORD(R, Base), with one member for each field
//   R::read(json, library) reads and checks the text form; throws dlc::Error
//   R::toJson()            returns the text form
//
// Visit.h calls a function for each field of a record.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_SCHEMA_SCHEMA_H
#define DLC_RUNTIME_LIBRARY_SCHEMA_SCHEMA_H

#include "dlc/Export.h"
#include "runtime/library/schema/Types.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace dlc::schema {

#define ENUM(Name) enum class Name {
#define VALUE(Name, Value, text) Value,
#define END_ENUM(Name)                                                                             \
  }                                                                                                \
  ;
#define RECORD(Name, Base)                                                                         \
  struct DLC_EXPORT Name : Base {                                                                  \
    static Name read(const nlohmann::json &desc, std::string library);                             \
    nlohmann::json toJson() const;                                                                 \
    bool operator==(const Name &) const = default;
#define FIELD(Type, member, text, initial, rule, documentation) Type member = initial;
#define END_RECORD(Name)                                                                           \
  }                                                                                                \
  ;
#define CALL(library, kind, Record)
#include "runtime/library/schema/All.def"

#define ENUM(Name) inline constexpr std::pair<Name, const char *> k##Name##Names[] = {
#define VALUE(Name, Value, text) {Name::Value, text},
#define END_ENUM(Name)                                                                             \
  }                                                                                                \
  ;                                                                                                \
  constexpr Names<Name> namesOf(Name) { return k##Name##Names; }
#define RECORD(Name, Base)
#define FIELD(Type, member, text, initial, rule, documentation)
#define END_RECORD(Name)
#define CALL(library, kind, Record)
#include "runtime/library/schema/All.def"

/// Returns the enumerator's name in the text form; "" if it has none.
template <typename Enum> constexpr const char *nameOf(Enum value) {
  for (const auto &[each, name] : namesOf(value))
    if (each == value)
      return name;
  return "";
}

/// Returns the enumerator with this name in the text form, or nullopt.
template <typename Enum> constexpr std::optional<Enum> parse(std::string_view text) {
  for (const auto &[each, name] : namesOf(Enum()))
    if (*name && text == name)
      return each;
  return std::nullopt;
}

/// Reads a list of records, each from its text form.
template <typename Record>
std::vector<Record> readList(const nlohmann::json &list, const std::string &library) {
  std::vector<Record> records;
  for (const nlohmann::json &entry : list)
    records.push_back(Record::read(entry, library));
  return records;
}

} // namespace dlc::schema

#endif // DLC_RUNTIME_LIBRARY_SCHEMA_SCHEMA_H
