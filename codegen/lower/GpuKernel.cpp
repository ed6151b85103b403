//===- GpuKernel.cpp - GPU kernel of an operation -------------------------===//
#include "codegen/lower/GpuKernel.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/cuda/Layouts.h"
#include "codegen/lower/Views.h"
#include "codegen/memory/Memory.h"
#include "codegen/providers/Provider.h"
#include "ir/dlc/Attributes.h"
#include "passes/Devices.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <numeric>

using namespace mlir;

namespace dlc {

bool isGpu(StringRef device) { return can(device, DLC_DEVICE_GPU_CODE); }

std::string getEnclosingCommandDevice(Operation *op) {
  while (!isa<func::FuncOp>(op->getParentOp()))
    op = op->getParentOp();
  return getCommandDevice(op);
}

FailureOr<FusionOp> normalizeForGpu(Operation *op, std::string &why) {
  OpBuilder b(op);
  FusionOp fusion = cuda::wrapInFusion(b, op);
  // The attributes that record the choice of a kernel are removed, because they must not affect the
  // text that identifies the kernel.
  if (fusion != op)
    clearChoice(&fusion.getBody().front().front());
  FailureOr<FusionOp> normal = failure();
  if (cuda::canGenerate(fusion, &why)) {
    normal = cpu::normalizeFusion(fusion, why);
    if (failed(normal)) {
      FusionOp plain = cuda::replaceLayoutsByTransposes(fusion);
      normal = cpu::normalizeFusion(plain, why);
      plain.erase();
    }
  }
  if (fusion != op)
    fusion.erase();
  return normal;
}

cuda::KernelOptions gpuKernelOptions(const cuda::GpuTarget &target,
                                     std::vector<int64_t> alignments) {
  // KernelOptions::tf32 is false, because an attribute of each matmul permits the rounding of f32
  // operands to tf32.
  return {target.figures.multiprocessors,
          std::move(alignments),
          /*tf32=*/false,
          cuda::getSharedMemoryBytes(target.arch),
          cuda::hasWarpgroups(target.arch),
          cuda::multipliesBytes(target.arch)};
}

bool multipliesBytes(const std::string &device, const std::string &gpuArch,
                     Operation *contraction) {
  std::string why;
  auto target = cuda::targetOf(device, gpuArch, why);
  return target && cuda::multipliesBytes(target->arch) &&
         !cuda::hasWindowKernel(contraction, /*channelsLast=*/false);
}

std::vector<int64_t> getAlignments(ArrayRef<Value> buffers) {
  std::vector<int64_t> alignments;
  for (Value buffer : buffers)
    alignments.push_back(
        std::gcd(std::gcd(kBufferAlignment, findRootBuffer(buffer).second), getViewStep(buffer)));
  if (llvm::all_of(alignments, [](int64_t a) { return a == kBufferAlignment; }))
    alignments.clear();
  return alignments;
}

void setGpuKernel(exec::KernelOp op, const cuda::Kernel &kernel, StringRef arch) {
  Builder b(op.getContext());
  SmallVector<StringRef> functions;
  for (const cuda::Launch &launch : kernel.launches)
    functions.push_back(launch.function);
  op->setAttr(kGpuArchAttr, b.getStringAttr(arch));
  op->setAttr(kGpuFunctionsAttr, b.getStrArrayAttr(functions));
  op->setAttr(kGpuSourceAttr, b.getStringAttr(kernel.text));
}

bool isGpuKernel(exec::KernelOp op) { return op->hasAttr(kGpuSourceAttr); }

StringRef gpuArchOf(exec::KernelOp op) {
  return op->getAttrOfType<StringAttr>(kGpuArchAttr).getValue();
}

cuda::Kernel readGpuKernel(exec::KernelOp op) {
  cuda::Kernel kernel;
  kernel.text = op->getAttrOfType<StringAttr>(kGpuSourceAttr).getValue().str();
  for (auto function : op->getAttrOfType<ArrayAttr>(kGpuFunctionsAttr).getAsRange<StringAttr>())
    kernel.launches.push_back({function.str()});
  return kernel;
}

exec::LaunchOp createGpuLaunch(OpBuilder &b, Location loc, StringAttr symbol,
                               const cuda::Kernel &kernel, const cuda::Launch &launch, double flops,
                               ArrayRef<Value> inputs, ArrayRef<Value> outputs,
                               ArrayRef<Value> scratch) {
  using Kind = cuda::LaunchArgument::Kind;
  SmallVector<Value> list;
  SmallVector<int64_t> writes, inplace;
  double bytes = 0;
  auto positionOf = [&](Kind kind, unsigned index) {
    return llvm::find_if(
               launch.arguments,
               [&](const cuda::LaunchArgument &a) { return a.kind == kind && a.index == index; }) -
           launch.arguments.begin();
  };
  for (const cuda::LaunchArgument &argument : launch.arguments) {
    ArrayRef<Value> from = argument.kind == Kind::Input    ? inputs
                           : argument.kind == Kind::Output ? outputs
                                                           : scratch;
    if (argument.written)
      writes.push_back(int64_t(list.size()));
    list.push_back(from[argument.index]);
    bytes += double(cast<exec::BufferType>(list.back().getType()).getBytes());
  }
  for (auto [output, input] : kernel.inplace) {
    int64_t written = positionOf(Kind::Output, output), read = positionOf(Kind::Input, input);
    if (written < int64_t(list.size()) && read < int64_t(list.size()))
      inplace.append({written, read});
  }
  auto sizes = [&](const std::array<uint32_t, 3> &list) {
    return b.getDenseI32ArrayAttr({int32_t(list[0]), int32_t(list[1]), int32_t(list[2])});
  };
  auto command =
      exec::LaunchOp::create(b, loc, symbol, list, writes, inplace, /*extent=*/1, /*grain=*/1,
                             /*scratch=*/0, llvm::APFloat(flops), llvm::APFloat(bytes),
                             /*stream=*/0, sizes(launch.grid), sizes(launch.block), launch.shared);
  command->setAttr(kFunctionAttr, b.getStringAttr(launch.function));
  return command;
}

} // namespace dlc
