//===- Collectives.cpp - collective commands of a program --------------------===//
#include "runtime/session/collectives/Collectives.h"

#include "runtime/library/schema/Schema.h"
#include "runtime/program/Message.h"
#include "runtime/program/Numeric.h"
#include "runtime/session/collectives/ShardCopy.h"

#include <cstring>

namespace dlc::runtime {

using nlohmann::json;

namespace {

/// Return whether the source buffer (takesAll) or the destination buffer (givesAll) has the
/// elements of all ranks.
bool takesAll(Collective what) { return what == Collective::ReduceScatter; }
bool givesAll(Collective what) { return what == Collective::AllGather; }

template <typename T> void divideAll(void *data, uint64_t count, int by) {
  T *values = static_cast<T *>(data);
  for (uint64_t i = 0; i < count; ++i)
    values[i] /= T(by);
}

template <typename T> void divideHalfFloats(void *data, uint64_t count, int by) {
  T *values = static_cast<T *>(data);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = T::from(float(values[i]) / float(by));
}

constexpr struct {
  DType type;
  void (*divide)(void *data, uint64_t count, int by);
} kMeans[] = {{DType::F32, divideAll<float>},
              {DType::F64, divideAll<double>},
              {DType::F16, divideHalfFloats<Float16>},
              {DType::BF16, divideHalfFloats<BFloat16>}};

void setReduction(const schema::Collective &fields, CollectiveDesc &to) {
  CollectiveCall &call = to.call;
  if (call.collective != Collective::AllReduce && call.collective != Collective::ReduceScatter)
    return;
  using Kind = schema::CollectiveReduction;
  if (fields.reduction == Kind::Max)
    call.reduction = Reduction::Max;
  else if (fields.reduction == Kind::Mean)
    for (const auto &row : kMeans)
      to.isMean |= row.type == call.type;
  if (fields.reduction != Kind::Sum && fields.reduction != Kind::Max && !to.isMean)
    fields.complain("the reduction '", fields.reduction ? nameOf(*fields.reduction) : "", "' of ",
                    dtypeName(fields.dtype),
                    " is not supported; required: sum, max, or mean of floats");
}

void setRanks(const schema::Collective &fields, const World &world, CollectiveDesc &to) {
  if (fields.size)
    requireSize(to.kind, int(*fields.size), world);
  const int root = fields.root ? int(*fields.root) : -1;
  if (root >= world.size())
    fields.complain("required: a root from 0 to ", world.size() - 1, "; found: ", root);
  if (to.call.collective == Collective::Broadcast)
    to.call.root = std::max(root, 0);
  else
    to.onlyTo = root;
}

void checkBuffers(const CollectiveDesc &desc, std::span<const BufferInfo> buffers,
                  const World &world) {
  const CollectiveCall &call = desc.call;
  if (buffers.size() != 2)
    fail(desc.kind, ": required: two buffers; found: ", buffers.size());
  const uint64_t bytes = call.share * dtypeBytes(call.type), ranks = uint64_t(world.size());
  const uint64_t from = takesAll(call.collective) ? bytes * ranks : bytes,
                 to = givesAll(call.collective) ? bytes * ranks : bytes;
  if (buffers[0].bytes < from || buffers[1].bytes < to || !buffers[1].writable)
    fail(desc.kind, ": required: buffers of ", from, " bytes and, writable, ", to,
         "; found: ", buffers[0].bytes, " and ", buffers[1].bytes,
         buffers[1].writable ? "" : " (read-only)");
}

class CollectiveLibraryCall : public LibraryCall {
public:
  CollectiveLibraryCall(CollectiveDesc described, World &world)
      : desc(std::move(described)), world(world) {
    for (const auto &row : kMeans)
      if (desc.isMean && row.type == desc.call.type)
        divide = row.divide;
  }

  void execute(void *const *buffers, const CallContext &) override {
    CollectiveCall now = desc.call;
    const uint64_t bytes = now.share * dtypeBytes(now.type);
    now.from = buffers[0];
    now.to = buffers[1];
    if (world.size() > 1)
      world.run(now);
    else if (now.from != now.to)
      std::memcpy(now.to, now.from, bytes);
    if (divide && world.size() > 1)
      divide(now.to, now.share, world.size());
    if (desc.onlyTo >= 0 && desc.onlyTo != world.rank())
      std::memset(now.to, 0, bytes);
  }

  std::string implementation() const override {
    return "collective:" + desc.kind +
           (world.size() > 1 ? "/" + std::string(world.engine()) : std::string());
  }

private:
  const CollectiveDesc desc;
  World &world;
  void (*divide)(void *, uint64_t, int) = nullptr;
};

bool hasCollectives(const std::vector<Command> &commands) {
  for (const Command &command : commands)
    if ((command.op == Op::Library && command.library == kCollectiveLibrary) ||
        hasCollectives(command.body) || hasCollectives(command.orElse))
      return true;
  return false;
}

void appendCollectiveLines(const std::vector<Command> &commands, std::vector<std::string> &lines) {
  for (const Command &command : commands) {
    if (command.op == Op::Library && command.library == kCollectiveLibrary)
      lines.push_back(command.desc.dump());
    appendCollectiveLines(command.body, lines);
    appendCollectiveLines(command.orElse, lines);
  }
}

int findRankCount(const std::vector<Command> &commands) {
  for (const Command &command : commands) {
    int ranks = std::max(findRankCount(command.body), findRankCount(command.orElse));
    if (command.op == Op::Library &&
        (command.library == kCollectiveLibrary || command.library == kShardCopyLibrary))
      ranks = std::max(
          ranks, int(schema::RanksCall::read(command.desc, command.library).size.value_or(0)));
    if (ranks > 0)
      return ranks;
  }
  return 0;
}

} // namespace

int findRankCount(const Plan &plan) {
  for (const StateInfo &info : plan.states)
    if (info.part.ranks > 1)
      return int(info.part.ranks);
  return findRankCount(plan.commands);
}

void requireSize(std::string_view who, int size, const World &world) {
  if (size != world.size())
    fail(who, ": required: ", size,
         " ranks, for which the program was compiled; found: ", world.size(), "; start ", size,
         " ranks, or compile it for this world (--world ", world.size(), ")");
}

CollectiveDesc readCollective(const json &desc, std::span<const BufferInfo> buffers,
                              const World &world) {
  // In the order of schema::CollectiveKind.
  static constexpr Collective kinds[] = {Collective::AllReduce, Collective::AllGather,
                                         Collective::ReduceScatter, Collective::Broadcast};
  auto fields = schema::Collective::read(desc, std::string(kCollectiveLibrary));
  fields.library = nameOf(fields.kind);
  CollectiveDesc result;
  result.kind = fields.library;
  result.call.collective = kinds[size_t(fields.kind)];
  result.call.type = fields.dtype;
  result.call.share = uint64_t(fields.share);
  setReduction(fields, result);
  setRanks(fields, world, result);
  checkBuffers(result, buffers, world);
  return result;
}

std::unique_ptr<LibraryCall> collectiveCall(const json &desc, std::span<const BufferInfo> buffers,
                                            World *given) {
  World &world = given ? *given : World::ofProcess();
  return std::make_unique<CollectiveLibraryCall>(readCollective(desc, buffers, world), world);
}

bool hasCollectives(const Plan &plan) { return hasCollectives(plan.commands); }

std::vector<std::string> describeCollectives(const Plan &plan) {
  std::vector<std::string> lines;
  appendCollectiveLines(plan.commands, lines);
  return lines;
}

} // namespace dlc::runtime
