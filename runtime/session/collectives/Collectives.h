//===- Collectives.h - collective commands of a program ----------------------===//
#ifndef DLC_RUNTIME_SESSION_COLLECTIVES_COLLECTIVES_H
#define DLC_RUNTIME_SESSION_COLLECTIVES_COLLECTIVES_H

#include "runtime/collective/World.h"
#include "runtime/library/Library.h"
#include "runtime/program/Plan.h"

#include <string>
#include <string_view>
#include <vector>

namespace dlc::runtime {

/// Library name of collective commands. schema/Collective.def has the fields of their descriptions.
constexpr std::string_view kCollectiveLibrary = "collective";

/// Parsed description of a collective command.
struct CollectiveDesc {
  std::string kind;
  CollectiveCall call;
  bool isMean = false;
  /// Rank that alone receives the result; -1: all ranks receive it.
  int onlyTo = -1;
};

/// Parses the JSON description of a collective command. Throws dlc::Error if the description or the
/// buffers are invalid, or if the size of the world differs from the required one.
CollectiveDesc readCollective(const nlohmann::json &desc, std::span<const BufferInfo> buffers,
                              const World &world);

/// Returns the library call of a collective command on host memory. If `world` is null, the
/// process's world is used, which is formed now if necessary. Throws the same errors as
/// readCollective.
std::unique_ptr<LibraryCall> collectiveCall(const nlohmann::json &desc,
                                            std::span<const BufferInfo> buffers, World *world);

/// Throws dlc::Error if the world does not have the size for which the program was compiled.
void requireSize(std::string_view who, int size, const World &world);

/// Returns the world size for which the program was compiled, according to its sharded states and
/// collectives; 0: any size.
DLC_EXPORT int findRankCount(const Plan &plan);

bool hasCollectives(const Plan &plan);

/// Returns one line per collective of the program, in order, to be compared between ranks by
/// World::agree.
DLC_EXPORT std::vector<std::string> describeCollectives(const Plan &plan);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_COLLECTIVES_COLLECTIVES_H
