//===- ShardCopy.h - copies this rank's shard of replicated data -------------===//
#ifndef DLC_RUNTIME_SESSION_COLLECTIVES_SHARDCOPY_H
#define DLC_RUNTIME_SESSION_COLLECTIVES_SHARDCOPY_H

#include "runtime/collective/World.h"
#include "runtime/library/Library.h"

#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Library name of commands that copy this rank's shard of the concatenation of some buffers to the
/// last buffer, without communication. Fields of their description:
///   bytes  size of each buffer except the last
///   size   world size for which the program was compiled, equal to the number of shards
///   share  if `size` is absent: bytes of a shard; the number of shards limits the world size
constexpr std::string_view kShardCopyLibrary = "own_rows";

/// A copy within this rank's shard: `bytes` bytes from offset `from` of buffer `buffer` to offset
/// `to` of buffer `target`.
struct ShardPiece {
  size_t buffer, target;
  uint64_t from, to, bytes;
};
/// Parses the description of a shard copy and returns the copies of this rank, for callers that
/// execute them. Throws dlc::Error if the description or the buffers are invalid, or if the size of
/// the world differs from the required one. If `world` is null, the process's world is used.
std::vector<ShardPiece> shardPieces(const nlohmann::json &desc, std::span<const BufferInfo> buffers,
                                    World *world);

/// Returns the library call that executes a shard copy on host memory. Arguments and errors are
/// those of shardPieces().
std::unique_ptr<LibraryCall> shardCopyCall(const nlohmann::json &desc,
                                           std::span<const BufferInfo> buffers, World *world);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_COLLECTIVES_SHARDCOPY_H
