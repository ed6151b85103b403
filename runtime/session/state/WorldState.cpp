//===- WorldState.cpp - consistency of the ranks that run one program --------===//
#include "runtime/session/state/WorldState.h"

#include "runtime/program/Format.h"
#include "runtime/program/Message.h"
#include "runtime/session/collectives/Collectives.h"
#include "runtime/session/state/Shares.h"
#include "runtime/session/state/StateText.h"

#include <utility>

namespace dlc::runtime {

namespace {

/// Returns a hash of the program's contents, independent of its file name.
std::string computeProgramHash(const Program &program) {
  const std::string manifest = program.manifest.dump();
  return message(std::hex, format::hashBytes(manifest.data(), manifest.size()), " ",
                 format::hashBytes(program.code.data, program.code.bytes));
}

template <typename Info>
void appendTensorLines(const char *what, const std::vector<Info> &infos,
                       std::vector<std::string> &lines) {
  for (const Info &info : infos)
    lines.push_back(message(what, " ", info.name, " ", formatType(info.dtype, info.shape),
                            info.counter < 0 ? "" : " or less"));
}

} // namespace

std::vector<std::string> describeProgram(const Program &program, const Plan &plan) {
  std::vector<std::string> lines = describeCollectives(plan);
  lines.insert(lines.begin(), "hash " + computeProgramHash(program));
  return lines;
}

std::vector<std::string> describeInterface(const Plan &plan) {
  std::vector<std::string> lines;
  appendTensorLines("input", plan.inputs, lines);
  appendTensorLines("output", plan.outputs, lines);
  appendTensorLines("state", plan.states, lines);
  for (std::string &line : describeCollectives(plan))
    lines.push_back(std::move(line));
  return lines;
}

void broadcastStates(World &world, StateSet &states, const Plan &plan) {
  if (world.size() == 1)
    return;
  std::vector<char> bytes;
  for (size_t i = 0; i < plan.states.size(); ++i) {
    if (plan.states[i].sharers > 0 || plan.states[i].part.ranks > 1)
      continue;
    bytes.resize(plan.states[i].bytes);
    states.get(i, bytes.data());
    world.run({.collective = Collective::Broadcast,
               .type = DType::U8,
               .from = bytes.data(),
               .to = bytes.data(),
               .share = bytes.size()});
    if (world.rank() != 0)
      states.set(i, bytes.data());
  }
}

void saveWorldState(World &world, const StateSet &states, const Plan &plan, const std::string &path,
                    const std::map<std::string, std::string> &metadata) {
  if (hasShardedStates(plan)) {
    saveShared(world, states, plan, path, metadata);
  } else if (world.rank() == 0 || states.hasParts()) {
    states.save(path, metadata);
    if (world.rank() == 0)
      removeParts(path, -1);
  }
}

} // namespace dlc::runtime
