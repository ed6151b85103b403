//===- Collectives.cpp - collectives as commands --------------------------===//
#include "codegen/lower/streams/Collectives.h"

#include "codegen/memory/Memory.h"
#include "ir/dlc/Collective.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nlohmann::json;

namespace dlc::lower {

/// Name of the library of collectives, which the runtime's session implements
/// (runtime/session/collectives/Collectives.h).
constexpr StringLiteral kLibrary = "collective";

namespace {

json describeCollective(Operation *op) {
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<AllReduceOp>([](AllReduceOp o) {
        json desc{{"kind", "all_reduce"}, {"reduction", stringifyReduceKind(o.getKind()).str()}};
        if (o.getTo())
          desc["root"] = *o.getTo();
        return desc;
      })
      .Case<AllGatherOp>([](AllGatherOp) {
        return json{{"kind", "all_gather"}};
      })
      .Case<ReduceScatterOp>([](ReduceScatterOp o) {
        return json{{"kind", "reduce_scatter"},
                    {"reduction", stringifyReduceKind(o.getKind()).str()}};
      })
      .Case<BroadcastRanksOp>([](BroadcastRanksOp o) {
        return json{{"kind", "broadcast"}, {"root", o.getRoot()}};
      })
      .Default([](Operation *) { return json(); });
}

/// Returns the library call that copies a rank's own rows. The runtime's session implements it
/// (runtime/session/collectives/ShardCopy.h).
LibraryCall makeOwnRowsCall(OwnRowsOp op) {
  LibraryCall call;
  call.library = call.implementation = "own_rows";
  json bytes = json::array();
  for (Value x : op.getXs()) {
    call.addValue(x);
    bytes.push_back(storageBytes(typeOf(x)));
  }
  call.addResult(0, typeOf(op.getY()));
  call.desc = {{"bytes", bytes}};
  if (op.getSize())
    call.desc["size"] = *op.getSize();
  else
    call.desc["share"] = storageBytes(typeOf(op.getY()));
  return call;
}

} // namespace

std::optional<LibraryCall> makeCollectiveCall(Operation *op) {
  if (auto own = dyn_cast<OwnRowsOp>(op))
    return makeOwnRowsCall(own);
  json desc = describeCollective(op);
  if (desc.is_null())
    return std::nullopt;
  auto x = typeOf(op->getOperand(0)), y = typeOf(op->getResult(0));
  desc["dtype"] = elementName(x.getElementType());
  desc["share"] = std::min(x.getNumElements(), y.getNumElements());
  if (auto group = op->getAttrOfType<StringAttr>("group"))
    desc["group"] = group.str();
  if (auto size = op->getAttrOfType<IntegerAttr>("size"))
    desc["size"] = size.getInt();
  LibraryCall call;
  call.library = kLibrary.str();
  call.implementation = call.library + ":" + desc["kind"].get<std::string>();
  call.addValue(op->getOperand(0));
  call.addResult(0, y);
  if (x == y)
    call.inplace.push_back({1, 0});
  call.desc = std::move(desc);
  return call;
}

bool isCollective(Operation *command) {
  auto library = dyn_cast<exec::LibraryOp>(command);
  return library && library.getLibrary() == kLibrary;
}

/// Returns true if a command that follows `last` in the same command list uses the bytes of
/// `extent`.
static bool isUsedAfter(const BufferExtent &extent, Operation *last) {
  Block *list = last->getBlock();
  SmallVector<Value> names{extent.root};
  for (size_t i = 0; i < names.size(); ++i)
    for (Operation *user : names[i].getUsers()) {
      if (auto view = dyn_cast<exec::ViewOp>(user)) {
        names.push_back(view.getBuffer());
        continue;
      }
      auto [root, start, bytes] = getBufferExtent(names[i]);
      if (start < extent.start + extent.bytes && extent.start < start + bytes &&
          last->isBeforeInBlock(list->findAncestorOpInBlock(*user)))
        return true;
    }
  return false;
}

void makeCollectivesInPlace(exec::ProgramOp program) {
  for (Operation &op : llvm::make_early_inc_range(program.getBody().front())) {
    if (!isCollective(&op))
      continue;
    Value from = op.getOperand(0), to = op.getOperand(1);
    auto result = to.getDefiningOp<exec::AllocOp>();
    bool mayBe = result && from.getType() == to.getType() && from.getDefiningOp<exec::ViewOp>() &&
                 getViewStep(from) == 0 &&
                 findRootBuffer(from).first.getDefiningOp<exec::AllocOp>();
    if (!mayBe || isUsedAfter(getBufferExtent(from), &op))
      continue;
    to.replaceAllUsesWith(from);
    result.erase();
  }
}

} // namespace dlc::lower
