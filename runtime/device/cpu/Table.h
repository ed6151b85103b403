//===- Table.h - the host and virtual devices with memory of their own --------===//
//
// cpu is the host. cpu:1, cpu:2 and so on run on it too, each with mappings of its own, so that
// what goes wrong with several devices goes wrong on any machine. Their streams are done as soon as
// they are given something; a session runs the kernels itself.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CPU_TABLE_H
#define DLC_RUNTIME_DEVICE_CPU_TABLE_H

#include "dlc/Export.h"
#include "runtime/device/Table.h"

namespace dlc::runtime {

/// $DLC_CPU_DEVICES says how many there are (8), $DLC_CPU_MEMORY how many bytes each virtual one
/// has.
const dlc_device_table *cpuDeviceTable();

/// Whether memory of a CPU device may be touched at all, by anybody: for finding who uses what is
/// not on his device.
DLC_EXPORT void protectCpuMemory(void *device, void *address, bool accessible);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_DEVICE_CPU_TABLE_H
