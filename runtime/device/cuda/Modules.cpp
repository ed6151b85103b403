//===- Modules.cpp - module loading and kernel launches ----------------------===//
#include "runtime/device/cuda/Device.h"

#include "runtime/device/cuda/Nvrtc.h"

#include <algorithm>

namespace dlc::cuda {

namespace {

/// Default limit in bytes of shared memory per thread block. A kernel that needs more must opt in
/// (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES) before its first launch.
constexpr uint32_t usualShared = 48 * 1024;

struct GpuFunction {
  FunctionHandle handle = nullptr;
  std::string name;
  int staticShared = 0;
  /// Bytes of dynamic shared memory for which the kernel has opted in, in addition to its static
  /// shared memory.
  std::atomic<uint32_t> allowedShared{0};
};

struct GpuModule {
  ModuleHandle handle = nullptr;
  std::mutex mutex;
  std::vector<std::unique_ptr<GpuFunction>> functions;
};

std::string suggestFix(const Device &device, Result result) {
  std::string text;
  if (result == NoBinary || result == InvalidImage || result == UnsupportedPtx) {
    text = "; the code was compiled for another architecture than " + device.architecture +
           "; compile the program for this device";
    if (std::string version = nvrtcVersion(); !version.empty())
      text += " (with NVRTC " + version + "; the driver is for CUDA " +
              versionText(driver().version) + ", which does not load code of later versions)";
  }
  return text;
}

int moduleLoad(void *handle, const void *image, uint64_t bytes, void **to, char *error,
               size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  *to = nullptr;
  if (!image || bytes == 0)
    return report.fail("a module for " + device.name() + " contains no code: found 0 bytes");
  CurrentContext current(device);
  char log[2048] = {};
  int options[] = {JitErrorLog, JitErrorLogBytes};
  void *values[] = {log, reinterpret_cast<void *>(sizeof(log))};
  // Pad the image with zeros. cuModuleLoadDataEx takes no length and reads as far as the image's
  // own headers say; the padding bounds the overread if the image is truncated.
  std::vector<char> padded(bytes + 64);
  std::memcpy(padded.data(), image, bytes);
  auto module = std::make_unique<GpuModule>();
  if (Result result = driver().moduleLoad(&module->handle, padded.data(), 2, options, values)) {
    std::string text = device.name() + " cannot load a module of " + formatBytes(bytes) + ": " +
                       getErrorName(result) + suggestFix(device, result);
    if (*log)
      text += std::string("\n") + log;
    return report.fail(text);
  }
  *to = module.release();
  return 0;
}

void moduleUnload(void *handle, void *pointer) {
  if (!pointer)
    return;
  CurrentContext current(deviceOf(handle));
  auto *module = static_cast<GpuModule *>(pointer);
  driver().moduleUnload(module->handle);
  delete module;
}

int getFunction(void *handle, void *pointer, const char *name, void **to, char *error,
                size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  auto *module = static_cast<GpuModule *>(pointer);
  *to = nullptr;
  CurrentContext current(device);
  auto made = std::make_unique<GpuFunction>();
  made->name = name;
  Result result = driver().moduleFunction(&made->handle, module->handle, name);
  if (result == NotFound)
    return report.fail(std::string("the module has no kernel '") + name + "' for " + device.name() +
                       "; the program is damaged; compile the model again");
  if (int failed = report.check(result, device, "find a kernel"))
    return failed;
  driver().functionAttribute(&made->staticShared, FunctionShared, made->handle);
  if (static_cast<uint32_t>(made->staticShared) < usualShared)
    made->allowedShared = usualShared - static_cast<uint32_t>(made->staticShared);
  std::lock_guard<std::mutex> guard(module->mutex);
  *to = made.get();
  module->functions.push_back(std::move(made));
  return 0;
}

std::string formatExtent(const uint32_t extent[3]) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

int raiseSharedMemoryLimit(const Device &device, GpuFunction &kernel, uint32_t shared,
                           const ErrorBuffer &report) {
  if (shared <= kernel.allowedShared.load(std::memory_order_relaxed))
    return 0;
  if (static_cast<int64_t>(shared) + kernel.staticShared > device.sharedLimit)
    return report.fail("kernel '" + kernel.name + "' requires " +
                       formatBytes(uint64_t{shared} + kernel.staticShared) +
                       " of shared memory per block; " + device.name() + " has " +
                       formatBytes(device.sharedLimit) + "; compile the program for this device");
  if (int failed = report.check(driver().setFunctionAttribute(kernel.handle, FunctionDynamicShared,
                                                              static_cast<int>(shared)),
                                device, "set the shared memory of a kernel"))
    return failed;
  kernel.allowedShared.store(shared, std::memory_order_relaxed);
  return 0;
}

int launch(void *handle, void *stream, void *pointer, const uint32_t grid[3],
           const uint32_t block[3], uint32_t shared, void **arguments, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  auto &kernel = *static_cast<GpuFunction *>(pointer);
  // Do nothing for an empty grid, for which the driver would return an error.
  if (std::count(grid, grid + 3, 0u))
    return 0;
  CurrentContext current(device);
  if (int failed = raiseSharedMemoryLimit(device, kernel, shared, report))
    return failed;
  Result result =
      driver().launch(kernel.handle, grid[0], grid[1], grid[2], block[0], block[1], block[2],
                      shared, static_cast<Stream>(stream), arguments, nullptr);
  if (result == Success)
    return 0;
  std::string what = "launch kernel '" + kernel.name + "' with a grid of " + formatExtent(grid) +
                     " blocks of " + formatExtent(block) + " threads and " + formatBytes(shared) +
                     " of dynamic shared memory";
  return report.check(result, device, what.c_str());
}

} // namespace

void setModuleFunctions(dlc_device_table &table) {
  table.module_load = moduleLoad;
  table.module_unload = moduleUnload;
  table.function = getFunction;
  table.launch = launch;
}

} // namespace dlc::cuda
