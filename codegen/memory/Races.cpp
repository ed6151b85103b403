//===- Races.cpp - checks that events order all conflicting accesses ------===//
#include "codegen/memory/Memory.h"
#include "ir/dlc/Attributes.h"

#include <map>

using namespace mlir;

namespace dlc {

namespace {

/// A command, its stream, and its position in that stream.
struct CommandPosition {
  Operation *op = nullptr;
  unsigned stream = 0;
  int64_t count = 0;
};

/// Range of bytes with the command that wrote it last, and, for each stream, the last command that
/// has read it since then.
struct AccessedRange {
  int64_t end = 0;
  CommandPosition writer;
  std::map<unsigned, CommandPosition> readers;
};

/// Bytes of arenas, states or outputs that a command's operand refers to.
struct MemoryRange {
  std::string memory;
  int64_t start, end;
};

/// Returns the bytes of a buffer; std::nullopt for inputs and constants, which no command writes.
std::optional<MemoryRange> getMemoryRange(Value buffer) {
  auto [root, start, bytes] = getBufferExtent(buffer);
  std::string memory;
  if (auto alloc = root.getDefiningOp<exec::AllocOp>()) {
    memory = "the arena of " + alloc.getBuffer().getType().getDevice().str();
    start += int64_t(alloc.getOffset().value_or(0));
  } else if (auto state = root.getDefiningOp<exec::StateOp>()) {
    memory = "state " + std::to_string(state.getIndex());
  } else if (auto output = root.getDefiningOp<exec::OutputOp>()) {
    memory = "output " + std::to_string(output.getIndex());
  } else {
    return std::nullopt;
  }
  return MemoryRange{memory, start, start + bytes};
}

/// Checks that no loop of a group of concurrent loops writes bytes that another one accesses.
class LoopRaceDetector {
public:
  LogicalResult run(ArrayRef<exec::LoopOp> group) {
    for (exec::LoopOp loop : group)
      if (failed(touchAll(loop, loop)))
        return failure();
    return success();
  }

private:
  struct Use {
    MemoryRange bytes;
    bool writes;
    exec::LoopOp loop;
    Operation *command;
  };

  LogicalResult touchAll(Operation *op, exec::LoopOp loop) {
    SmallVector<unsigned> written = exec::getWrittenOperands(op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (auto bytes = getMemoryRange(operand);
          bytes && failed(touch({*bytes, llvm::is_contained(written, i), loop, op})))
        return failure();
    // A library call also writes its scratch range in the arena.
    if (auto workspace = op->getAttrOfType<DenseI64ArrayAttr>(kWorkspaceAttr))
      if (failed(touch(
              {{"the arena of " + exec::kHost.str(), workspace[0], workspace[0] + workspace[1]},
               true,
               loop,
               op})))
        return failure();
    for (Region &region : op->getRegions())
      for (Operation &inner : region.front())
        if (exec::getStreamNumber(&inner) && failed(touchAll(&inner, loop)))
          return failure();
    return success();
  }

  LogicalResult touch(const Use &use) {
    for (const Use &other : uses)
      if (other.loop != use.loop && (other.writes || use.writes) &&
          other.bytes.memory == use.bytes.memory && other.bytes.start < use.bytes.end &&
          use.bytes.start < other.bytes.end) {
        auto diag = use.command->emitError("memory: accesses byte ")
                    << std::max(other.bytes.start, use.bytes.start) << " of " << use.bytes.memory
                    << ", which a concurrent loop accesses, too";
        diag.attachNote(other.command->getLoc()) << "the other command";
        return diag;
      }
    uses.push_back(use);
    return success();
  }

  SmallVector<Use> uses;
};

/// Detects pairs of conflicting accesses that no event orders. The order of the command list is
/// consistent with the events, and the order by events is transitive. It is therefore sufficient to
/// compare each access with the previous accesses to the same bytes.
class RaceDetector {
public:
  explicit RaceDetector(exec::ProgramOp program)
      : program(program), streams(program.getStreamDevices().size()),
        known(streams, std::vector<int64_t>(streams, 0)) {}

