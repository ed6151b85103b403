//===- Describe.h - oneDNN seen from the compiler: ask before running ---------===//
//
// Plain structures and JSON only; nothing here throws. The JSON of an operation is documented in
// Desc.md beside this file: what describe() accepts is what a library command's "desc" carries.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::onednn {

/// One buffer of a library command, in the command's order.
struct Argument {
  std::string name; // "src", "weights", "bias", "dst", "post0", ...
  std::vector<int64_t> dims;
  std::string dtype;
  std::string tag;              // concrete: "aBcd16b", "strided" (see strides) or "opaque:BYTES"
  std::vector<int64_t> strides; // in elements, for plain layouts only
  uint64_t bytes = 0;           // padding included
  bool isOutput = false;
};

struct Described {
  bool ok = false;
  std::string error;
  std::string implementation;
  std::vector<Argument> arguments;
  uint64_t scratchpadBytes = 0;
  /// The request with every "any" made concrete and "impl" filled in: put this into the program.
  nlohmann::json desc;

  const Argument *find(std::string_view name) const {
    for (const Argument &argument : arguments)
      if (argument.name == name)
        return &argument;
    return nullptr;
  }
};

/// What oneDNN would do for `desc` with `threads` threads (0: as many as the machine has; its
/// choice depends on it). Never null; whoever asks the same shares the answer.
DLC_EXPORT std::shared_ptr<const Described> ask(const nlohmann::json &desc, int threads = 0);

/// A copy of the answer.
inline Described describe(const nlohmann::json &desc, int threads = 0) {
  return *ask(desc, threads);
}

/// Whether that is the general code that oneDNN has for want of better, by itself or called by
/// another operation.
inline bool isReference(std::string_view implementation) {
  return implementation.starts_with("ref") || implementation.starts_with("simple_n") ||
         implementation.find("+ref") != std::string_view::npos;
}

/// Every implementation in oneDNN's order of preference. desc["impl"] is ignored here; elsewhere it
/// picks one by name.
DLC_EXPORT std::vector<Described> describeAll(const nlohmann::json &desc, int threads = 0);

struct Packed {
  bool ok = false;
  std::string error;
  std::shared_ptr<void> data; // aligned to 64
  uint64_t bytes = 0;
};

/// Reorders a plain constant into the layout (and element type) that `argument` of `desc` has once
/// resolved. plainTag "": row-major; plainDtype "": the argument's own.
DLC_EXPORT Packed packWeights(const nlohmann::json &desc, std::string_view argument,
                              const void *plain, std::string_view plainTag = "",
                              std::string_view plainDtype = "", int threads = 0);

/// Bytes of a layout {"dims", "dtype", "tag"|"strides"}, padding included; nothing if it is not
/// one.
DLC_EXPORT std::optional<uint64_t> layoutBytes(const nlohmann::json &layout);

/// Copies between two such layouts, converting types; empty on success, else what went wrong.
DLC_EXPORT std::string reorder(const nlohmann::json &from, const void *source,
                               const nlohmann::json &to, void *destination, int threads = 0);

/// Whether it adds up products of 8-bit integers without a saturating step on this machine.
DLC_EXPORT bool sumsInt8Exactly();

/// "oneDNN 3.2.0": part of the key of everything measured.
DLC_EXPORT std::string libraryVersion();

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H
