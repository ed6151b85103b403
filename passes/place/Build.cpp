//===- Build.cpp - builds the placement problem of a function -------------===//
#include "passes/place/Build.h"

#include "ir/dlc/Attributes.h"
#include "passes/TensorBuilder.h"

#include "llvm/ADT/EquivalenceClasses.h"

#include <algorithm>
#include <numeric>

using namespace mlir;

namespace dlc::place {
namespace {

bool isData(Value value) { return isa<RankedTensorType>(value.getType()); }

bool getStateName(DictionaryAttr attributes, StringAttr &name) {
  if (!attributes || !attributes.contains(kStateAttr))
    return false;
  name = attributes.getAs<StringAttr>(kNameAttr);
  return bool(name);
}

class ProblemBuilder {
public:
  ProblemBuilder(func::FuncOp function, PlacementOptions &annotations,
                 const PlacementCostModel &costs)
      : annotations(annotations), costs(costs), block(function.getBody().front()) {
    result.function = function;
  }

  FailureOr<FunctionPlacement> run() {
    if (failed(collectDevices()) || failed(addInputs()) || failed(addOperations()) ||
        failed(addOutputs()))
      return failure();
    tieStates();
    compress();
    addNets();
    addFigures();
    return std::move(result);
  }

private:
  unsigned labelOf(OnAttr device) {
    for (auto [label, known] : llvm::enumerate(result.devices))
      if (known.sameDevice(device))
        return unsigned(label);
    result.devices.push_back(device.withLayout(""));
    return unsigned(result.devices.size()) - 1;
  }

  /// Assigns labels to devices in a deterministic order: the default device, the candidates, then
  /// devices in the order in which the program names them.
  LogicalResult collectDevices() {
    labelOf(annotations.home);
    for (const DeviceCandidate &candidate : annotations.candidates)
      labelOf(candidate.device);
    return success();
  }

  unsigned addNode(const PlacementRequest &request, unsigned position) {
    PlacementNode node;
    node.position = position;
    if (request.device)
      node.fixed = int(labelOf(request.device));
    result.problem.nodes.push_back(node);
    result.why.push_back(request.device ? request.why : "");
    return unsigned(result.problem.nodes.size()) - 1;
  }

  /// Returns the node for a device on which outputs are returned. Its label is fixed to this
  /// device, so that the cost includes transfers of outputs.
  unsigned pin(const PlacementRequest &request) {
    for (auto &[known, node] : pins)
      if (known.sameDevice(request.device))
        return node;
    pins.emplace_back(request.device, addNode(request, 0));
    return pins.back().second;
  }

  LogicalResult addInputs() {
    for (BlockArgument argument : block.getArguments()) {
      unsigned number = argument.getArgNumber();
      FailureOr<PlacementRequest> request = annotations.ofInput(result.function, number);
      if (failed(request))
        return failure();
      if (request->byType)
        result.placedBefore.insert(argument);
      // State and parameters have a free label, because they may be stored on the device that uses
      // them. All other inputs are fixed to the default device, on which the caller provides them.
      bool stays = result.function.getArgAttr(number, kStateAttr) ||
                   result.function.getArgAttr(number, kParameterAttr);
      if (!request->device && !stays)
        request = PlacementRequest{annotations.home, "an input on the default device"};
      nodeOfInput.push_back(addNode(*request, 0));
    }
    return success();
  }

  LogicalResult addOperations() {
    unsigned position = 0;
    for (Operation &op : block.without_terminator()) {
      ++position;
      for (Value value : op.getResults())
        if (deviceOf(value.getType()))
          result.placedBefore.insert(value);
      if (isa<ConstantOp>(op))
        continue;
      FailureOr<PlacementRequest> request = annotations.of(&op);
      if (failed(request))
        return failure();
      if (request->byType)
        result.fixedByType.insert(&op);
      nodeOf[&op] = addNode(*request, position);
    }
    end = position + 1;
    return success();
  }

