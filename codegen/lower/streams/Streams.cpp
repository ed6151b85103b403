//===- Streams.cpp - assigns commands to streams --------------------------===//
#include "codegen/lower/streams/Streams.h"

#include "codegen/lower/streams/Access.h"
#include "codegen/lower/streams/Collectives.h"

#include "llvm/ADT/MapVector.h"

#include <map>

using namespace mlir;

namespace dlc::lower {

namespace {

StringRef getBufferDevice(Value buffer) {
  return cast<exec::BufferType>(buffer.getType()).getDevice();
}

class StreamAssigner {
public:
  explicit StreamAssigner(exec::ProgramOp program) : program(program) {
    for (Operation &op : program.getBody().front())
      if (exec::getStreamNumber(&op))
        commands.push_back(&op);
  }

  void run() {
    for (Operation *op : commands)
      exec::setStream(op, streamFor(op));
    if (streams.size() == 1 && streams.begin()->first.device == exec::kHost)
      return;
    SmallVector<StringRef> devices(streams.size());
    for (auto &[key, number] : streams)
      devices[number] = key.device;
    if (devices.empty())
      return;
    program.setStreamsAttr(Builder(program.getContext()).getStrArrayAttr(devices));
    order();
  }

private:
  enum class Work { Compute, In, Out, Meet };
  struct Key {
    std::string device;
    Work work;
    bool operator<(const Key &other) const {
      return std::tie(device, work) < std::tie(other.device, other.work);
    }
  };

  unsigned streamFor(Operation *op) {
    Key key{getBufferDevice(op->getOperand(0)).str(), Work::Compute};
    // Collectives have their own stream: they run in the same order on all ranks, concurrently with
    // commands that do not wait for other ranks.
    if (isCollective(op))
      key.work = Work::Meet;
    if (auto copy = dyn_cast<exec::CopyOp>(op)) {
      StringRef from = getBufferDevice(copy.getFrom()), to = getBufferDevice(copy.getTo());
      // A copy between the host and another device is executed by that device. A copy between two
      // such devices is executed by the receiving device.
      if (from != to)
        key = to == exec::kHost ? Key{from.str(), Work::Out} : Key{to.str(), Work::In};
    }
    return streams.try_emplace(key, unsigned(streams.size())).first->second;
  }

  struct Point {
    unsigned stream;
    int64_t time;
    /// known[s]: commands of stream s with a lower index are complete when this command completes.
    SmallVector<int64_t> known;
  };

  void order() {
    std::vector<SmallVector<int64_t>> known(streams.size(),
                                            SmallVector<int64_t>(streams.size(), 0));
    std::map<const void *, std::vector<std::pair<MemoryAccess, unsigned>>> history;
    std::vector<Point> points;
    for (auto [time, op] : llvm::enumerate(commands)) {
      unsigned stream = *exec::getStreamNumber(op);
      SmallVector<MemoryAccess> accesses = getMemoryAccesses(op);
      // For each other stream, the last of its commands that must complete before this command.
      std::map<unsigned, unsigned> needed;
      for (const MemoryAccess &access : accesses)
        for (auto &[earlier, command] : history[access.memory])
          if (points[command].stream != stream && access.conflictsWith(earlier))
            needed[points[command].stream] = std::max(needed[points[command].stream], command);
      waitFor(op, stream, needed, points, known[stream]);
      known[stream][stream] = int64_t(time) + 1;
      points.push_back({stream, int64_t(time), known[stream]});
      for (const MemoryAccess &access : accesses)
        history[access.memory].push_back({access, unsigned(time)});
    }
  }

  void waitFor(Operation *op, unsigned stream, const std::map<unsigned, unsigned> &needed,
               const std::vector<Point> &points, SmallVector<int64_t> &known) {
    SmallVector<unsigned> open;
    for (auto [other, command] : needed)
      if (known[other] <= points[command].time)
        open.push_back(command);
    OpBuilder b(op);
    for (unsigned command : open) {
      bool follows = llvm::any_of(open, [&](unsigned later) {
        return later != command &&
               points[later].known[points[command].stream] > points[command].time;
      });
      if (follows)
        continue;
      exec::WaitOp::create(b, op->getLoc(), eventAfter(command), stream);
      for (auto [mine, theirs] : llvm::zip(known, points[command].known))
        mine = std::max(mine, theirs);
    }
  }

  int64_t eventAfter(unsigned command) {
    auto [found, fresh] = events.try_emplace(command, int64_t(events.size()));
    if (fresh) {
      OpBuilder b(program.getContext());
      Operation *op = commands[command];
      b.setInsertionPointAfter(op);
      exec::RecordOp::create(b, op->getLoc(), found->second, *exec::getStreamNumber(op));
    }
    return found->second;
  }

  exec::ProgramOp program;
  std::vector<Operation *> commands;
  std::map<Key, unsigned> streams;
  std::map<unsigned, int64_t> events; ///< event number by the index of the command that it follows
};

} // namespace

void assignStreams(exec::ProgramOp program) { StreamAssigner(program).run(); }

} // namespace dlc::lower
