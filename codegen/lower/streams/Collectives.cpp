//===- Collectives.cpp - collectives as commands --------------------------===//
#include "codegen/lower/streams/Collectives.h"

#include "codegen/memory/Memory.h"
#include "ir/dlc/Collective.h"
#include "passes/TensorBuilder.h"
#include "runtime/library/schema/Schema.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace dlc::lower {

/// Name of the library of collectives, which the runtime's session implements
/// (runtime/session/collectives/Collectives.h).
constexpr StringLiteral kLibrary = "collective";

namespace {

std::optional<schema::Collective> describeCollective(Operation *op) {
  using Kind = schema::CollectiveKind;
  auto start = [](Kind kind) {
    schema::Collective fields;
    fields.kind = kind;
    return std::optional(fields);
  };
  auto reduce = [&](Kind kind, ReduceKind reduction) {
    auto fields = start(kind);
    fields->reduction = static_cast<schema::CollectiveReduction>(reduction);
    return fields;
  };
  return llvm::TypeSwitch<Operation *, std::optional<schema::Collective>>(op)
      .Case<AllReduceOp>([&](AllReduceOp o) {
        auto fields = reduce(Kind::AllReduce, o.getKind());
        if (o.getTo())
          fields->root = int64_t(*o.getTo());
        return fields;
      })
      .Case<AllGatherOp>([&](AllGatherOp) { return start(Kind::AllGather); })
      .Case<ReduceScatterOp>(
          [&](ReduceScatterOp o) { return reduce(Kind::ReduceScatter, o.getKind()); })
      .Case<BroadcastRanksOp>([&](BroadcastRanksOp o) {
        auto fields = start(Kind::Broadcast);
        fields->root = int64_t(o.getRoot());
        return fields;
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the library call that copies a rank's own rows. The runtime's session implements it
/// (runtime/session/collectives/ShardCopy.h).
LibraryCall makeOwnRowsCall(OwnRowsOp op) {
  LibraryCall call;
  call.library = call.implementation = "own_rows";
  schema::OwnRows fields;
  for (Value x : op.getXs()) {
    call.addValue(x);
    fields.bytes.push_back(storageBytes(typeOf(x)));
  }
  call.addResult(0, typeOf(op.getY()));
  if (op.getSize())
    fields.size = int64_t(*op.getSize());
  else
    fields.share = storageBytes(typeOf(op.getY()));
  call.desc = fields.toJson();
  return call;
}

} // namespace

std::optional<LibraryCall> makeCollectiveCall(Operation *op) {
  if (auto own = dyn_cast<OwnRowsOp>(op))
    return makeOwnRowsCall(own);
  auto fields = describeCollective(op);
  if (!fields)
    return std::nullopt;
  auto x = typeOf(op->getOperand(0)), y = typeOf(op->getResult(0));
  fields->dtype = *parseDType(elementName(x.getElementType()));
  fields->share = std::min(x.getNumElements(), y.getNumElements());
  if (auto group = op->getAttrOfType<StringAttr>("group"))
    fields->group = group.str();
  if (auto size = op->getAttrOfType<IntegerAttr>("size"))
    fields->size = size.getInt();
  LibraryCall call;
  call.library = kLibrary.str();
  call.implementation = call.library + ":" + nameOf(fields->kind);
  call.addValue(op->getOperand(0));
  call.addResult(0, y);
  if (x == y)
    call.inplace.push_back({1, 0});
  call.desc = fields->toJson();
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
