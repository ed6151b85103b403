//===- DevicesCommand.cpp - dlc devices: what this machine has to run on ------===//
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
  for (const char *kind : {"cpu", "cuda"}) {
    std::string why;
    int count = runtime::deviceCount(kind, &why);
    for (int i = 0; i < count; ++i)
      printDevice({kind, i});
    if (count == 0)
      std::printf("%-8s none: %s\n", kind, why.c_str());
  }
  std::printf("\n%s", runtime::describeLibraries("cuda").c_str());
  return 0;
}

} // namespace dlc::cli
