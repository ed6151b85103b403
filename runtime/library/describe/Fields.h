//===- Fields.h - a description's JSON, checked field by field ---------------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H

#include "dlc/DType.h"
#include "dlc/Export.h"
#include "runtime/program/Message.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::describe {

/// No size, and no product of sizes, may be larger.
constexpr int64_t kMaxSize = int64_t(1) << 40;

/// What is not as it must be throws dlc::Error, with the library's name before it.
class DLC_EXPORT Fields {
public:
  Fields(const nlohmann::json &desc, std::string library);

  std::string kind() const { return word("kind"); }
  bool has(const char *name) const { return find(name); }
  /// The value as it is; complains where there is none.
  const nlohmann::json &at(const char *name) const;

  int64_t integer(const char *name, int64_t low, int64_t high) const;
  int64_t integer(const char *name, int64_t low, int64_t high, int64_t otherwise) const;
  int64_t size(const char *name, int64_t least = 0) const { return integer(name, least, kMaxSize); }
  std::vector<int64_t> integers(const char *name, size_t count, int64_t low, int64_t high) const;
  /// `count` of them, or with 0 any number up to 32.
  std::vector<int64_t> sizes(const char *name, size_t count = 0, int64_t least = 0) const;

  bool flag(const char *name, bool otherwise = false) const;
  double number(const char *name) const;
  double number(const char *name, double otherwise) const;
  std::string word(const char *name, const char *otherwise = "") const;
  DType dtype(const char *name) const;

  /// A list's entries, which complain as this does; none where there is no such list.
  std::vector<Fields> list(const char *name, size_t most) const;
  Fields object(const char *name) const { return {at(name), library}; }

  template <typename... Parts> [[noreturn]] void complain(const Parts &...parts) const {
    runtime::fail(library, ": ", parts...);
  }
  /// That field is not what was expected.
  [[noreturn]] void refuse(const char *name, const std::string &expected) const;

private:
  const nlohmann::json *find(const char *name) const;

  const nlohmann::json &desc;
  std::string library;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
