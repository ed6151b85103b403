//===- Target.cpp - the GPU that kernels are generated for ----------------===//
#include "codegen/cuda/Target.h"

#include "runtime/device/Device.h"
#include "runtime/device/cuda/Loader.h"

#include <cstdlib>
#include <cstring>

namespace dlc::cuda {

namespace {

/// Queries the CUDA driver for properties of the device that dlc_device_properties lacks.
GpuDeviceProperties queryDriverProperties(const std::string &device) {
  using Ask = int (*)(int *, int, int);
  auto ask = reinterpret_cast<Ask>(loadLibrary(Library::Driver).symbol("cuDeviceGetAttribute"));
  auto number = [&, ordinal = runtime::parseDeviceName(device)->ordinal](int attribute) {
    int value = 0;
    return ask && ask(&value, attribute, ordinal) == 0 ? double(value) : 0.0;
  };
  // Values of the enum CUdevice_attribute. Clock rates are in kHz and the bus width in bits; memory
  // transfers data twice per clock.
  constexpr int kClock = 13, kMemoryClock = 36, kBus = 37;
  GpuDeviceProperties found;
  found.gigahertz = number(kClock) * 1e-6;
  found.gigabytes = number(kMemoryClock) * 1e-6 * 2 * number(kBus) / 8;
  return found;
}

std::optional<GpuTarget> parseArch(const std::string &arch, std::string &why) {
  char *end = nullptr;
  long version = arch.compare(0, 3, "sm_") == 0 ? std::strtol(arch.c_str() + 3, &end, 10) : 0;
  std::string suffix = end ? end : "";
  if (version < 75 || version > 999 || (suffix != "" && suffix != "a" && suffix != "f")) {
    why = "the architecture of a GPU must be sm_75 or later, as in sm_90a; found '" + arch + "'";
    return std::nullopt;
  }
  return GpuTarget{arch, usualGpu(int(version))};
}

} // namespace

static int parseSmVersion(const std::string &arch) {
  return std::atoi(arch.c_str() + std::strlen("sm_"));
}

int64_t getSharedMemoryBytes(const std::string &arch) {
  int version = parseSmVersion(arch);
  int64_t kilobytes = 99;
  if (version == 75)
    kilobytes = 64;
  else if (version == 80 || version == 87)
    kilobytes = 163;
  else if (version >= 90 && version < 120)
    kilobytes = 227;
  return kilobytes << 10;
}

bool hasWarpgroups(const std::string &arch) { return arch == "sm_90a"; }

bool multipliesBytes(const std::string &arch) { return parseSmVersion(arch) >= 80; }

std::optional<GpuTarget> targetOf(const std::string &device, const std::string &asked,
                                  std::string &why) {
  if (!asked.empty())
    return parseArch(asked, why);
  try {
    dlc_device_properties found =
        runtime::openDevice(*runtime::parseDeviceName(device)).properties();
    GpuDeviceProperties more = queryDriverProperties(device);
    more.multiprocessors = found.multiprocessors;
    int version = found.major * 10 + found.minor;
    std::string arch = "sm_" + std::to_string(version);
    // The image is only for this device, so it may use instructions that later architectures lack
    // ("sm_90a").
    if (hasWarpgroups(arch + "a"))
      arch += "a";
    return GpuTarget{arch, getGpuParameters(version, more)};
  } catch (const std::exception &error) {
    why = std::string(error.what()) +
          "; to compile for the GPU of another machine, name its architecture, as in --gpu-arch "
          "sm_90";
    return std::nullopt;
  }
}

} // namespace dlc::cuda
