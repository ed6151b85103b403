//===- Collectives.cpp - what ranks share, as commands --------------------===//
#include "codegen/lower/Collectives.h"

#include "ir/dlc/Collective.h"
#include "ir/exec/Exec.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nlohmann::json;

namespace dlc::lower {

/// As the runtime's session calls it (runtime/session/Collectives.h).
constexpr StringLiteral kLibrary = "collective";
/// Of what only depends on the rank.
constexpr StringLiteral kRankLibrary = "rank";

namespace {

json descOf(Operation *op) {
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
      .Case<RankRowsOp>([](RankRowsOp) {
        return json{{"kind", "rows"}};
      })
      .Default([](Operation *) { return json(); });
}

} // namespace

std::optional<LibraryCall> collectiveOf(Operation *op) {
  json desc = descOf(op);
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
  call.library = (isa<RankRowsOp>(op) ? kRankLibrary : kLibrary).str();
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

} // namespace dlc::lower
