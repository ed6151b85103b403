//===- HostWork.h - kernel launches and library calls on host threads --------===//
#ifndef DLC_RUNTIME_SESSION_HOSTWORK_H
#define DLC_RUNTIME_SESSION_HOSTWORK_H

#include "runtime/collective/World.h"
#include "runtime/device/cpu/KernelContext.h"
#include "runtime/library/Library.h"
#include "runtime/program/Plan.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <memory>

namespace dlc::runtime {

/// A launch or library command of host code, independent of how its buffer addresses are
/// determined.
struct HostWork {
  // members for a launch
  KernelFn kernel = nullptr;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0; ///< scratch bytes per thread
  // member for a library call
  LibraryCall *call = nullptr;

  /// Returns the scratch bytes that the work needs in addition to its buffers.
  uint64_t scratchBytes(int threads) const {
    return call ? call->scratchBytes() : scratch * static_cast<uint64_t>(threads);
  }
  void run(void *const *buffers, char *memory, int threads) const;
};

/// Returns the size of each buffer of a command and whether the command may write it.
std::vector<BufferInfo> bufferInfos(const Plan &plan, const Command &command);

/// Returns the host work of a launch command, whose kernel is in `code`.
HostWork makeHostLaunch(const Plan &plan, const Command &command, const Span &code);
/// Creates the library call of a command. Throws the library's error. Collectives use `world`, or
/// the process's world if it is null.
std::unique_ptr<LibraryCall> hostCall(const Plan &plan, const Command &command, int threads,
                                      World *world = nullptr);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_HOSTWORK_H
