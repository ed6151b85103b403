//===- Trial.cpp - one operation with one kernel, ready to be timed -------===//
#include "codegen/select/measure/Trial.h"

#include "codegen/lower/GpuKernel.h"
#include "codegen/lower/Lower.h"
#include "codegen/memory/Memory.h"
#include "codegen/native/Build.h"
#include "codegen/select/measure/GpuTrial.h"
#include "codegen/select/measure/RunQueueDelay.h"
#include "ir/exec/Exec.h"
#include "passes/ConstantRewrites.h"
#include "runtime/program/Program.h"
#include "runtime/session/Session.h"
#include "runtime/simd/arch/FlushCache.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

#include <chrono>
#include <exception>

using namespace mlir;

namespace dlc {

namespace {

RankedTensorType getRowMajorType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

/// Returns true if the type's layout has padding. Such a tensor has more bytes than a row-major
/// tensor of the same shape, which is all that callers of programs can pass.
bool isPadded(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return storageBytes(tensor) != ref::storageBytes(tensor);
}

/// Returns random values similar to activations. Integers are 0 or 1, so that they are valid
/// indices for almost all operations.
ref::Tensor randomTensor(Type type, uint64_t seed) {
  ref::Tensor tensor = ref::Tensor::empty(getRowMajorType(type));
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    double uniform = double(state >> 11) * 0x1p-53;
    if (tensor.isFloat())
      tensor.setDouble(i, uniform * 2 - 1);
    else
      tensor.setInt(i, uniform < 0.5);
  }
  return tensor;
}

/// Returns group ends that distribute the rows of the first operand evenly over the groups of a
/// grouped matmul.
ref::Tensor makeEvenGroupEnds(Operation *op, Value ends) {
  ref::Tensor tensor = ref::Tensor::empty(getRowMajorType(ends.getType()));
  int64_t rows = cast<RankedTensorType>(op->getOperand(0).getType()).getDimSize(0);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor.setInt(i, rows * (i + 1) / tensor.size());
  return tensor;
}

class HostTrial : public Trial {
public:
  HostTrial(MLIRContext *context, bool coldWeights) : context(context), coldWeights(coldWeights) {}
  ~HostTrial() override {
    session.reset();
    program.reset();
    releasePacked();
  }

  bool make(ModuleOp module, Operation *op, const TrialOperands &operands,
            const TrialConditions &conditions, std::string &reason);

  bool run(std::string &reason) override {
    try {
      session->run(inputPointers, outputPointers);
      return true;
    } catch (const std::exception &error) {
      reason = error.what();
      return false;
    }
  }
  std::vector<ref::Tensor> &results() override { return outputs; }
  uint64_t workspace() const override { return session->memory().scratchBytes; }
  bool repeatable() const override { return !coldWeights; }

  std::optional<TimeSample> sample(int repeats, std::string &reason) override {
    using Clock = std::chrono::steady_clock;
    // The caches contain the operands of the previous candidate. Before a short run, a warm-up run
    // loads this candidate's operands, since in a model they were just computed.
    if (lastMicroseconds < kShort && !run(reason))
      return std::nullopt;
    if (coldWeights)
      coolConstants();
    double inLine = runQueueDelay();
    auto start = Clock::now();
    for (int i = 0; i < repeats; ++i)
      if (!run(reason))
        return std::nullopt;
    double time = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    lastMicroseconds = time;
    return TimeSample{time / repeats, runQueueDelay() - inLine > 3 + 0.02 * time};
  }

private:
  static constexpr double kShort = 5000;

  void coolConstants() const;
  void releasePacked();

