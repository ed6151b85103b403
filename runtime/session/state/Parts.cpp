//===- Parts.cpp - a rank's part of a sharded state --------------------------===//
#include "runtime/session/state/Parts.h"

#include "runtime/program/Message.h"

#include <cstring>

namespace dlc::runtime {

namespace {

/// Divides the whole tensor into `count` contiguous runs, each of which consists of one part of
/// `bytes` bytes per rank.
struct PartRuns {
  explicit PartRuns(const StateInfo &info) {
    uint64_t inner = dtypeBytes(info.dtype);
    const uint32_t dimension = info.part.dimension;
    for (size_t d = dimension + 1; d < info.shape.size(); ++d)
      inner *= uint64_t(info.shape[d]);
    bytes = inner * uint64_t(info.shape[dimension]) / uint64_t(info.part.blocks);
    count = bytes ? info.bytes / bytes : 0;
    stride = bytes * uint64_t(info.part.ranks);
  }
  uint64_t count, bytes, stride;
};

} // namespace

std::vector<int64_t> getUnshardedShape(const StateInfo &info) {
  std::vector<int64_t> shape = info.shape;
  if (isPart(info))
    shape[info.part.dimension] *= info.part.ranks;
  return shape;
}

void extractRankPart(const StateInfo &info, int rank, const char *whole, char *part) {
  const PartRuns runs(info);
  for (uint64_t i = 0; i < runs.count; ++i)
    std::memcpy(part + i * runs.bytes, whole + i * runs.stride + uint64_t(rank) * runs.bytes,
                runs.bytes);
}

void insertRankPart(const StateInfo &info, int rank, const char *part, char *whole) {
  const PartRuns runs(info);
  for (uint64_t i = 0; i < runs.count; ++i)
    std::memcpy(whole + i * runs.stride + uint64_t(rank) * runs.bytes, part + i * runs.bytes,
                runs.bytes);
}

Span gatherRankParts(const StateInfo &info, World &world, const char *part) {
  const size_t ranks = size_t(world.size());
  std::vector<char> parts(info.bytes * ranks);
  world.run({.collective = Collective::AllGather,
             .type = DType::U8,
             .from = part,
             .to = parts.data(),
             .share = info.bytes});
  auto whole = std::make_shared<std::vector<char>>(parts.size());
  for (size_t rank = 0; rank < ranks; ++rank)
    insertRankPart(info, int(rank), parts.data() + rank * info.bytes, whole->data());
  return {whole->data(), whole->size(), whole};
}

World *findShardWorld(const Plan &plan, World *given) {
  for (const StateInfo &info : plan.states) {
    if (!isPart(info))
      continue;
    World &world = given ? *given : World::ofProcess();
    if (world.size() != info.part.ranks)
      fail("program '", plan.name, "' splits '", info.name,
           "' over ranks; required: ", info.part.ranks, " ranks; found: ", world.size(),
           "; start that many (mpirun -n ", info.part.ranks, "), or compile it with --world ",
           world.size());
    return &world;
  }
  return nullptr;
}

} // namespace dlc::runtime
