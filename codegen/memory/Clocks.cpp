//===- Clocks.cpp - which commands are complete when another begins -------===//
#include "codegen/memory/Clocks.h"

#include <map>

using namespace mlir;

namespace dlc {

LogicalClocks::LogicalClocks(exec::ProgramOp program)
    : list(program.getBody()), count(program.getStreamDevices().size()) {
  number(program.getBody().front());
  if (count == 1)
    return;
  std::vector<SmallVector<int64_t>> now(count, SmallVector<int64_t>(count, 0));
  // Clocks of the recording stream at each recorded event. This is a map because event numbers need
  // not be consecutive.
  std::map<int64_t, SmallVector<int64_t>> recorded;
  for (Operation &op : program.getBody().front()) {
    auto on = exec::getStreamNumber(&op);
    if (!on)
      continue;
    now[*on][*on] = begins[&op];
    if (auto record = dyn_cast<exec::RecordOp>(op)) {
      recorded[record.getEvent()] = now[*on];
    } else if (auto wait = dyn_cast<exec::WaitOp>(op)) {
      for (auto [mine, theirs] : llvm::zip(now[*on], recorded[wait.getEvent()]))
        mine = std::max(mine, theirs);
    } else {
      bounds[&op] = now[*on];
    }
  }
}

void LogicalClocks::number(Block &block) {
  for (Operation &op : block) {
    begins[&op] = clock++;
    for (Region &region : op.getRegions())
      if (!region.empty())
        number(region.front());
    ends[&op] = clock - 1;
  }
}

SmallVector<int64_t> LogicalClocks::known(Operation *op) const {
  SmallVector<int64_t> result(count, 0);
  if (count > 1)
    result = bounds.lookup(list.findAncestorOpInRegion(*op));
  result[stream(op)] = begin(op);
  return result;
}

} // namespace dlc