  MLIRContext *context;
  bool coldWeights;
  double lastMicroseconds = 0;
  std::shared_ptr<runtime::Program> program;
  std::unique_ptr<runtime::Session> session;
  std::vector<ref::Tensor> inputs, outputs;
  std::vector<std::string> packed; ///< names of weights that were packed for this trial
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
};

/// Releases weights that were packed for this trial, which the MLIR context would otherwise keep
/// until it is destroyed.
void HostTrial::releasePacked() {
  if (packed.empty())
    return;
  auto *resources = context->getLoadedDialect<BuiltinDialect>()
                        ->getRegisteredInterface<ResourceBlobManagerDialectInterface>();
  for (const std::string &name : packed)
    resources->getBlobManager().update(name, AsmResourceBlob());
}

bool HostTrial::make(ModuleOp module, Operation *op, const TrialOperands &operands,
                     const TrialConditions &conditions, std::string &reason) {
  CompileOptions quiet = conditions.options;
  quiet.progress = nullptr;
  quiet.afterPhase = nullptr;
  if (failed(lowerToExec(module, quiet, conditions.target)) || failed(planMemory(module)) ||
      failed(verifyMemory(module)))
    return false;
  module.walk([&](exec::ConstantOp constant) {
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue());
        resource && constant.getLayout())
      packed.push_back(resource.getRawHandle().getKey().str());
  });
  auto built = buildProgram(module, quiet, conditions.target);
  if (failed(built))
    return false;
  program = *built;
  try {
    session = std::make_unique<runtime::Session>(program, runtime::SessionOptions{quiet.threads});
  } catch (const std::exception &error) {
    reason = error.what();
    return false;
  }
  for (const ref::Tensor &tensor : operands.tensors)
    if (tensor)
      inputs.push_back(tensor);
  for (Type type : op->getResultTypes())
    outputs.push_back(ref::Tensor::empty(getRowMajorType(type)));
  for (const ref::Tensor &tensor : inputs)
    inputPointers.push_back(tensor.data());
  for (ref::Tensor &tensor : outputs)
    outputPointers.push_back(tensor.mutableData());
  return true;
}

void HostTrial::coolConstants() const {
  for (const runtime::Span &span : program->constants)
    simd::flushCache(span.data, span.bytes);
  simd::fenceFlushes();
}

} // namespace

OwningOpRef<ModuleOp> wrapInModule(Operation *op) {
  MLIRContext *context = op->getContext();
  Location loc = op->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  copyAccuracy(op, *module);
  OpBuilder b(context);
  b.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<ConstantOp>())
      inputs.push_back(operand.getType());
  auto function =
      func::FuncOp::create(b, loc, "main", b.getFunctionType(inputs, op->getResultTypes()));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  IRMapping map;
  unsigned next = 0;
  for (Value operand : op->getOperands()) {
    if (auto constant = operand.getDefiningOp<ConstantOp>()) {
      if (!map.contains(operand))
        b.clone(*constant, map);
    } else {
      // An operand that is used twice has two function arguments with the same value, either of
      // which may be used.
      map.map(operand, block->getArgument(next++));
    }
  }
  Operation *copy = b.clone(*op, map);
  func::ReturnOp::create(b, loc, copy->getResults());
  return module;
}

TrialOperands::TrialOperands(Operation *op) {
  // An operand that is used twice is represented by the same tensor.
  llvm::DenseMap<Value, ref::Tensor> known;
  for (Value operand : op->getOperands()) {
    auto [at, isNew] = known.try_emplace(operand);
    bool isEnds = isa<GroupedMatmulOp, GroupedWeightGradOp>(op) && operand == op->getOperand(2);
    if (isNew && !operand.getDefiningOp<ConstantOp>())
      at->second = isEnds ? makeEvenGroupEnds(op, operand)
                          : randomTensor(operand.getType(), tensors.size() + 1);
    tensors.push_back(at->second);
  }
}

std::unique_ptr<Trial> createTrial(Operation *op, const Candidate &candidate,
                                   const TrialOperands &operands, const TrialConditions &conditions,
                                   std::string &reason) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value v : values)
      if (isPadded(v.getType())) {
        reason = "not measured: a layout with padding";
        return nullptr;
      }
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = wrapInModule(op);
  module->walk([&](func::ReturnOp end) {
    Operation *copy = end->getPrevNode();
    writeCandidates(copy, candidate);
  });
  if (std::string device = getEnclosingCommandDevice(op); isGpu(device))
    return createGpuTrial(*module, op, device, operands, conditions, reason);
  auto trial = std::make_unique<HostTrial>(op->getContext(), conditions.coldWeights);
  if (!trial->make(*module, op, operands, conditions, reason))
    return nullptr;
  return trial;
}

} // namespace dlc
