//===- Units.cpp - fusions of conformance cases as runnable CUDA kernels -----===//
#include "test/codegen/cuda/Units.h"

#include "codegen/cpu/Normalize.h"
#include "codegen/cuda/Generate.h"
#include "ir/reference/Evaluate.h"
#include "passes/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

#include <cstring>

using namespace mlir;

namespace dlc::cudatest {

namespace {

/// Index of the first unit with each kernel source.
using Texts = llvm::StringMap<size_t>;

class Collector {
public:
  Collector(const conformance::Case &c, bool tf32, std::vector<Unit> &units, Texts &texts,
            function_ref<void(const std::string &, const std::string &)> failed)
      : c(c), tf32(tf32), units(units), texts(texts), failed(failed) {}

  /// Evaluates the block with the reference evaluator and creates a unit for each kernel in it.
  LogicalResult walk(Block &block, llvm::DenseMap<Value, ref::Tensor> &values) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      SmallVector<ref::Tensor> inputs, outputs;
      for (Value operand : op.getOperands())
        inputs.push_back(values[operand]);
      auto outer = [&](Value v) { return values[v]; };
      if (mlir::failed(ref::evaluateOp(&op, inputs, outer, outputs)))
        return failure();
      for (auto [result, tensor] : llvm::zip(op.getResults(), outputs))
        values[result] = tensor;
      // Kernels in loops are run on random operands.
      for (Region &region : op.getRegions())
        if (!isa<FusionOp>(op))
          for (Operation &inner : llvm::make_early_inc_range(region.front().without_terminator()))
            if (cuda::isKernelOp(&inner))
              madeUp(inner);
      if (cuda::isKernelOp(&op))
        unit(op, inputs, outputs);
    }
    return success();
  }

private:
  void madeUp(Operation &op) {
    SmallVector<ref::Tensor> inputs, outputs;
    for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
      inputs.push_back(ref::Tensor::empty(cast<RankedTensorType>(operand.getType())));
      bool number = inputs.back().isFloat();
      conformance::fillTensor(inputs.back(), {conformance::Fill::Uniform, number ? -2.0 : 0.0, 2.0},
                              i + 5);
    }
    if (succeeded(ref::evaluateOp(
            &op, inputs, [](Value) { return ref::Tensor(); }, outputs)))
      unit(op, inputs, outputs);
  }

  void unit(Operation &op, ArrayRef<ref::Tensor> inputs, ArrayRef<ref::Tensor> outputs) {
    std::string why;
    OpBuilder b(&op);
    FusionOp fusion = cuda::wrapInFusion(b, &op);
    auto normal = cpu::normalizeFusion(fusion, why);
    if (mlir::failed(normal))
      return failed(c.name(), why);
    cuda::KernelOptions options;
    options.tf32 = tf32;
    // With few multiprocessors, small tensors are split into parts, too. With one, tiles are large.
    options.multiprocessors = units.size() % 4 < 2 ? 8 : 1;
    // Every other kernel is generated for a GPU with all features.
    options.warpgroups = units.size() % 2 == 1;
    options.sharedBytes = (options.warpgroups ? 227 : 99) << 10;
    auto kernel = cuda::generateKernel(*normal, kAnyName, options);
    if (mlir::failed(kernel))
      return failed(c.name(), "no kernel");
    size_t first = texts.insert({kernel->text, units.size()}).first->second;
    rename(kernel->text, first);
    for (cuda::Launch &launch : kernel->launches)
      rename(launch.function, first);
    units.push_back({c.name(),
                     std::move(*kernel),
                     first,
                     {inputs.begin(), inputs.end()},
                     {outputs.begin(), outputs.end()},
                     toleranceOf(&op, *normal)});
    normal->erase();
    if (fusion != &op)
      fusion.erase();
  }

  static void rename(std::string &text, size_t number) {
    std::string name = "k" + std::to_string(number);
    for (size_t at = 0; (at = text.find(kAnyName, at)) != std::string::npos; at += name.size())
      text.replace(at, std::strlen(kAnyName), name);
  }

  /// Returns the tolerance. Kernels round 16-bit floats only when they store them, the reference
  /// after each operation.
  conformance::Tolerance toleranceOf(Operation *op, FusionOp fusion) {
    conformance::Tolerance tolerance = c.tolerance;
    // Intermediate values that are not results of the case (such as the variance of a norm) have a
    // larger tolerance.
    if (llvm::any_of(op->getUsers(), [](Operation *user) { return !isa<func::ReturnOp>(user); }))
      tolerance.ulps *= 8;
    // tf32 operands have 10 bits, rounded to nearest, which is an error of at most 2^-11 for each
    // product.
    for (Operation &inner : fusion.getBody().front())
      if (tf32 && isa<MatmulOp, ConvOp, ConvTransposeOp, ConvWeightGradOp, AttentionOp,
                      AttentionTrainOp, AttentionGradOp>(inner))
        tolerance.ulps *= 512, tolerance.ofLargest *= 512;
    // If an intermediate value has a coarser type than the result, the tolerance is that of the
    // coarser type. The precision of operands is the same for kernel and reference.
    double coarsest = 0, finest = 1;
    for (Operation &op : fusion.getBody().front()) {
      bool yields = isa<YieldOp>(op);
      for (Value v : yields ? ValueRange(op.getOperands()) : ValueRange(op.getResults())) {
        Type element = cast<RankedTensorType>(v.getType()).getElementType();
        double epsilon = element.isBF16()  ? 0x1p-7
                         : element.isF16() ? 0x1p-10
                         : element.isF32() ? 0x1p-23
                                           : 0;
        coarsest = std::max(coarsest, epsilon);
        if (yields && epsilon > 0)
          finest = std::min(finest, epsilon);
      }
    }
    if (coarsest > finest) {
      tolerance.ulps *= coarsest / finest;
      tolerance.ofLargest *= coarsest / finest;
    }
    return tolerance;
  }

  static constexpr const char *kAnyName = "name_of_a_kernel";
  const conformance::Case &c;
  bool tf32;
  std::vector<Unit> &units;
  Texts &texts;
  function_ref<void(const std::string &, const std::string &)> failed;
};

} // namespace

void collectUnits(MLIRContext &context, ArrayRef<conformance::Case> cases, bool tf32,
                  std::vector<Unit> &units,
                  function_ref<void(const std::string &, const std::string &)> failed) {
  Texts texts;
  for (const conformance::Case &c : cases) {
    auto batch = conformance::buildBatch(context, c);
    if (mlir::failed(batch)) {
      failed(c.name(), "is not well formed");
      continue;
    }
    PassManager passes(&context);
    passes.addPass(createPlacePass({.device = "cuda:0"}));
    passes.addPass(createExpandQuantizedPass());
    passes.addPass(createPackIntegersPass());
    passes.addPass(createDecomposePass());
    passes.addPass(createExcessPrecisionPass());
    passes.addPass(createFusePass());
    if (mlir::failed(passes.run(*batch->module))) {
      failed(c.name(), "does not compile up to fusions");
      continue;
    }
    auto main = batch->module->lookupSymbol<func::FuncOp>("main");
    llvm::DenseMap<Value, ref::Tensor> values;
    for (auto [argument, tensor] : llvm::zip(main.getArguments(), batch->inputs))
      values[argument] = tensor.withType(cast<RankedTensorType>(argument.getType()));
    if (mlir::failed(Collector(c, tf32, units, texts, failed).walk(main.front(), values)))
      failed(c.name(), "the reference fails");
  }
}

} // namespace dlc::cudatest