  LogicalResult addOutputs() {
    for (unsigned i = 0; i < result.function.getNumResults(); ++i) {
      FailureOr<PlacementRequest> request = annotations.ofOutput(result.function, i);
      if (failed(request))
        return failure();
      StringAttr name, other;
      int state = -1;
      if (getStateName(result.function.getResultAttrDict(i), name))
        for (unsigned a = 0; a < nodeOfInput.size(); ++a)
          if (getStateName(result.function.getArgAttrDict(a), other) && other == name)
            state = int(a);
      if (state >= 0) {
        unsigned node = nodeOfInput[unsigned(state)];
        PlacementNode &argument = result.problem.nodes[node];
        if (request->device && argument.fixed < 0) {
          argument.fixed = int(labelOf(request->device));
          result.why[node] = request->why;
        }
        nodeOfOutput.push_back(node);
        continue;
      }
      if (!request->device)
        request = PlacementRequest{annotations.home, "an output on the default device"};
      nodeOfOutput.push_back(pin(*request));
    }
    return success();
  }

  /// Merges the nodes of a state argument and of the operation that computes its next value, so
  /// that both get one device.
  void tieStates() {
    for (unsigned node = 0; node < result.problem.nodes.size(); ++node)
      tied.insert(node);
    Operation *terminator = block.getTerminator();
    for (auto [i, value] : llvm::enumerate(terminator->getOperands())) {
      Operation *update = value.getDefiningOp();
      if (!result.function.getResultAttr(unsigned(i), kStateAttr) || !update ||
          !nodeOf.count(update))
        continue;
      unsigned state = *tied.findLeader(nodeOfOutput[i]), maker = *tied.findLeader(nodeOf[update]);
      int one = fixedIn(state), other = fixedIn(maker);
      if (one < 0 || other < 0 || one == other)
        tied.unionSets(state, maker);
    }
  }

  int fixedIn(unsigned leader) const {
    for (auto member = tied.findLeader(leader); member != tied.member_end(); ++member)
      if (int label = result.problem.nodes[*member].fixed; label >= 0)
        return label;
    return -1;
  }

  /// Merges each equivalence class of tied nodes into one node. The nodes remain in program order.
  void compress() {
    std::vector<PlacementNode> old = std::move(result.problem.nodes);
    std::vector<std::string> why = std::move(result.why);
    result.problem.nodes.clear();
    result.why.clear();
    std::vector<unsigned> now(old.size());
    llvm::DenseMap<unsigned, unsigned> ofLeader;
    for (unsigned node = 0; node < old.size(); ++node) {
      auto [at, isNew] = ofLeader.try_emplace(*tied.findLeader(node), result.problem.nodes.size());
      now[node] = at->second;
      if (isNew) {
        result.problem.nodes.push_back(old[node]);
        result.why.push_back(why[node]);
        continue;
      }
      PlacementNode &whole = result.problem.nodes[now[node]];
      whole.position = std::max(whole.position, old[node].position);
      if (whole.fixed < 0 && old[node].fixed >= 0) {
        whole.fixed = old[node].fixed;
        result.why[now[node]] = why[node];
      }
    }
    for (auto &[op, node] : nodeOf)
      result.nodes[op] = now[node];
    for (unsigned node : nodeOfInput)
      result.inputs.push_back(now[node]);
    for (unsigned node : nodeOfOutput)
      result.outputs.push_back(now[node]);
  }

  /// Adds the nodes that use a value to its net, and updates the position of the last use.
  void addUsers(Net &net, Value value) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = block.findAncestorOpInBlock(*use.getOwner());
      bool isReturn = user == block.getTerminator();
      // An explicit transfer is no user of the net, because it reads its operand from any device.
      if (!user || (use.getOwner() == user && isa<TransferOp>(user)))
        continue;
      unsigned node = isReturn ? result.outputs[use.getOperandNumber()] : result.nodes[user];
      net.last = std::max(net.last, isReturn ? end : result.problem.nodes[node].position);
      if ((node != net.def || net.kind == Net::Constant) && !llvm::is_contained(net.users, node))
        net.users.push_back(node);
    }
  }

