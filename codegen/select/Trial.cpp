//===- Trial.cpp - one operation with one kernel, ready to be timed -------===//
#include "codegen/select/Trial.h"

#include "codegen/lower/Lower.h"
#include "codegen/memory/Memory.h"
#include "codegen/native/Build.h"
#include "codegen/select/Select.h"
#include "ir/exec/Exec.h"
#include "runtime/program/Program.h"
#include "runtime/session/Session.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

#include <exception>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

using namespace mlir;

namespace dlc {

namespace {

RankedTensorType plainType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return RankedTensorType::get(tensor.getShape(), tensor.getElementType());
}

/// A layout that pads holds more than a tensor of its shape does; callers of programs cannot give one.
bool isPadded(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return storageBytes(tensor) != tensor.getNumElements() * ref::elementBytes(tensor.getElementType());
}

/// Numbers as activations have them; integers small, so that they are indices into almost anything.
ref::Tensor randomTensor(Type type, uint64_t seed) {
  ref::Tensor tensor = ref::Tensor::empty(plainType(type));
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

/// module { func @main(operands that are not constant) { op } }
OwningOpRef<ModuleOp> wrap(Operation *op, const Candidate &candidate) {
  MLIRContext *context = op->getContext();
  Location loc = op->getLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  OpBuilder b(context);
  b.setInsertionPointToEnd(module->getBody());
  SmallVector<Type> inputs;
  for (Value operand : op->getOperands())
    if (!operand.getDefiningOp<ConstantOp>())
      inputs.push_back(operand.getType());
  auto function = func::FuncOp::create(b, loc, "main", b.getFunctionType(inputs, op->getResultTypes()));
  Block *block = function.addEntryBlock();
  b.setInsertionPointToEnd(block);
  IRMapping map;
  unsigned next = 0;
  for (Value operand : op->getOperands()) {
    if (auto constant = operand.getDefiningOp<ConstantOp>()) {
      if (!map.contains(operand))
        b.clone(*constant, map);
    } else {
      // An operand given twice is two arguments: any of them is it.
      map.map(operand, block->getArgument(next++));
    }
  }
  Operation *copy = b.clone(*op, map);
  copy->setAttr(kKernelAttr, b.getStringAttr(candidate.kernel));
  if (candidate.kernel == "onednn")
    copy->setAttr(kImplementationAttr, b.getStringAttr(candidate.implementation));
  func::ReturnOp::create(b, loc, copy->getResults());
  return module;
}

} // namespace

TrialOperands::TrialOperands(Operation *op) {
  for (Value operand : op->getOperands())
    tensors.push_back(operand.getDefiningOp<ConstantOp>() ? ref::Tensor() : randomTensor(operand.getType(), tensors.size() + 1));
}

/// The context would keep the bytes for as long as it lives itself.
void Trial::releasePacked() {
  if (packed.empty())
    return;
  auto *resources = context->getLoadedDialect<BuiltinDialect>()->getRegisteredInterface<ResourceBlobManagerDialectInterface>();
  for (const std::string &name : packed)
    resources->getBlobManager().update(name, AsmResourceBlob());
}

Trial::~Trial() {
  session.reset();
  program.reset();
  releasePacked();
}

std::unique_ptr<Trial> Trial::create(Operation *op, const Candidate &candidate, const TrialOperands &operands,
                                     const CompileOptions &options, const cpu::Target &target, std::string &reason) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value v : values)
      if (isPadded(v.getType())) {
        reason = "not measured: a layout that pads";
        return nullptr;
      }
  ScopedDiagnosticHandler handler(op->getContext(), [&](Diagnostic &diagnostic) {
    reason += (reason.empty() ? "" : "; ") + diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = wrap(op, candidate);
  CompileOptions quiet = options;
  quiet.progress = nullptr;
  quiet.afterPhase = nullptr;
  std::unique_ptr<Trial> trial(new Trial);
  if (failed(lowerToExec(*module, quiet, target)) || failed(planMemory(*module)) || failed(verifyMemory(*module)))
    return nullptr;
  trial->context = op->getContext();
  module->walk([&](exec::ConstantOp constant) {
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant.getValue()); resource && constant.getLayout())
      trial->packed.push_back(resource.getRawHandle().getKey().str());
  });
  auto built = buildProgram(*module, quiet, target);
  if (failed(built))
    return nullptr;
  trial->program = *built;
  try {
    trial->session = std::make_unique<runtime::Session>(trial->program, runtime::SessionOptions{options.threads});
  } catch (const std::exception &error) {
    reason = error.what();
    return nullptr;
  }
  for (const ref::Tensor &tensor : operands.tensors)
    if (tensor)
      trial->inputs.push_back(tensor);
  for (Type type : op->getResultTypes())
    trial->outputs.push_back(ref::Tensor::empty(plainType(type)));
  for (const ref::Tensor &tensor : trial->inputs)
    trial->inputPointers.push_back(tensor.data());
  for (ref::Tensor &tensor : trial->outputs)
    trial->outputPointers.push_back(tensor.mutableData());
  return trial;
}

bool Trial::run(std::string &reason) {
  try {
    session->run(inputPointers, outputPointers);
    return true;
  } catch (const std::exception &error) {
    reason = error.what();
    return false;
  }
}

void Trial::coolConstants() const {
#ifdef __SSE2__
  for (const runtime::Span &span : program->constants) {
    auto *bytes = static_cast<const char *>(span.data);
    for (size_t at = 0; at < span.bytes; at += 64)
      _mm_clflush(bytes + at);
  }
  _mm_mfence();
#endif
}

} // namespace dlc
