//===- HostWork.h - launches and library calls on the host's threads ----------===//
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

/// What a launch or library command of host code does, wherever its buffers come from.
struct HostWork {
  // launch
  KernelFn kernel = nullptr;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0; ///< of each thread
  // library
  LibraryCall *call = nullptr;

  /// Bytes that it needs beside its buffers.
  uint64_t scratchBytes(int threads) const {
    return call ? call->scratchBytes() : scratch * static_cast<uint64_t>(threads);
  }
  void run(void *const *buffers, char *memory, int threads) const;
};

/// Sizes of a command's buffers, and whether it may write them.
std::vector<BufferInfo> bufferInfos(const Plan &plan, const Command &command);

/// A launch's kernel lies in `code`.
HostWork hostLaunch(const Plan &plan, const Command &command, const Span &code);
/// Throws what the library says of the command. Collectives meet in the world; null: the process's.
std::unique_ptr<LibraryCall> hostCall(const Plan &plan, const Command &command, int threads,
                                      World *world = nullptr);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_HOSTWORK_H
