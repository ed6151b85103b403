//===- OwnRows.h - this rank's share of what all ranks have -------------------===//
#ifndef DLC_RUNTIME_SESSION_OWNROWS_H
#define DLC_RUNTIME_SESSION_OWNROWS_H

#include "runtime/collective/World.h"
#include "runtime/library/Library.h"

#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Of some buffers, one after another, the share of this rank is copied to the last one; nobody is
/// waited for. Its description:
///   bytes  of each buffer but the last
///   size   of the world that the program is for: all of them divide into so many shares
///   share  where there is no size, the bytes of a share: the world may have as many ranks as there
///          are shares
constexpr std::string_view kOwnRowsLibrary = "own_rows";

/// What this rank takes of one buffer: bytes from where they stand in it to where they go in the
/// target.
struct OwnPiece {
  size_t buffer, target;
  uint64_t from, to, bytes;
};
/// For who copies them; throws as collectiveCall() does (Collectives.h).
std::vector<OwnPiece> ownPieces(const nlohmann::json &desc, std::span<const BufferInfo> buffers,
                                World *world);

/// On the host, as collectiveCall().
std::unique_ptr<LibraryCall> ownRowsCall(const nlohmann::json &desc,
                                         std::span<const BufferInfo> buffers, World *world);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_OWNROWS_H
