//===- Library.h - interface of the CPU's kernel libraries ----------------===//
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
  /// Scratch memory of at least scratchBytes() bytes, aligned to 64 bytes. No other call uses it at
  /// the same time.
  void *scratch = nullptr;
  int threads = 1;
};

/// Call of a library kernel for one command of a program, ready to execute.
class LibraryCall {
public:
  virtual ~LibraryCall() = default;
  /// Executes the call. `buffers` holds the addresses in the order of the command's buffers. May
  /// throw dlc::Error.
  virtual void execute(void *const *buffers, const CallContext &context) = 0;
  virtual std::string implementation() const = 0;
  virtual uint64_t scratchBytes() const { return 0; }
};

/// Creates a call of the CPU library named `library` (see Table.cpp) for the given buffers. Checks
/// the description, and that every buffer is large enough and, if the call writes it, writable.
/// Throws dlc::Error if a check fails.
DLC_EXPORT std::unique_ptr<LibraryCall> createCall(std::string_view library,
                                                   const nlohmann::json &desc,
                                                   std::span<const BufferInfo> buffers,
                                                   int threads);

/// Weights that are packed once into a library's own layout.
struct PackedWeights {
  std::shared_ptr<void> data; ///< packed bytes, aligned to 64 bytes; null on failure
  uint64_t bytes = 0;
  std::string error;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_LIBRARY_LIBRARY_H
