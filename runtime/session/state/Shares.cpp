//===- Shares.cpp - checkpoints of sharded state -----------------------------===//
#include "runtime/session/state/Shares.h"

#include "runtime/program/AtomicFile.h"
#include "runtime/program/Message.h"
#include "runtime/session/state/Checkpoint.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace dlc::runtime {

namespace fs = std::filesystem;

namespace {

std::string formatPartName(const std::string &path, int64_t number, int rank, int size) {
  return message(path, ".", number, "-", rank, "of", size, ".part");
}

/// Returns the checkpoint number of the parts that the main file `path` lists; -1 if there are
/// none.
int64_t readCheckpointNumber(const std::string &path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none))
    return -1;
  try {
    auto metadata = readSafetensors(path).metadata;
    auto said = metadata.find(kNumberKey);
    return said == metadata.end() ? -1 : std::stoll(said->second);
  } catch (const std::exception &) {
    return -1; // ignore an invalid main file, which is about to be replaced
  }
}

} // namespace

bool hasShardedStates(const Plan &plan) {
  return std::any_of(plan.states.begin(), plan.states.end(),
                     [](const StateInfo &info) { return info.sharers > 0; });
}

int64_t removeParts(const std::string &path, int64_t keep) {
  fs::path target(path);
  const std::string prefix = target.filename().string() + ".";
  const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
  int64_t greatest = -1;
  std::error_code ignored;
  for (auto it = fs::directory_iterator(folder, ignored); it != fs::directory_iterator();
       it.increment(ignored)) {
    const std::string name = it->path().filename().string();
    if (!name.starts_with(prefix))
      continue;
    long long number = 0;
    int rank = 0, size = 0, end = 0;
    const char *rest = name.c_str() + prefix.size();
    if (std::sscanf(rest, "%lld-%dof%d.part%n", &number, &rank, &size, &end) != 3 || end == 0)
      continue;
    greatest = std::max<int64_t>(greatest, number);
    if (rest[end] == 0 && number != keep)
      fs::remove(it->path(), ignored);
    else if (rest[end] == '.')
      removeLeftover(it->path().string());
  }
  return greatest;
}

void saveShared(World &world, const StateSet &states, const Plan &plan, const std::string &path,
                std::map<std::string, std::string> metadata) {
  int64_t number = 0;
  if (world.rank() == 0) {
    int64_t used = readCheckpointNumber(path);
    number = std::max(used, removeParts(path, used)) + 1;
  }
  world.run({.collective = Collective::Broadcast,
             .type = DType::I64,
             .from = &number,
             .to = &number,
             .share = 1});
  states.savePart(formatPartName(path, number, world.rank(), world.size()));
  world.barrier();
  if (world.rank() != 0)
    return;
  SharedMetadata shared;
  for (int rank = 0; rank < world.size(); ++rank) {
    const std::string part = formatPartName(path, number, rank, world.size());
    if (!fs::exists(part))
      fail("rank ", rank, " wrote ", part,
           ", which rank 0 cannot find; required: a folder that all ranks share");
    shared.files.push_back(fs::path(part).filename().string());
  }
  for (const StateInfo &info : plan.states)
    for (const SharedTensor &tensor : info.sharedTensors)
      shared.tensors[tensor.name] = {info.dtype, tensor.shape};
  metadata[kSharedKey] = shared.text();
  metadata[kNumberKey] = std::to_string(number);
  states.saveRest(path, std::move(metadata));
  removeParts(path, number);
}

} // namespace dlc::runtime
