//===- Builtin.cpp - operations that the runtime's own kernels do ---------===//
#include "codegen/select/LibraryCall.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using nlohmann::json;

namespace dlc {

namespace {

RankedTensorType typeOf(Value v) { return cast<RankedTensorType>(v.getType()); }

json dims(RankedTensorType type) { return std::vector<int64_t>(type.getShape().begin(), type.getShape().end()); }

/// outer, len and inner of an axis.
void addLines(json &desc, RankedTensorType type, int64_t axis) {
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    (d < axis ? outer : inner) *= d == axis ? 1 : type.getDimSize(d);
  desc["outer"] = outer;
  desc["len"] = type.getDimSize(axis);
  desc["inner"] = inner;
}

std::vector<int64_t> list(ArrayRef<int64_t> values) { return {values.begin(), values.end()}; }

json descOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, json>(op)
      .Case<TopKOp>([](TopKOp o) {
        json desc{{"kind", "topk"}, {"k", o.getK()}, {"largest", o.getLargest()}, {"sorted", o.getSorted()}};
        addLines(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<ArgReduceOp>([](ArgReduceOp o) {
        json desc{{"kind", "arg_reduce"}, {"op", o.getKind() == ReduceKind::max ? "max" : "min"}, {"select_last", o.getLast()}};
        addLines(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<CumulativeOp>([](CumulativeOp o) {
        json desc{{"kind", "cumulative"}, {"op", o.getKind() == ReduceKind::sum ? "sum" : "prod"},
                  {"exclusive", o.getExclusive()}, {"reverse", o.getReverse()}};
        addLines(desc, typeOf(o.getX()), o.getAxis());
        return desc;
      })
      .Case<ScatterElementsOp>([](ScatterElementsOp o) {
        return json{{"kind", "scatter_elements"}, {"axis", o.getAxis()}, {"index", elementName(typeOf(o.getIndices()).getElementType())},
                    {"data", dims(typeOf(o.getX()))}, {"indices", dims(typeOf(o.getIndices()))},
                    {"reduction", stringifyScatterReduction(o.getReduction()).str()}};
      })
      .Case<ScatterNdOp>([](ScatterNdOp o) {
        return json{{"kind", "scatter_nd"}, {"index", elementName(typeOf(o.getIndices()).getElementType())},
                    {"data", dims(typeOf(o.getX()))}, {"indices", dims(typeOf(o.getIndices()))},
                    {"reduction", stringifyScatterReduction(o.getReduction()).str()}};
      })
      .Case<MaxPoolIndicesOp>([](MaxPoolIndicesOp o) {
        auto dilations = list(o.getDilations());
        for (int64_t &d : dilations)
          --d;
        return json{{"kind", "max_pool_indices"}, {"src", dims(typeOf(o.getX()))}, {"dst", dims(typeOf(o.getY()))},
                    {"kernel", list(o.getWindow())}, {"strides", list(o.getStrides())}, {"dilations", dilations},
                    {"pads_l", list(o.getLow())}, {"storage_order", o.getColumnMajor() ? 1 : 0}};
      })
      .Case<RandomOp>([](RandomOp o) {
        return json{{"kind", "random"}, {"op", stringifyRandomKind(o.getKind()).str()}, {"count", typeOf(o.getY()).getNumElements()},
                    {"seed", o.getSeed()}, {"counter", "buffer"}};
      })
      .Default([](Operation *) { return json(); });
}

} // namespace

std::optional<LibraryCall> builtinCall(Operation *op) {
  json desc = descOf(op);
  if (desc.is_null())
    return std::nullopt;
  LibraryCall call;
  call.library = "builtin";
  call.implementation = "builtin:" + desc["kind"].get<std::string>();
  // The element type that decides is the first operand's, or the result's where there is no such operand.
  Value decides = isa<RandomOp>(op) ? op->getResult(0) : op->getOperand(0);
  desc["dtype"] = elementName(typeOf(decides).getElementType());
  call.desc = desc;
  for (Value operand : op->getOperands()) {
    call.arguments.push_back({CallArgument::Kind::Value, operand});
    call.bytes += double(storageBytes(typeOf(operand)));
  }
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    CallArgument argument{CallArgument::Kind::Result};
    argument.result = i;
    call.arguments.push_back(argument);
    call.bytes += double(storageBytes(typeOf(op->getResult(i))));
  }
  if (isa<CumulativeOp, ScatterElementsOp, ScatterNdOp>(op))
    call.inplace.push_back({unsigned(op->getNumOperands()), 0});
  call.flops = double(typeOf(decides).getNumElements());
  return call;
}

} // namespace dlc
