//===- Fields.h - a convolution's description, checked field by field --------------===//
#ifndef DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
#define DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H

#include "runtime/library/simd/Step.h"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace dlc::describe {

/// No size, and no product of sizes, may be larger.
constexpr int64_t kMaxSize = int64_t(1) << 40;

/// What is not as it must be throws dlc::Error, with the library's name before it.
class Fields {
public:
  Fields(const nlohmann::json &desc, const char *library) : desc(desc), library(library) {}

  std::string kind() const;
  int64_t integer(const char *name, int64_t low, int64_t high) const;
  std::vector<int64_t> integers(const char *name, size_t count, int64_t low) const;
  bool flag(const char *name) const;
  /// Operands still open.
  std::vector<simd::Step> steps() const;

private:
  float number(const nlohmann::json &step, const char *name) const;
  simd::Step step(const nlohmann::json &step) const;

  const nlohmann::json &desc;
  const char *library;
};

} // namespace dlc::describe

#endif // DLC_RUNTIME_LIBRARY_DESCRIBE_FIELDS_H
