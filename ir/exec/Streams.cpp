//===- Streams.cpp - streams of commands, and verification of stream constraints ---===//
#include "ir/exec/Exec.h"

#include <map>

using namespace mlir;

namespace dlc::exec {

bool isDeviceName(StringRef name) {
  // Only the canonical name of a device is valid, so that names can be compared as strings.
  std::optional<runtime::DeviceName> parsed = runtime::parseDeviceName(name);
  return parsed && parsed->text() == name;
}

std::optional<unsigned> getStreamNumber(Operation *op) {
  auto command = dyn_cast<CommandInterface>(op);
  return command ? std::optional(unsigned(command.getStream())) : std::nullopt;
}

void setStream(Operation *op, unsigned stream) {
  op->walk([&](CommandInterface command) { command.setStream(stream); });
}

SmallVector<unsigned> getWrittenOperands(Operation *op) {
  auto command = dyn_cast<CommandInterface>(op);
  return command ? command.getWrittenOperands() : SmallVector<unsigned>();
}

SmallVector<unsigned> LaunchOp::getWrittenOperands() {
  return llvm::to_vector_of<unsigned>(getWrites());
}
SmallVector<unsigned> LibraryOp::getWrittenOperands() {
  return llvm::to_vector_of<unsigned>(getWrites());
}
SmallVector<unsigned> CopyOp::getWrittenOperands() { return {1}; }
SmallVector<unsigned> FillOp::getWrittenOperands() { return {0}; }

SmallVector<unsigned> LoopOp::getWrittenOperands() {
  return getIndex() ? SmallVector<unsigned>{getNumOperands() - 1} : SmallVector<unsigned>();
}

SmallVector<SmallVector<LoopOp>> concurrentLoops(ProgramOp program) {
  SmallVector<SmallVector<LoopOp>> groups;
  LoopOp previous;
  for (LoopOp loop : program.getBody().getOps<LoopOp>()) {
    if (loop.getConcurrent()) {
      if (groups.empty() || groups.back().back() != previous)
        groups.push_back({previous});
      groups.back().push_back(loop);
    }
    previous = loop;
  }
  return groups;
}

SmallVector<StringRef> ProgramOp::getStreamDevices() {
  SmallVector<StringRef> devices;
  if (ArrayAttr streams = getStreamsAttr())
    for (auto name : streams.getAsRange<StringAttr>())
      devices.push_back(name.getValue());
  else
    devices.push_back(kHost);
  return devices;
}

namespace {

/// Record command of each event, indexed by event number. A std::map is used because event numbers
/// are arbitrary, and DenseMap reserves two key values.
using Recorded = std::map<int64_t, Operation *>;

LogicalResult verifyBuffers(Operation *op, StringRef device) {
  bool isCopy = isa<CopyOp>(op), any = op->getNumOperands() == 0;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    StringRef found = cast<BufferType>(operand.getType()).getDevice();
    any |= found == device;
    if (found != device && !isCopy)
      return op->emitOpError("C3: a command's buffers must be on its stream's device ")
             << device << "; found buffer " << i << " on " << found << "; copy it there before";
  }
  if (any)
    return success();
  return op->emitOpError("C3: one of a copy's buffers must be on its stream's device ")
         << device << "; found neither; use another stream for the copy";
}

LogicalResult verifyRecord(RecordOp op, Recorded &recorded) {
  auto [before, fresh] = recorded.try_emplace(op.getEvent(), op);
  if (fresh)
    return success();
  auto diag = op.emitOpError("C4: an event must be recorded once; found event ")
              << op.getEvent() << " a second time; use another event number";
  diag.attachNote(before->second->getLoc()) << "first recorded here";
  return diag;
}

LogicalResult verifyWait(WaitOp op, const Recorded &recorded) {
  auto found = recorded.find(op.getEvent());
  Operation *record = found == recorded.end() ? nullptr : found->second;
  if (!record)
    return op.emitOpError("C4: an event must be recorded before it is waited for; found event ")
           << op.getEvent() << " not recorded before; move the exec.record before the wait";
  if (cast<RecordOp>(record).getStream() != op.getStream())
    return success();
  return op.emitOpError("C4: an event must be waited for on another stream; found event ")
         << op.getEvent() << " recorded on stream " << op.getStream()
         << " too, whose commands run in order; remove the wait";
}

/// Verifies C5. `previous` is the command before the loop; null if there is none.
LogicalResult verifyConcurrent(LoopOp loop, Operation *previous, bool isInBody) {
  if (!loop.getConcurrent())
    return success();
  auto before = dyn_cast_or_null<LoopOp>(previous);
  if (before && before.getStream() == loop.getStream() && !isInBody)
    return success();
  return loop.emitOpError("C5: a concurrent loop must follow another loop on its stream, outside "
                          "of bodies; found ")
         << (isInBody   ? "a loop in a body"
             : before   ? "a loop on another stream before it"
             : previous ? "another command before it"
                        : "no command before it")
         << "; remove `concurrent`";
}

LogicalResult verifyList(Block &block, ArrayRef<StringRef> devices, std::optional<unsigned> within,
                         Recorded &recorded) {
  Operation *last = nullptr;
  for (Operation &op : block) {
    auto stream = getStreamNumber(&op);
    if (!stream)
      continue;
    Operation *previous = std::exchange(last, &op);
    if (auto loop = dyn_cast<LoopOp>(op);
        loop && failed(verifyConcurrent(loop, previous, within.has_value())))
      return failure();
    if (*stream >= devices.size())
      return op.emitOpError("C2: a command's stream must be one of the program's; found ")
             << *stream << " of " << devices.size();
    if (within && *stream != *within)
      return op.emitOpError(
                 "C2: a command in a body must be on the stream of the enclosing command, ")
             << *within << "; found " << *stream;
    if (isa<RecordOp, WaitOp>(op)) {
      if (within)
        return op.emitOpError("C4: events must be outside of bodies; found one inside");
      auto wait = dyn_cast<WaitOp>(op);
      if (failed(wait ? verifyWait(wait, recorded) : verifyRecord(cast<RecordOp>(op), recorded)))
        return failure();
      continue;
    }
    if (failed(verifyBuffers(&op, devices[*stream])))
      return failure();
    for (Region &region : op.getRegions())
      if (!region.empty() && failed(verifyList(region.front(), devices, stream, recorded)))
        return failure();
  }
  return success();
}

} // namespace

LogicalResult ProgramOp::verifyRegions() {
  SmallVector<StringRef> devices = getStreamDevices();
  for (StringRef device : devices)
    if (!isDeviceName(device))
      return emitOpError("C1: streams must be on devices such as cpu, cpu:N or cuda:N; found '")
             << device << "'; correct the name";
  Recorded recorded;
  return verifyList(getBody().front(), devices, std::nullopt, recorded);
}

} // namespace dlc::exec
