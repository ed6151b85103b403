//===- Library.h - what the executor knows of any library ---------------------===//
#ifndef DLC_RUNTIME_LIBRARY_LIBRARY_H
#define DLC_RUNTIME_LIBRARY_LIBRARY_H

#include "dlc/Export.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

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

/// Each checks the description and that every buffer is large enough and writable where it must be;
/// throws dlc::Error.
std::unique_ptr<LibraryCall> makeOneDnnCall(const nlohmann::json &desc,
                                            std::span<const BufferInfo> buffers, int threads);
DLC_EXPORT std::unique_ptr<LibraryCall>
makeTilesCall(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);
DLC_EXPORT std::unique_ptr<LibraryCall>
makeVectorsCall(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);
std::unique_ptr<LibraryCall> makeBuiltinCall(const nlohmann::json &desc,
                                             std::span<const BufferInfo> buffers, int threads);

DLC_EXPORT std::unique_ptr<LibraryCall>
makeDirectCall(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);
std::unique_ptr<LibraryCall> makeWinogradCall(const nlohmann::json &desc,
                                              std::span<const BufferInfo> buffers, int threads);

DLC_EXPORT std::unique_ptr<LibraryCall>
makeAttentionCall(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_LIBRARY_LIBRARY_H
