//===- Report.cpp - reports the device of each operation and the reason for it ---===//
#include "passes/place/Apply.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc::place {
namespace {

std::string bytesText(int64_t bytes) {
  if (bytes < 10240)
    return std::to_string(bytes) + " bytes";
  return bytes < 10240 * 1024 ? llvm::formatv("{0:F1} KiB", double(bytes) / 1024).str()
                              : llvm::formatv("{0:F1} MiB", double(bytes) / 1048576).str();
}

/// Computes the cost of a free node on the other allowed devices, to explain the chosen device.
class DeviceAlternatives {
public:
  DeviceAlternatives(const FunctionPlacement &placement, const Labels &at, PlacementMode mode)
      : placement(placement), problem(placement.problem), at(at), mode(mode),
        nets(problem.nodes.size()) {
    for (unsigned net = 0; net < problem.nets.size(); ++net) {
      if (problem.nets[net].kind == Net::Constant)
        continue;
      nets[problem.nets[net].def].push_back(net);
      for (unsigned user : problem.nets[net].users)
        nets[user].push_back(net);
    }
  }

  std::string reason(unsigned node) {
    int own = at[node], other = -1;
    int64_t least = 0;
    for (int label = 0; label < int(problem.labels); ++label) {
      if (label == own || !problem.allowed[size_t(label)])
        continue;
      int64_t more = costAt(node, label) - costAt(node, own);
      if (other < 0 || more < least) {
        other = label;
        least = more;
      }
    }
    if (other < 0)
      return "the only device";
    std::string name = placement.devices[size_t(other)].getDeviceName();
    if (mode == PlacementMode::Split && least <= 0)
      return "ends earliest here, given the other work";
    if (least == 0)
      return "same cost as on " + name;
    if (least < 0)
      return "on the device of adjacent operations: by itself it would cost less on " + name;
    if (mode == PlacementMode::Bytes)
      return "on " + name + " " + bytesText(least) + " more would be transferred";
    return llvm::formatv("on {0} {1:F2} us more", name, double(least) * 1e-6);
  }

private:
  /// Returns the cost of the node and of its adjacent nets with the given label, in picoseconds or
  /// bytes.
  int64_t costAt(unsigned node, int label) {
    int before = at[node];
    at[node] = label;
    const std::vector<int64_t> &work = problem.nodes[node].work;
    int64_t sum = work.empty() ? 0 : work[size_t(label)];
    for (unsigned net : nets[node])
      forEachTransferTarget(problem, problem.nets[net], at, [&](int to) {
        sum += problem.moving(problem.nets[net], at[problem.nets[net].def], to);
      });
    at[node] = before;
    return sum;
  }

  const FunctionPlacement &placement;
  const PlacementProblem &problem;
  Labels at;
  PlacementMode mode;
  std::vector<std::vector<unsigned>> nets; // by node: indices of the nets that it defines or uses
};

} // namespace

DictionaryAttr describePlacement(const FunctionPlacement &placement, const Labels &at,
                                 ArrayRef<InsertedTransfer> crossings,
                                 const PlacementOptions &annotations,
                                 const PlacementCostModel &costs) {
  func::FuncOp function = placement.function;
  Builder b(function.getContext());
  DeviceAlternatives alternatives(placement, at, annotations.mode);
  std::vector<std::string> why = placement.why;
  auto entry = [&](StringRef name, StringRef op, unsigned node) {
    if (why[node].empty())
      why[node] = alternatives.reason(node);
    return b.getDictionaryAttr(
        {b.getNamedAttr("name", b.getStringAttr(name)), b.getNamedAttr("op", b.getStringAttr(op)),
         b.getNamedAttr("device", b.getStringAttr(placement.deviceAt(at, node).getDeviceName())),
         b.getNamedAttr("why", b.getStringAttr(why[node]))});
  };
  SmallVector<Attribute> operations, transfers;
  Block &block = function.getBody().front();
  for (BlockArgument argument : block.getArguments())
    operations.push_back(entry(StringRef(nameOf(argument)).trim('\''), "input",
                               placement.inputs[argument.getArgNumber()]));
  for (Operation &op : block)
    if (auto node = placement.nodes.find(&op);
        node != placement.nodes.end() && !isa<TransferOp>(op))
      operations.push_back(
          entry(StringRef(nameOf(&op)).trim('\''), op.getName().stripDialect(), node->second));
  for (const InsertedTransfer &crossing : crossings)
    transfers.push_back(b.getDictionaryAttr(
        {b.getNamedAttr("value", b.getStringAttr(StringRef(crossing.value).trim('\''))),
         b.getNamedAttr("user", b.getStringAttr(StringRef(crossing.user).trim('\''))),
         b.getNamedAttr("from", b.getStringAttr(crossing.from.getDeviceName())),
         b.getNamedAttr("to", b.getStringAttr(crossing.to.getDeviceName())),
         b.getNamedAttr("bytes", b.getI64IntegerAttr(crossing.bytes)),
         b.getNamedAttr("us", b.getF64FloatAttr(costs.transfer(double(crossing.bytes),
                                                               crossing.from.getDeviceName(),
                                                               crossing.to.getDeviceName())))}));
  return b.getDictionaryAttr({b.getNamedAttr("operations", b.getArrayAttr(operations)),
                              b.getNamedAttr("transfers", b.getArrayAttr(transfers))});
}

} // namespace dlc::place
