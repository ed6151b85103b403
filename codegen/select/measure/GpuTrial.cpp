//===- GpuTrial.cpp - one operation on a GPU, timed by the GPU's own clock ---===//
#include "codegen/select/measure/GpuTrial.h"

#include "codegen/lower/Lower.h"
#include "codegen/memory/Memory.h"
#include "codegen/native/Build.h"
#include "runtime/device/Device.h"
#include "runtime/device/cuda/Loader.h"
#include "runtime/device/cuda/Nvrtc.h"
#include "runtime/session/Binder.h"
#include "runtime/session/Session.h"

#include "mlir/IR/BuiltinOps.h"

#include <exception>

using namespace mlir;

namespace dlc {

namespace {

using runtime::BoundArray;

class GpuTrial : public Trial {
public:
  bool make(ModuleOp module, Operation *op, const std::string &name, const TrialOperands &operands,
            const TrialConditions &conditions, std::string &reason) {
    CompileOptions quiet = conditions.options;
    quiet.progress = nullptr;
    quiet.afterPhase = nullptr;
    if (failed(lowerToExec(module, quiet, conditions.target)) || failed(planMemory(module)) ||
        failed(verifyMemory(module)))
      return false;
    auto built = buildProgram(module, quiet, conditions.target);
    if (failed(built))
      return false;
    try {
      device = &runtime::openDevice(*runtime::parseDeviceName(name));
      session = std::make_unique<runtime::Session>(*built);
      for (const ref::Tensor &tensor : operands.tensors)
        if (tensor)
          inputs.push_back(onDevice(tensor.data(), tensor.bytes()));
      for (Type type : op->getResultTypes()) {
        auto tensor = cast<RankedTensorType>(type);
        outputs.push_back(
            ref::Tensor::empty(RankedTensorType::get(tensor.getShape(), tensor.getElementType())));
        wanted.push_back(onDevice(nullptr, outputs.back().bytes()));
      }
      for (auto [number, command] : llvm::enumerate(session->commands()))
        if (command.op == "launch" || command.op == "library" || command.op == "fill" ||
            command.op == "copy")
          work.insert(unsigned(number));
      return true;
    } catch (const std::exception &error) {
      reason = error.what();
      return false;
    }
  }

  bool run(std::string &reason) override {
    try {
      session->runOn(inputs, wanted);
      for (auto [to, from] : llvm::zip(outputs, wanted))
        if (to.bytes())
          runtime::copyBytes(to.mutableData(), home(), from.data, *device, uint64_t(to.bytes()));
      return true;
    } catch (const std::exception &error) {
      reason = error.what();
      return false;
    }
  }

  /// Measures the time between events before and after each command in its stream. The host's work
  /// between launches is not included, since a CUDA graph of the whole program would avoid it.
  std::optional<TimeSample> sample(int repeats, std::string &reason) override {
    double nanoseconds = 0;
    try {
      session->setTrace(true);
      for (int i = 0; i < repeats; ++i)
        session->runOn(inputs, wanted);
      for (const runtime::TraceEvent &event : session->takeTrace())
        if (work.count(event.command))
          nanoseconds += double(event.endNs - event.startNs);
      session->setTrace(false);
    } catch (const std::exception &error) {
      reason = error.what();
      return std::nullopt;
    }
    return TimeSample{nanoseconds * 1e-3 / repeats, false};
  }

  std::vector<ref::Tensor> &results() override { return outputs; }
  uint64_t workspace() const override { return session->memory().arenaBytes; }

private:
  static runtime::Device &home() { return runtime::hostDevice(); }

  BoundArray onDevice(const void *data, int64_t bytes) {
    memory.emplace_back(*device, uint64_t(std::max<int64_t>(bytes, 1)),
                        "an operand of a measurement");
    if (data && bytes)
      runtime::copyBytes(memory.back().data(), *device, data, home(), uint64_t(bytes));
    return {memory.back().data(), device};
  }

  runtime::Device *device = nullptr;
  std::unique_ptr<runtime::Session> session;
  std::vector<runtime::DeviceMemory> memory;
  std::vector<BoundArray> inputs, wanted;
  std::vector<ref::Tensor> outputs;
  std::set<unsigned> work;
};

} // namespace

std::unique_ptr<Trial> createGpuTrial(ModuleOp module, Operation *op, const std::string &device,
                                      const TrialOperands &operands,
                                      const TrialConditions &conditions, std::string &reason) {
  auto trial = std::make_unique<GpuTrial>();
  if (!trial->make(module, op, device, operands, conditions, reason))
    return nullptr;
  return trial;
}

bool addGpuProperties(const std::string &device, NamedValues &machine, NamedValues &versions) {
  try {
    dlc_device_properties found =
        runtime::openDevice(*runtime::parseDeviceName(device)).properties();
    machine = {{"gpu", found.name},
               {"capability", std::to_string(found.major) + "." + std::to_string(found.minor)},
               {"multiprocessors", std::to_string(found.multiprocessors)}};
  } catch (const std::exception &) {
    return false;
  }
  int driver = 0;
  using DriverVersion = int (*)(int *);
  if (auto ask = reinterpret_cast<DriverVersion>(
          cuda::loadLibrary(cuda::Library::Driver).symbol("cuDriverGetVersion")))
    ask(&driver);
  versions["driver"] = std::to_string(driver);
  versions["nvrtc"] = cuda::nvrtcVersion();
  for (auto &[library, version] : cuda::getLibraryVersions())
    versions[library] = version;
  versions.erase("library");
  return true;
}

} // namespace dlc
