//===- State.cpp - reads of a state's old value, and which operations may overwrite it ---===//
#include "codegen/lower/State.h"

#include "codegen/cpu/Inplace.h"
#include "codegen/cpu/Normalize.h"
#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Views.h"
#include "codegen/providers/Provider.h"
#include "ir/dlc/Attributes.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace dlc::lower {

SmallVector<ProgramState> collectStates(func::FuncOp function) {
  SmallVector<ProgramState> states;
  for (BlockArgument argument : function.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (!function.getArgAttr(number, kStateAttr))
      continue;
    ProgramState state{argument, std::nullopt};
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (function.getResultAttr(i, kStateAttr) &&
          function.getResultAttr(i, kNameAttr) == function.getArgAttr(number, kNameAttr))
        state.result = i;
    states.push_back(state);
  }
  return states;
}

OldValues::OldValues(ArrayRef<ProgramState> states, Block &body) : reading(states.size()) {
  for (auto [s, state] : llvm::enumerate(states)) {
    llvm::SetVector<Operation *> found;
    SmallVector<std::pair<Value, int64_t>> work{{state.old, 0}};
    while (!work.empty()) {
      auto [value, offset] = work.pop_back_val();
      parts[value] = {unsigned(s), offset};
      for (OpOperand &use : value.getUses()) {
        Operation *user = use.getOwner();
        auto view = matchView(user);
        if (view && use.getOperandNumber() == 0)
          work.push_back({user->getResult(0), offset + view->second});
        Operation *top = body.findAncestorOpInBlock(*user);
        if (!top->hasTrait<OpTrait::IsTerminator>() && !(view && top == user))
          found.insert(top);
      }
    }
    reading[s] = found.takeVector();
  }
}

Value skipReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

/// Collects the indices of the operation's operands that are the old value of `state`. Operands in
/// the operation's regions are not included. Returns false if an operand is a view that does not
/// start at the beginning of the old value.
static bool findOperands(Operation *op, unsigned state, const OldValues &old,
                         SmallVectorImpl<unsigned> &found) {
  for (OpOperand &operand : op->getOpOperands()) {
    auto part = old.find(operand.get());
    if (!part || part->state != state)
      continue;
    if (part->offset != 0)
      return false;
    found.push_back(operand.getOperandNumber());
  }
  return true;
}

static bool readsStateInRegions(Operation *op, unsigned state, const OldValues &old) {
  for (Region &region : op->getRegions())
    if (region
            .walk([&](Operation *inner) {
              for (Value operand : inner->getOperands())
                if (auto part = old.find(operand); part && part->state == state)
                  return WalkResult::interrupt();
              return WalkResult::advance();
            })
            .wasInterrupted())
      return true;
  return false;
}

static bool libraryMayReplace(OpResult result, unsigned state, const OldValues &old,
                              const LibraryCall &call) {
  bool found = false;
  for (auto [w, written] : llvm::enumerate(call.arguments)) {
    if (written.kind != CallArgument::Kind::Result || written.result != result.getResultNumber())
      continue;
    found = true;
    for (auto [r, read] : llvm::enumerate(call.arguments)) {
      if (read.kind != CallArgument::Kind::Value)
        continue;
      auto part = old.find(read.value);
      if (!part || part->state != state)
        continue;
      bool allowed = llvm::is_contained(call.inplace, std::pair(unsigned(w), unsigned(r)));
      if (!allowed || part->offset != 0 || read.offset != written.offset)
        return false;
    }
  }
  return found;
}

bool gpuMayReplace(Operation *op, unsigned result, ArrayRef<unsigned> operands,
                   const CompileOptions &options) {
  std::string why;
  auto target = cuda::targetOf(getEnclosingCommandDevice(op), options.gpuArch, why);
  auto normal = target ? normalizeForGpu(op, why) : FailureOr<FusionOp>(failure());
  if (failed(normal))
    return false;
  auto kernel = cuda::generateKernel(*normal, "kernel", gpuKernelOptions(*target));
  normal->erase();
  if (failed(kernel))
    return false;
  using Kind = cuda::LaunchArgument::Kind;
  auto uses = [](const cuda::Launch &launch, Kind kind, unsigned index) {
    return llvm::any_of(launch.arguments, [&](const cuda::LaunchArgument &argument) {
      return argument.kind == kind && argument.index == index;
    });
  };
  return llvm::all_of(operands, [&](unsigned operand) {
    // If one launch of the kernel overwrites the operand's memory, no later launch may read it.
    bool written = false;
    for (const cuda::Launch &launch : kernel->launches) {
      if (written && uses(launch, Kind::Input, operand))
        return false;
      written |= uses(launch, Kind::Output, result);
    }
    return llvm::is_contained(kernel->inplace, std::pair(result, operand));
  });
}

bool mayReplace(OpResult result, unsigned state, const OldValues &old,
                const CompileOptions &options) {
  Operation *op = result.getOwner();
  SmallVector<unsigned> operands;
  if (!findOperands(op, state, old, operands) || readsStateInRegions(op, state, old))
    return false;
  if (operands.empty())
    return true;
  if (auto loop = dyn_cast<LoopOp>(op)) {
    // A loop may overwrite the old value if it is the initial value of the loop-carried value that
    // yields the result. The copy before the loop then has the same source and destination.
    unsigned number = result.getResultNumber();
    if (number >= loop.getInits().size() || operands.size() != 1)
      return false;
    return &op->getOpOperand(operands[0]) == &loop.getInitsMutable()[number];
  }
  const Provider *provider = findProvider(op);
  if (!provider)
    return false;
  // The pairs of findElementwiseInplacePairs also hold for a blocked matmul, which stores each
  // element only once, after its sum over K is complete.
  if (provider->about.kind == KernelKind::Host) {
    std::string why;
    auto normal = cpu::normalizeFusion(cast<FusionOp>(op), why);
    if (failed(normal))
      return false;
    auto pairs = cpu::findElementwiseInplacePairs(*normal);
    normal->erase();
    return llvm::all_of(operands, [&](unsigned operand) {
      return llvm::is_contained(pairs, std::pair(result.getResultNumber(), operand));
    });
  }
  if (provider->about.kind == KernelKind::Gpu)
    return gpuMayReplace(op, result.getResultNumber(), operands, options);
  auto call = describeLibraryCall(op, options.threads);
  return call && libraryMayReplace(result, state, old, *call);
}

} // namespace dlc::lower