  void addNet(Value value, unsigned def, bool resident) {
    if (!isData(value))
      return;
    Net net;
    net.def = def;
    net.bytes = tensorBytes(value.getType());
    net.kind = typeOf(value).getRank() == 0 ? Net::Scalar : Net::Data;
    net.resident = resident;
    addUsers(net, value);
    result.problem.nets.push_back(std::move(net));
  }

  void addNets() {
    for (BlockArgument argument : block.getArguments())
      addNet(argument, result.inputs[argument.getArgNumber()], true);
    for (Operation &op : block.without_terminator()) {
      if (auto constant = dyn_cast<ConstantOp>(op)) {
        Net net;
        net.bytes = tensorBytes(constant.getType());
        net.kind = Net::Constant;
        net.resident = true;
        addUsers(net, constant.getResult());
        result.problem.nets.push_back(std::move(net));
        continue;
      }
      unsigned node = result.nodes[&op];
      for (Value value : op.getResults())
        addNet(value, node, false);
      for (Value operand : op.getOperands()) {
        Operation *maker = operand.getDefiningOp();
        if (!isData(operand) || typeOf(operand).getRank() == 0 ||
            isa_and_nonnull<ConstantOp>(maker))
          continue;
        unsigned from = maker ? result.nodes[maker]
                              : result.inputs[cast<BlockArgument>(operand).getArgNumber()];
        if (from != node)
          result.problem.nodes[node].first = int(from);
        break;
      }
    }
  }

  void addFigures() {
    PlacementProblem &problem = result.problem;
    problem.labels = unsigned(result.devices.size());
    problem.allowed.assign(problem.labels, annotations.candidates.empty());
    problem.capacity.assign(problem.labels, 0);
    for (const DeviceCandidate &candidate : annotations.candidates) {
      problem.allowed[labelOf(candidate.device)] = true;
      problem.capacity[labelOf(candidate.device)] = candidate.capacity;
    }
    while (!problem.allowed[size_t(problem.preferred)])
      ++problem.preferred;
    bool timed = annotations.mode != PlacementMode::Bytes;
    for (OnAttr from : result.devices)
      for (OnAttr to : result.devices) {
        LinkParameters link = costs.linkOf(from.getDeviceName(), to.getDeviceName());
        problem.perByte.push_back(timed ? std::max<int64_t>(1, int64_t(1e3 / link.gigabytes)) : 1);
        problem.perMove.push_back(timed ? int64_t(link.latency * 1e6) : 0);
      }
    if (!timed)
      return;
    for (auto &[op, node] : result.nodes) {
      // Views and transfers take no computation time, so that their nodes have no work.
      if (op->hasTrait<View>() || isa<TransferOp>(op))
        continue;
      std::vector<int64_t> &work = problem.nodes[node].work;
      work.resize(problem.labels, 0);
      for (unsigned label = 0; label < problem.labels; ++label)
        work[label] += int64_t(costs.operation(op, result.devices[label]) * 1e6);
    }
  }

  PlacementOptions &annotations;
  const PlacementCostModel &costs;
  Block &block;
  FunctionPlacement result;
  llvm::EquivalenceClasses<unsigned> tied;
  llvm::DenseMap<Operation *, unsigned> nodeOf;
  SmallVector<unsigned> nodeOfInput, nodeOfOutput;
  SmallVector<std::pair<OnAttr, unsigned>> pins;
  unsigned end = 0;
};

} // namespace

FailureOr<FunctionPlacement> buildProblem(func::FuncOp function, PlacementOptions &annotations,
                                          const PlacementCostModel &costs) {
  return ProblemBuilder(function, annotations, costs).run();
}

} // namespace dlc::place
