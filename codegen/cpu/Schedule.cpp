//===- Schedule.cpp - how the code of a generated kernel is created -------===//
#include "codegen/cpu/Schedule.h"

#include "codegen/cpu/contract/ContractFusion.h"
#include "codegen/cpu/kernel/Split.h"
#include "ir/dlc/Attributes.h"
#include "runtime/program/WeightsMemory.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace dlc {

namespace {

/// Packs the fusion's constant input that becomes the kernel's packed operand.
LogicalResult pack(FusionOp fusion, const cpu::ContractFusion &contract, PackedOperand &operand,
                   std::string &why) {
  auto constant = fusion.getInputs()[operand.argument].getDefiningOp<ConstantOp>();
  auto plain = ref::Tensor::fromAttr(constant.getValue());
  if (failed(plain)) {
    why = ref::kMissingData.str();
    return failure();
  }
  operand.data = runtime::allocateWeights(uint64_t(operand.bytes));
  if (!operand.data) {
    why = "not enough memory for a packed copy of the weights";
    return failure();
  }
  bool isA = contract.spec.packedA;
  int64_t offset = isA ? contract.offsetA : contract.offsetB;
  const char *start = plain->data() + offset * ref::elementBytes(plain->getElementType());
  (isA ? cpu::packA : cpu::packB)(contract.spec, contract.plan, start, operand.data.get());
  return success();
}

} // namespace

Schedule planRowSchedule(FusionOp normal, const cpu::Target &target) {
  auto split = cpu::planSplit(normal, target);
  return {split && !split->isWhole() ? "parts" : "rows", cpu::planKernel(normal, target),
          std::nullopt};
}

FailureOr<Schedule> planContractSchedule(FusionOp fusion, FusionOp normal,
                                         const cpu::Target &target, bool packs, std::string &why) {
  auto contract = cpu::matchContract(normal, target, std::nullopt, &why);
  if (!contract)
    return failure();
  Schedule schedule{"contract", {}, std::nullopt};
  const auto argument = cpu::findPackableArgument(fusion, *contract);
  if (argument)
    contract = cpu::matchContract(normal, target, argument);
  const cpu::ContractSpec &spec = contract->spec;
  auto isOther = [](Type element, bool isPacked) { return !element.isInteger(8) && !isPacked; };
  if (spec.sumsIntegers() &&
      (isOther(spec.elementA, spec.packedA) || isOther(spec.elementB, spec.packedB))) {
    why = "integers of another width than 8 bits";
    return failure();
  }
  if (argument) {
    PackedOperand operand{*argument, contract->plan.packedBytes, "", nullptr};
    operand.layout = spec.packedA
                         ? llvm::formatv("contract:{0}x{1}:rows", spec.m, spec.k).str()
                         : llvm::formatv("contract:{0}x{1}{2}", spec.k, contract->plan.panelColumns,
                                         contract->plan.multipliesBytes ? ":bytes" : "")
                               .str();
    if (packs && failed(pack(fusion, *contract, operand, why)))
      return failure();
    schedule.packed = operand;
  }
  schedule.plan = cpu::planContractKernel(normal, *contract);
  return schedule;
}

void setSchedule(exec::KernelOp kernel, const Schedule &schedule) {
  if (schedule.name == "rows")
    return;
  Builder b(kernel.getContext());
  kernel->setAttr(kScheduleAttr, b.getStringAttr(schedule.name));
  if (schedule.packed)
    kernel->setAttr(kPackedInputAttr, b.getI64IntegerAttr(schedule.packed->argument));
}

std::string formatSchedule(const Schedule &schedule) {
  return schedule.name +
         (schedule.packed ? " packed " + std::to_string(schedule.packed->argument) : "") + "\n";
}

static std::optional<unsigned> getPackedArgument(exec::KernelOp kernel) {
  auto packed = kernel->getAttrOfType<IntegerAttr>(kPackedInputAttr);
  return packed ? std::optional(unsigned(packed.getInt())) : std::nullopt;
}

LogicalResult emitScheduled(OpBuilder &b, exec::KernelOp kernel, StringRef name,
                            const cpu::Target &target) {
  auto fusion = *kernel.getBody().getOps<FusionOp>().begin();
  auto schedule = kernel->getAttrOfType<StringAttr>(kScheduleAttr);
  if (!schedule || schedule == "rows")
    return cpu::emitKernel(b, fusion, name, target);
  if (schedule == "parts") {
    auto split = cpu::planSplit(fusion, target);
    if (!split || split->isWhole())
      return kernel.emitError("required for schedule parts: reductions that can be split into "
                              "parts; found: other operations; use schedule rows");
    return cpu::emitSplitKernel(b, fusion, name, *split, target);
  }
  if (schedule == "contract")
    return cpu::emitContractKernel(b, fusion, name, target, getPackedArgument(kernel));
  return kernel.emitError("required: schedule rows, parts or contract; found: ")
         << schedule.getValue();
}

} // namespace dlc
