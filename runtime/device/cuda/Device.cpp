//===- Device.cpp - device table; opening and closing of devices -------------===//
#include "runtime/device/cuda/Device.h"

#include "runtime/device/cuda/Loader.h"
#include "runtime/device/cuda/Nvrtc.h"

#include "dlc/Export.h"

#include <cstdio>

namespace dlc::cuda {

namespace {

/// Returns whether the error corrupts the CUDA context, so that every later call fails with the
/// same error.
bool isContextLost(Result result) {
  switch (result) {
  case IllegalAddress:
  case LaunchTimeout:
  case HardwareStack:
  case IllegalInstruction:
  case MisalignedAddress:
  case LaunchFailed:
    return true;
  default:
    return false;
  }
}

int countDevices(char *error, size_t size) {
  const Driver &d = driver();
  int devices = 0;
  if (!d.error.empty()) {
    ErrorBuffer{error, size}.fail(d.error);
    return 0;
  }
  d.deviceCount(&devices);
  return devices;
}

int getAttribute(const Device &device, DeviceAttribute which) {
  int value = 0;
  driver().deviceAttribute(&value, which, device.ordinal);
  return value;
}

int open(int index, void **to, char *error, size_t size) {
  ErrorBuffer report{error, size};
  const Driver &d = driver();
  *to = nullptr;
  if (!d.error.empty())
    return report.fail("device cuda:" + std::to_string(index) + " not found: " + d.error);
  int devices = 0;
  d.deviceCount(&devices);
  if (index < 0 || index >= devices)
    return report.fail("device cuda:" + std::to_string(index) + " not found: this machine has " +
                       std::to_string(devices) + (devices == 1 ? " GPU" : " GPUs") +
                       ", up to cuda:" + std::to_string(devices - 1));
  auto device = std::make_unique<Device>();
  device->index = index;
  if (int failed = report.check(d.deviceGet(&device->ordinal, index), *device, "be opened"))
    return failed;
  if (int failed =
          report.check(d.contextRetain(&device->context, device->ordinal), *device, "be opened"))
    return failed;
  device->architecture = "sm_" + std::to_string(getAttribute(*device, CapabilityMajor)) +
                         std::to_string(getAttribute(*device, CapabilityMinor));
  device->sharedLimit = getAttribute(*device, MaxSharedOptIn);
  *to = device.release();
  return 0;
}

void close(void *device) {
  if (!device)
    return;
  driver().contextRelease(deviceOf(device).ordinal);
  delete &deviceOf(device);
}

int getProperties(void *handle, dlc_device_properties *to, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  *to = {};
  size_t free = 0, total = 0;
  if (int failed = report.check(driver().deviceName(to->name, sizeof(to->name), device.ordinal),
                                device, "report its name"))
    return failed;
  if (int failed = report.check(driver().memoryInfo(&free, &total), device, "report its memory"))
    return failed;
  to->total_bytes = total;
  to->free_bytes = free;
  to->major = getAttribute(device, CapabilityMajor);
  to->minor = getAttribute(device, CapabilityMinor);
  to->multiprocessors = getAttribute(device, Multiprocessors);
  return 0;
}

/// Writes a report of the libraries that were found, their paths, and the driver's state.
void writeLibraryReport(char *text, size_t size) {
  std::string all = formatLibraryReport();
  const Driver &d = driver();
  if (d.version)
    all += "driver: for CUDA " + versionText(d.version) + "\n";
  if (std::string version = nvrtcVersion(); !version.empty())
    all += "NVRTC: " + version + "\n";
  if (!d.error.empty() && loadLibrary(Library::Driver))
    all += d.error + "\n";
  ErrorBuffer{text, size}.fail(all);
}

} // namespace

int ErrorBuffer::check(Result result, const Device &device, const char *what) const {
  if (result == Success)
    return 0;
  std::string text = device.name() + " cannot " + what + ": " + getErrorName(result);
  if (isContextLost(result))
    text += "; an earlier kernel failed, and this process cannot use the device any more; run the "
            "process with compute-sanitizer to find that kernel";
  return fail(text);
}

std::string formatBytes(uint64_t bytes) {
  const char *units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit)
    value /= 1024;
  char text[64];
  std::snprintf(text, sizeof(text), unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}

} // namespace dlc::cuda

extern "C" DLC_EXPORT const dlc_device_table *dlc_cuda_device_table(char *, size_t) {
  using namespace dlc::cuda;
  static const dlc_device_table table = [] {
    dlc_device_table t = {};
    t.version = DLC_DEVICE_TABLE_VERSION;
    t.kind = "cuda";
    t.capabilities = DLC_DEVICE_GPU_CODE | DLC_DEVICE_GRAPHS | DLC_DEVICE_PINNED;
    t.figures = {.gigaflops = 20000,
                 .gigabytes = 1200,
                 .launch = 5,
                 .host_gigabytes = 12,
                 .host_latency = 10,
                 .peer_gigabytes = 20,
                 .peer_latency = 10};
    t.count = countDevices;
    t.open = open;
    t.close = close;
    t.properties = getProperties;
    t.report = writeLibraryReport;
    setMemoryFunctions(t);
    setStreamFunctions(t);
    setModuleFunctions(t);
    setGraphFunctions(t);
    setLibraryFunctions(t);
    setNcclFunctions(t);
    return t;
  }();
  return &table;
}
