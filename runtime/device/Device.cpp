//===- Device.cpp - devices by name, and memory on them -----------------------===//
#include "runtime/device/Device.h"

#include "runtime/device/cpu/Table.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <memory>
#include <utility>

namespace dlc::runtime {

namespace {

/// What a kind's table is, or why there is none.
struct Backend {
  const dlc_device_table *table = nullptr;
  std::string why;
  /// Writes what libraries it found, where it has something to say.
  void (*report)(char *text, size_t size) = nullptr;
};

std::string folderOfThisLibrary() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void *>(&openDevice), &info) || !info.dli_fname)
    return "";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

void *openPlugin(std::string &why) {
  if (const char *named = std::getenv("DLC_CUDA_PLUGIN")) {
    void *library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      why = message("$DLC_CUDA_PLUGIN: ", dlerror());
    return library;
  }
  for (const std::string &path :
       {folderOfThisLibrary() + "libdlc_cuda.so", std::string("libdlc_cuda.so")}) {
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
    why = dlerror();
  }
  return nullptr;
}

Backend loadCuda() {
  Backend backend;
  void *library = openPlugin(backend.why);
  if (!library) {
    backend.why = "the plugin for CUDA cannot be loaded: " + backend.why;
    return backend;
  }
  auto function =
      reinterpret_cast<dlc_device_table_function>(dlsym(library, "dlc_cuda_device_table"));
  backend.report = reinterpret_cast<void (*)(char *, size_t)>(dlsym(library, "dlc_cuda_report"));
  char error[1024] = "it exports no dlc_cuda_device_table";
  backend.table = function ? function(error, sizeof error) : nullptr;
  if (!backend.table)
    backend.why = error;
  else if (backend.table->version != DLC_DEVICE_TABLE_VERSION)
    backend.why =
        message("the plugin for CUDA is of version ", backend.table->version,
                ", this runtime takes ", DLC_DEVICE_TABLE_VERSION, "; install the two together"),
    backend.table = nullptr;
  return backend;
}

const Backend &backendOf(const std::string &kind) {
  static const Backend cpu{cpuDeviceTable(), ""};
  if (kind == "cpu")
    return cpu;
  static const Backend cuda = loadCuda();
  return cuda;
}

} // namespace

int deviceCount(const std::string &kind, std::string *why) {
  if (kind != "cpu" && kind != "cuda") {
    if (why)
      *why = "there are no devices of kind '" + kind + "': cpu and cuda are";
    return 0;
  }
  const Backend &backend = backendOf(kind);
  char error[1024] = "";
  int count = backend.table ? backend.table->count(error, sizeof error) : 0;
  if (why)
    *why = backend.table ? error : backend.why;
  return count;
}

std::string describeLibraries(const std::string &kind) {
  const Backend &backend = backendOf(kind);
  if (!backend.report)
    return backend.why.empty() ? "" : backend.why + "\n";
  std::string text(16384, '\0');
  backend.report(text.data(), text.size());
  text.resize(std::strlen(text.c_str()));
  return text;
}

Device &openDevice(const DeviceName &name) {
  static std::mutex mutex;
  // Never destroyed: memory on a device may outlive every static object.
  static auto &open = *new std::map<std::string, std::unique_ptr<Device>>;
  std::lock_guard lock(mutex);
  std::unique_ptr<Device> &device = open[name.text()];
  if (device)
    return *device;
  std::string why;
  int count = deviceCount(name.kind, &why);
  if (name.ordinal >= count) {
    std::string text = name.text();
    open.erase(text);
    if (count == 0)
      fail("there is no device ", text, ": ", why.empty() ? "none was found" : why);
    fail("there is no device ", text, ": ", count, " of kind ", name.kind, " are here, ",
         DeviceName{name.kind, 0}.text(), " to ", DeviceName{name.kind, count - 1}.text(),
         name.isCpu() ? "; set DLC_CPU_DEVICES for more" : "");
  }
  const dlc_device_table *table = backendOf(name.kind).table;
  void *handle = nullptr;
  char error[1024] = "";
  if (table->open(name.ordinal, &handle, error, sizeof error) != 0) {
    std::string text = name.text();
    open.erase(text);
    fail("cannot open device ", text, ": ", error);
  }
  device = std::make_unique<Device>(name, *table, handle);
  return *device;
}

dlc_device_properties Device::properties() const {
  dlc_device_properties properties{};
  call(table.properties, &properties);
  return properties;
}

void *Device::copyStream() {
  std::lock_guard lock(mutex);
  if (!stream)
    call(table.stream_create, &stream);
  return stream;
}

int copyDirection(const Device &to, const Device &from) {
  return &from == &to        ? DLC_COPY_WITHIN
         : from.name.isCpu() ? DLC_COPY_HOST_TO_DEVICE
         : to.name.isCpu()   ? DLC_COPY_DEVICE_TO_HOST
                             : DLC_COPY_FROM_PEER;
}

void copyBytes(void *to, Device &toDevice, const void *from, Device &fromDevice, uint64_t bytes) {
  if (bytes == 0 || to == from)
    return;
  if (toDevice.name.isCpu() && fromDevice.name.isCpu()) {
    std::memmove(to, from, bytes);
    return;
  }
  Device &worker = toDevice.name.isCpu() ? fromDevice : toDevice;
  int direction = copyDirection(toDevice, fromDevice);
  void *peer = direction == DLC_COPY_FROM_PEER ? fromDevice.handle : nullptr;
  void *stream = worker.copyStream();
  worker.call(worker.table.copy, stream, to, from, bytes, direction, peer);
  worker.call(worker.table.stream_synchronize, stream);
}

DeviceMemory::DeviceMemory(Device &device, uint64_t bytes, const char *purpose) {
  if (bytes == 0)
    return;
  char error[1024] = "";
  if (device.table.allocate(device.handle, bytes, &address, error, sizeof error) != 0)
    fail(device.name.text(), ": cannot get ", bytes, " bytes for ", purpose, ": ", error);
  owner = &device;
  this->bytes = bytes;
  if (device.name.isCpu())
    return; // fresh mappings are zero
  void *stream = device.copyStream();
  device.call(device.table.fill, stream, address, uint8_t(0), bytes);
  device.call(device.table.stream_synchronize, stream);
}

DeviceMemory DeviceMemory::pinned(Device &gpu, uint64_t bytes, const char *purpose) {
  DeviceMemory memory;
  if (bytes == 0)
    return memory;
  char error[1024] = "";
  if (gpu.table.allocate_pinned(gpu.handle, bytes, &memory.address, error, sizeof error) != 0)
    fail("cpu: cannot get ", bytes, " bytes for ", purpose, ", pinned for ", gpu.name.text(), ": ",
         error);
  memory.owner = &gpu;
  memory.isPinned = true;
  memory.bytes = bytes;
  std::memset(memory.address, 0, bytes);
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (!address)
    return;
  auto release = isPinned ? owner->table.release_pinned : owner->table.release;
  release(owner->handle, address);
}

DeviceMemory &DeviceMemory::operator=(DeviceMemory &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(isPinned, other.isPinned);
  std::swap(address, other.address);
  std::swap(bytes, other.bytes);
  return *this;
}

} // namespace dlc::runtime
