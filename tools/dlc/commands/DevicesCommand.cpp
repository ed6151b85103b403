//===- DevicesCommand.cpp - dlc devices: lists the devices of this machine --------------------===//
#include "tools/dlc/Options.h"

#include "runtime/device/Device.h"

#include <cstdio>

namespace dlc::cli {

namespace {

void printDevice(const runtime::DeviceName &name) {
  dlc_device_properties p = runtime::openDevice(name).properties();
  std::printf("%-8s %s", name.text().c_str(), p.name);
  if (p.major)
    std::printf(", capability %d.%d, %d multiprocessors", p.major, p.minor, p.multiprocessors);
  else
    std::printf(", %d cores", p.multiprocessors);
  std::printf(", %s, %s free\n", bytesText(static_cast<double>(p.total_bytes)).c_str(),
              bytesText(static_cast<double>(p.free_bytes)).c_str());
}

} // namespace

int devicesCommand() {
  std::string reports;
  for (const std::string &kind : runtime::deviceKinds()) {
    std::string why;
    int count = runtime::deviceCount(kind, &why);
    for (int i = 0; i < count; ++i)
      printDevice({kind, i});
    if (count == 0)
      std::printf("%-8s none: %s\n", kind.c_str(), why.c_str());
    reports += runtime::describeLibraries(kind);
  }
  std::printf("\n%s", reports.c_str());
  return 0;
}

} // namespace dlc::cli
