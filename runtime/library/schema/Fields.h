//===- Fields.h - checked access to a description's JSON fields -----------===//
#ifndef DLC_RUNTIME_LIBRARY_SCHEMA_FIELDS_H
#define DLC_RUNTIME_LIBRARY_SCHEMA_FIELDS_H

#include "dlc/Export.h"
#include "runtime/library/schema/Types.h"

#include <nlohmann/json.hpp>

namespace dlc::schema {

/// Checked access to the fields of a JSON description. A field with an invalid value throws
/// dlc::Error with the library's name as the message's prefix.
class DLC_EXPORT Fields {
public:
  Fields(const nlohmann::json &desc, std::string library);

  bool has(const char *name) const { return find(name); }
  /// Returns the raw JSON value of a field. Throws dlc::Error if the field is missing.
  const nlohmann::json &at(const char *name) const;

  int64_t integer(const char *name, const Rule &rule) const;
  std::vector<int64_t> integers(const char *name, const Rule &rule) const;
  /// Reads a list of integers whose product is at most kMaxSize.
  std::vector<int64_t> sizes(const char *name, const Rule &rule) const;

  bool flag(const char *name) const;
  double number(const char *name) const;
  std::vector<double> numbers(const char *name, const Rule &rule) const;
  std::string word(const char *name) const;
  DType dtype(const char *name) const;
  /// Returns the list of at most `most` entries.
  const nlohmann::json &entries(const char *name, size_t most) const;

  /// Throws dlc::Error, which reports that the field `name` does not have the expected value.
  [[noreturn]] void refuse(const char *name, const std::string &expected) const;
  template <typename... Parts> [[noreturn]] void complain(const Parts &...parts) const {
    runtime::fail(library, ": ", parts...);
  }

private:
  const nlohmann::json *find(const char *name) const;

  const nlohmann::json &desc;

public:
  const std::string library;
};

} // namespace dlc::schema

#endif // DLC_RUNTIME_LIBRARY_SCHEMA_FIELDS_H
