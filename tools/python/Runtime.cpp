// the module dlc._runtime: runs programs without the compiler
#include "dlc/MemoryError.h"
#include "dlc/dlc.h"
#include "runtime/device/Device.h"
#include "tools/python/Raise.h"
#include "tools/python/Runner.h"
#include "tools/python/Watch.h"
#include "tools/python/World.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;

namespace dlc::python {

using DeviceTuple = std::tuple<std::string, std::string, uint64_t, uint64_t, int, int, int>;

static std::vector<DeviceTuple> listDevices() {
  nb::gil_scoped_release released;
  std::vector<DeviceTuple> list;
  for (const std::string &kind : runtime::deviceKinds()) {
    int count = runtime::deviceCount(kind);
    for (int i = 0; i < count; ++i) {
      runtime::DeviceName name{kind, i};
      dlc_device_properties p = runtime::openDevice(name).properties();
      list.emplace_back(name.text(), p.name, p.total_bytes, p.free_bytes, p.multiprocessors,
                        p.major, p.minor);
    }
  }
  return list;
}

} // namespace dlc::python

NB_MODULE(_runtime, module) {
  // Leak warnings are disabled because PyTorch retains compiled graphs until the process ends,
  // after the interpreter has been finalized.
  nanobind::set_leak_warnings(false);
  using namespace dlc::python;
  bindValue(module);
  bindSession(module);
  bindDevice(module);
  bindRunner(module);
  bindWatch(module);
  bindWorld(module);
  nb::register_exception_translator([](const std::exception_ptr &given, void *) {
    try {
      std::rethrow_exception(given);
    } catch (const dlc::MemoryError &error) {
      dlc::python::setError(PyExc_MemoryError, error.what());
    }
  });
  module.def("version", [] { return std::string(dlc_version()); });
  module.def("devices", listDevices);
}
