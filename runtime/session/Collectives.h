//===- Collectives.h - commands that meet other ranks -------------------------===//
#ifndef DLC_RUNTIME_SESSION_COLLECTIVES_H
#define DLC_RUNTIME_SESSION_COLLECTIVES_H

#include "runtime/collective/World.h"
#include "runtime/library/Library.h"
#include "runtime/program/Plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// The library that collectives are commands of. Their description:
///   kind       all_reduce, all_gather, reduce_scatter or broadcast
///   dtype      of the elements
///   share      elements that lie on one rank, where sides differ (World.h)
///   reduction  sum, mean or max, where there is one
///   root       of a broadcast; of an all_reduce whose result goes to one rank alone
///   size       of the world that the program is for; absent: any
/// Buffers: from, to.
constexpr std::string_view kCollectiveLibrary = "collective";

/// What a command's description says, in a world.
struct CollectiveDesc {
  std::string kind;
  CollectiveCall call;
  bool isMean = false;
  /// The one rank that a result goes to; -1: all.
  int onlyTo = -1;
};

/// Throws dlc::Error for a description or buffers that cannot be, and for a world of another size.
CollectiveDesc readCollective(const nlohmann::json &desc, std::span<const BufferInfo> buffers,
                              const World &world);

/// A command's call in the world, on the host's memory; null: that of the process, which is formed
/// now. Throws what readCollective does.
std::unique_ptr<LibraryCall> collectiveCall(const nlohmann::json &desc,
                                            std::span<const BufferInfo> buffers, World *world);

/// Throws dlc::Error where the world has another size than the program is for.
void requireSize(std::string_view who, int size, const World &world);

/// The size of the world that the program is for: of those who have parts of its states, or meet
/// in its collectives. 0: any.
DLC_EXPORT int ranksOf(const Plan &plan);

bool hasCollectives(const Plan &plan);

/// A line for each collective of the program, in its order, for World::agree.
DLC_EXPORT std::vector<std::string> collectiveLines(const Plan &plan);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_COLLECTIVES_H
