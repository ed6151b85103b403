//===- Collectives.cpp - commands that meet other ranks -----------------------===//
#include "runtime/session/Collectives.h"

#include "runtime/program/Message.h"
#include "runtime/session/OwnRows.h"
#include "runtime/program/Numeric.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace dlc::runtime {

using nlohmann::json;

namespace {

constexpr struct {
  std::string_view name;
  Collective collective;
} kKinds[] = {{"all_reduce", Collective::AllReduce},
              {"all_gather", Collective::AllGather},
              {"reduce_scatter", Collective::ReduceScatter},
              {"broadcast", Collective::Broadcast}};

/// Which side has the elements of all ranks.
bool takesAll(Collective what) { return what == Collective::ReduceScatter; }
bool givesAll(Collective what) { return what == Collective::AllGather; }

template <typename T> void divideAll(void *data, uint64_t count, int by) {
  T *values = static_cast<T *>(data);
  for (uint64_t i = 0; i < count; ++i)
    values[i] /= T(by);
}

template <typename T> void divideHalves(void *data, uint64_t count, int by) {
  T *values = static_cast<T *>(data);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = T::from(float(values[i]) / float(by));
}

constexpr struct {
  DType type;
  void (*divide)(void *data, uint64_t count, int by);
} kMeans[] = {{DType::F32, divideAll<float>},
              {DType::F64, divideAll<double>},
              {DType::F16, divideHalves<Float16>},
              {DType::BF16, divideHalves<BFloat16>}};

class Call : public LibraryCall {
public:
  Call(const json &desc, std::span<const BufferInfo> buffers, World *given)
      : world(given ? *given : World::ofProcess()), kind(desc.at("kind").get<std::string>()) {
    bool isKnown = false;
    for (const auto &row : kKinds)
      if (row.name == kind) {
        call.collective = row.collective;
        isKnown = true;
      }
    if (!isKnown)
      fail("collective: unknown kind '", kind,
           "': all_reduce, all_gather, reduce_scatter or broadcast expected");
    const std::string dtype = desc.at("dtype").get<std::string>();
    std::optional<DType> type = parseDType(dtype);
    if (!type)
      fail(kind, ": unknown element type '", dtype, "'");
    call.type = *type;
    call.share = desc.at("share").get<uint64_t>();
    readReduction(desc, dtype);
    readRanks(desc);
    checkBuffers(buffers);
  }

  void execute(void *const *buffers, const CallContext &) override {
    CollectiveCall now = call;
    now.from = buffers[0];
    now.to = buffers[1];
    if (world.size() > 1)
      world.run(now);
    else if (now.from != now.to)
      std::memcpy(now.to, now.from, call.share * dtypeBytes(call.type));
    if (divide && world.size() > 1)
      divide(now.to, call.share, world.size());
    if (onlyTo >= 0 && onlyTo != world.rank())
      std::memset(now.to, 0, call.share * dtypeBytes(call.type));
  }

  std::string implementation() const override {
    return "collective:" + kind +
           (world.size() > 1 ? "/" + std::string(world.engine()) : std::string());
  }

private:
  void readReduction(const json &desc, const std::string &dtype) {
    if (call.collective != Collective::AllReduce && call.collective != Collective::ReduceScatter)
      return;
    const std::string reduction = desc.at("reduction").get<std::string>();
    if (reduction == "max")
      call.reduction = Reduction::Max;
    else if (reduction == "mean")
      for (const auto &row : kMeans)
        if (row.type == call.type)
          divide = row.divide;
    if (reduction != "sum" && reduction != "max" && !divide)
      fail(kind, ": no '", reduction, "' of ", dtype, ": sum, max, or mean of floats expected");
  }

  void readRanks(const json &desc) {
    if (auto size = desc.find("size"); size != desc.end())
      requireSize(kind, size->get<int>(), world);
    int root = desc.value("root", -1);
    if (root >= world.size())
      fail(kind, ": goes to or from rank ", root, ", and the world has ", world.size());
    if (call.collective == Collective::Broadcast)
      call.root = std::max(root, 0);
    else
      onlyTo = root;
  }

  void checkBuffers(std::span<const BufferInfo> buffers) const {
    if (buffers.size() != 2)
      fail(kind, ": two buffers expected, found ", buffers.size());
    if (call.share > (uint64_t(1) << 46))
      fail(kind, ": found ", call.share, " elements, which no program needs");
    const uint64_t bytes = call.share * dtypeBytes(call.type), ranks = uint64_t(world.size());
    const uint64_t from = takesAll(call.collective) ? bytes * ranks : bytes,
                   to = givesAll(call.collective) ? bytes * ranks : bytes;
    if (buffers[0].bytes < from || buffers[1].bytes < to || !buffers[1].writable)
      fail(kind, ": buffers of ", from, " bytes and, to write, ", to, " expected, found ",
           buffers[0].bytes, " and ", buffers[1].bytes, buffers[1].writable ? "" : " to read only");
  }

  World &world;
  std::string kind;
  CollectiveCall call;
  void (*divide)(void *, uint64_t, int) = nullptr;
  int onlyTo = -1;
};

void addLines(const std::vector<Command> &commands, std::vector<std::string> &lines) {
  for (const Command &command : commands) {
    if (command.op == Op::Library && command.library == kCollectiveLibrary)
      lines.push_back(command.desc.dump());
    addLines(command.body, lines);
    addLines(command.orElse, lines);
  }
}

int ranksOf(const std::vector<Command> &commands) {
  for (const Command &command : commands) {
    int ranks = std::max(ranksOf(command.body), ranksOf(command.orElse));
    if (command.op == Op::Library &&
        (command.library == kCollectiveLibrary || command.library == kOwnRowsLibrary))
      ranks = std::max(ranks, command.desc.value("size", 0));
    if (ranks > 0)
      return ranks;
  }
  return 0;
}

} // namespace

int ranksOf(const Plan &plan) {
  for (const StateInfo &info : plan.states)
    if (info.part.ranks > 1)
      return int(info.part.ranks);
  return ranksOf(plan.commands);
}

void requireSize(std::string_view who, int size, const World &world) {
  if (size != world.size())
    fail(who, ": the program is for a world of ", size, " ranks, and this one has ", world.size(),
         "; start so many, or compile it for this world (--world ", world.size(), ")");
}

std::unique_ptr<LibraryCall> collectiveCall(const json &desc, std::span<const BufferInfo> buffers,
                                            World *world) {
  try {
    return std::make_unique<Call>(desc, buffers, world);
  } catch (const json::exception &error) {
    fail(kCollectiveLibrary, ": wrong description: ", error.what());
  }
}

std::vector<std::string> collectiveLines(const Plan &plan) {
  std::vector<std::string> lines;
  addLines(plan.commands, lines);
  return lines;
}

} // namespace dlc::runtime
