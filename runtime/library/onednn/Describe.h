//===- Describe.h - oneDNN interface for the compiler: queries before execution -===//
//
// The interface consists of plain structures and JSON, and no function throws. The JSON of an
// operation is documented in Desc.md in this folder. describe() accepts the same JSON as a library
// command's "desc".
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H
#define DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H

#include "dlc/Export.h"
#include "runtime/library/onednn/Implementation.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace dlc::onednn {

/// Buffer of a library command; arguments have the order of the command's buffers.
struct Argument {
  std::string name; // "src", "weights", "bias", "dst", "post0", ...
  std::vector<int64_t> dims;
  std::string dtype;
  std::string tag; // concrete layout tag: "aBcd16b", "strided" (see strides) or "opaque:BYTES"
  std::vector<int64_t> strides; // in elements, for plain layouts only
  uint64_t bytes = 0;           // padding included
  bool isOutput = false;
};

struct OperationDescription {
  bool ok = false;
  std::string error;
  std::string implementation; ///< oneDNN's name of the implementation
  Implementation properties;  ///< of the implementation
  std::vector<Argument> arguments;
  uint64_t scratchpadBytes = 0;
  /// Description of the query with a concrete layout in place of each "any", and with "impl" set. A
  /// program contains this description.
  nlohmann::json desc;

  const Argument *find(std::string_view name) const {
    for (const Argument &argument : arguments)
      if (argument.name == name)
        return &argument;
    return nullptr;
  }
};

/// Returns the implementation, the layouts and the buffers that oneDNN selects for `desc` with
/// `threads` threads; 0 means all threads of the machine. The selection depends on the number of
/// threads. Never returns null. Equal queries share one cached result.
DLC_EXPORT std::shared_ptr<const OperationDescription> ask(const nlohmann::json &desc,
                                                           int threads = 0);

/// Returns the implementation, the layouts and the buffers that oneDNN selects, as a copy of the
/// shared result of ask().
inline OperationDescription describe(const nlohmann::json &desc, int threads = 0) {
  return *ask(desc, threads);
}

/// Describes every oneDNN implementation of `desc`, in oneDNN's order of preference. Ignores
/// the field "impl", which selects an implementation by name in other functions.
DLC_EXPORT std::vector<OperationDescription> describeAll(const nlohmann::json &desc,
                                                         int threads = 0);

struct PackedWeights {
  bool ok = false;
  std::string error;
  std::shared_ptr<void> data; // aligned to 64 bytes
  uint64_t bytes = 0;
};

/// Reorders a plain constant into the resolved layout and element type of `argument` of `desc`. An
/// empty plainTag means row-major; an empty plainDtype means the argument's own element type.
DLC_EXPORT PackedWeights packWeights(const nlohmann::json &desc, std::string_view argument,
                                     const void *plain, std::string_view plainTag = "",
                                     std::string_view plainDtype = "", int threads = 0);

/// Returns the size in bytes of a tensor with the layout {"dims", "dtype", "tag"|"strides"},
/// padding included, or nullopt if the layout is not valid.
DLC_EXPORT std::optional<uint64_t> layoutBytes(const nlohmann::json &layout);

/// Copies a tensor from the layout `from` to the layout `to` ({"dims", "dtype", "tag"|"strides"})
/// and converts the element type. Returns an error message, empty on success.
DLC_EXPORT std::string reorder(const nlohmann::json &from, const void *source,
                               const nlohmann::json &to, void *destination, int threads = 0);

/// Returns true if oneDNN sums products of 8-bit integers on this machine without saturation.
DLC_EXPORT bool sumsInt8Exactly();

/// Returns the name and version of oneDNN, for example "oneDNN 3.2.0". It is part of the key of
/// cached measurements.
DLC_EXPORT std::string libraryVersion();

} // namespace dlc::onednn

#endif // DLC_RUNTIME_LIBRARY_ONEDNN_DESCRIBE_H
