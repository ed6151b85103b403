//===- OwnRows.h - this rank's share of what all ranks have -------------------===//
#ifndef DLC_RUNTIME_SESSION_OWNROWS_H
#define DLC_RUNTIME_SESSION_OWNROWS_H

#include "runtime/collective/World.h"
#include "runtime/library/Library.h"

#include <string_view>

namespace dlc::runtime {

/// Of some buffers, one after another, the share of this rank is copied to the last one; nobody is
/// waited for. Its description:
///   bytes  of each buffer but the last, all of which divide into `size` shares
///   size   of the world that the program is for
constexpr std::string_view kOwnRowsLibrary = "own_rows";

/// As collectiveCall() (Collectives.h).
std::unique_ptr<LibraryCall> ownRowsCall(const nlohmann::json &desc,
                                         std::span<const BufferInfo> buffers, World *world);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_OWNROWS_H
