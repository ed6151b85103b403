//===- Target.cpp - the GPU that kernels are made for ----------------------===//
#include "codegen/cuda/Target.h"

#include "runtime/device/Device.h"

#include <cstdlib>
#include <cstring>

namespace dlc::cuda {

namespace {

/// What the largest GPU of an architecture has. A kernel runs with any number; this one decides
/// into how many parts work is cut.
int usualMultiprocessors(int version) {
  switch (version) {
  case 75:
    return 72;
  case 80:
    return 108;
  case 86:
    return 84;
  case 89:
    return 142;
  case 100:
  case 103:
    return 148;
  case 120:
    return 188;
  default:
    return 132;
  }
}

std::optional<GpuTarget> parseArch(const std::string &arch, std::string &why) {
  char *end = nullptr;
  long version = arch.compare(0, 3, "sm_") == 0 ? std::strtol(arch.c_str() + 3, &end, 10) : 0;
  std::string suffix = end ? end : "";
  if (version < 75 || version > 999 || (suffix != "" && suffix != "a" && suffix != "f")) {
    why = "the architecture of a GPU must be sm_75 or later, as in sm_90a; found '" + arch + "'";
    return std::nullopt;
  }
  return GpuTarget{arch, usualMultiprocessors(int(version))};
}

} // namespace

int64_t sharedBytesOf(const std::string &arch) {
  int version = std::atoi(arch.c_str() + std::strlen("sm_"));
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

std::optional<GpuTarget> targetOf(const std::string &device, const std::string &asked,
                                  std::string &why) {
  if (!asked.empty())
    return parseArch(asked, why);
  try {
    dlc_device_properties found =
        runtime::openDevice(*runtime::parseDeviceName(device)).properties();
    std::string arch = "sm_" + std::to_string(found.major) + std::to_string(found.minor);
    // With what it alone has.
    if (arch == "sm_90")
      arch += "a";
    return GpuTarget{arch, found.multiprocessors};
  } catch (const std::exception &error) {
    why = std::string(error.what()) +
          "; to compile for a GPU that is elsewhere, say which: --gpu-arch sm_90";
    return std::nullopt;
  }
}

} // namespace dlc::cuda
