//===- Library.h - what is known of any library of the CPU's ------------------===//
#ifndef DLC_RUNTIME_LIBRARY_LIBRARY_H
#define DLC_RUNTIME_LIBRARY_LIBRARY_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dlc::runtime {

struct BufferInfo {
  uint64_t bytes = 0;
  bool writable = false;
};

struct CallContext {
  /// At least scratchBytes() bytes, aligned to 64; used by nobody else during the call.
  void *scratch = nullptr;
  int threads = 1;
};

/// One library command, ready to run.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// The buffers come in the command's order. May throw dlc::Error.
  virtual void execute(void *const *buffers, const CallContext &context) = 0;
  virtual std::string implementation() const = 0;
  virtual uint64_t scratchBytes() const { return 0; }
};

/// Makes a call that `buffers` fit: a CPU's library by its name (Table.cpp). Checks the description
/// and that every buffer is large enough and writable where it must be; throws dlc::Error.
DLC_EXPORT std::unique_ptr<LibraryCall> createCall(std::string_view library,
                                                   const nlohmann::json &desc,
                                                   std::span<const BufferInfo> buffers,
                                                   int threads);

/// Weights as a library wants them, made once.
struct Packed {
  std::shared_ptr<void> data; ///< aligned to 64; null on failure
  uint64_t bytes = 0;
  std::string error;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_LIBRARY_LIBRARY_H
