//===- bad_device.cpp - device plugin with a wrong version, name or functions ---===//
#include <dlc/device.h>

#ifndef VERSION
#define VERSION DLC_DEVICE_TABLE_VERSION
#endif

extern "C" const dlc_device_table *ENTRY(char *, size_t) {
  static dlc_device_table table = {};
  table.version = VERSION;
  table.kind = KIND;
  table.capabilities = DLC_DEVICE_HOST_CODE;
  return &table;
}