  LogicalResult run() {
    for (Operation &op : program.getBody().front()) {
      auto stream = exec::getStreamNumber(&op);
      if (!stream)
        continue;
      if (auto record = dyn_cast<exec::RecordOp>(op)) {
        events[record.getEvent()] = known[*stream];
      } else if (auto wait = dyn_cast<exec::WaitOp>(op)) {
        std::vector<int64_t> &mine = known[*stream], &theirs = events[wait.getEvent()];
        theirs.resize(streams);
        for (unsigned s = 0; s < streams; ++s)
          mine[s] = std::max(mine[s], theirs[s]);
      } else {
        CommandPosition now{&op, *stream, ++known[*stream][*stream]};
        if (failed(touchAll(op, now)))
          return failure();
      }
    }
    return success();
  }

private:
  LogicalResult touchAll(Operation &op, const CommandPosition &now) {
    SmallVector<unsigned> written = exec::getWrittenOperands(&op);
    for (unsigned i = 0; i < op.getNumOperands(); ++i)
      if (failed(touch(op, i, llvm::is_contained(written, i), now)))
        return failure();
    for (Region &region : op.getRegions())
      for (Operation &inner : region.front())
        if (exec::getStreamNumber(&inner) && failed(touchAll(inner, now)))
          return failure();
    return success();
  }

  LogicalResult touch(Operation &op, unsigned operand, bool writes, const CommandPosition &now) {
    auto bytes = getMemoryRange(op.getOperand(operand));
    return bytes ? mark(bytes->memory, bytes->start, bytes->end, writes, now) : success();
  }

  LogicalResult mark(const std::string &memory, int64_t start, int64_t end, bool writes,
                     const CommandPosition &now) {
    auto &runs = memories[memory];
    cut(runs, start), cut(runs, end);
    for (int64_t at = start; at < end;) {
      auto run = runs.lower_bound(at);
      if (run == runs.end() || run->first > at) {
        int64_t next = run == runs.end() ? end : std::min(end, run->first);
        run = runs.emplace(at, AccessedRange{next, {}, {}}).first;
      }
      AccessedRange &touched = run->second;
      if (failed(checkAfter(touched.writer, now, memory, at)))
        return failure();
      if (writes) {
        for (auto &[stream, reader] : touched.readers)
          if (failed(checkAfter(reader, now, memory, at)))
            return failure();
        touched.readers.clear();
        touched.writer = now;
      } else {
        touched.readers[now.stream] = now;
      }
      at = touched.end;
    }
    return success();
  }

  static void cut(std::map<int64_t, AccessedRange> &runs, int64_t at) {
    auto run = runs.lower_bound(at);
    if (run == runs.begin() || (run != runs.end() && run->first == at))
      return;
    --run;
    if (run->second.end <= at)
      return;
    AccessedRange rest = run->second;
    run->second.end = at;
    runs.emplace(at, rest);
  }

  LogicalResult checkAfter(const CommandPosition &first, const CommandPosition &then,
                           const std::string &memory, int64_t at) const {
    if (!first.op || first.stream == then.stream || known[then.stream][first.stream] >= first.count)
      return success();
    auto diag = then.op->emitError("memory: accesses byte ")
                << at << " of " << memory << " on stream " << then.stream << " while stream "
                << first.stream << " may still access it: no event orders the two commands";
    diag.attachNote(first.op->getLoc()) << "the other command";
    return diag;
  }

  exec::ProgramOp program;
  unsigned streams;
  /// known[s][t]: number of commands of stream t that are complete before the next command of
  /// stream s begins.
  std::vector<std::vector<int64_t>> known;
  std::map<int64_t, std::vector<int64_t>> events;
  std::map<std::string, std::map<int64_t, AccessedRange>> memories;
};

} // namespace

LogicalResult verifyRaces(exec::ProgramOp program) {
  for (ArrayRef<exec::LoopOp> group : exec::concurrentLoops(program))
    if (failed(LoopRaceDetector().run(group)))
      return failure();
  return program.getStreamDevices().size() == 1 ? success() : RaceDetector(program).run();
}

} // namespace dlc
