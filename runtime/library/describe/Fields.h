//===- Fields.h - checked access to a description's JSON fields -----------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H

#include "dlc/DType.h"
#include "dlc/Export.h"
#include "runtime/program/Message.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::describe {

/// Maximum of every size in a description, and of every product of sizes: 2^40.
constexpr int64_t kMaxSize = int64_t(1) << 40;

/// Checked access to the fields of a JSON description. A field with an invalid value throws
/// dlc::Error with the library's name as the message's prefix.
class DLC_EXPORT Fields {
public:
  Fields(const nlohmann::json &desc, std::string library);

  std::string kind() const { return word("kind"); }
  bool has(const char *name) const { return find(name); }
  /// Returns the raw JSON value of a field. Throws dlc::Error if the field is missing.
  const nlohmann::json &at(const char *name) const;

  int64_t integer(const char *name, int64_t low, int64_t high) const;
  int64_t integer(const char *name, int64_t low, int64_t high, int64_t otherwise) const;
  int64_t size(const char *name, int64_t least = 0) const { return integer(name, least, kMaxSize); }
  std::vector<int64_t> integers(const char *name, size_t count, int64_t low, int64_t high) const;
  /// Reads a list of `count` sizes, or of up to 32 sizes if `count` is 0. Each size is at least
  /// `least`.
  std::vector<int64_t> sizes(const char *name, size_t count = 0, int64_t least = 0) const;

  bool flag(const char *name, bool otherwise = false) const;
  double number(const char *name) const;
  double number(const char *name, double otherwise) const;
  std::string word(const char *name, const char *otherwise = "") const;
  DType dtype(const char *name) const;

  /// Returns the objects in the list field `name`, of which there are at most `most`; empty if the
  /// field is missing. The returned objects report errors with the same library name.
  std::vector<Fields> list(const char *name, size_t most) const;
  Fields object(const char *name) const { return {at(name), library}; }

  template <typename... Parts> [[noreturn]] void complain(const Parts &...parts) const {
    runtime::fail(library, ": ", parts...);
  }
  /// Throws dlc::Error, which reports that the field `name` does not have the expected value.
  [[noreturn]] void refuse(const char *name, const std::string &expected) const;

private:
  const nlohmann::json *find(const char *name) const;

  const nlohmann::json &desc;
  std::string library;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
