//===- Driver.cpp - emulated CUDA driver API ----------------------------------===//
//
// Emulation of libcuda.so.1, loaded if $DLC_CUDA_DRIVER names this library. Names, types and result
// codes are those of the CUDA driver. Only the functions that libdlc_cuda.so calls are implemented.
//
//===--------------------------------------------------------------------------===//
#include "test/emulator/Gpu.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

using namespace dlc_emulated;

namespace {

constexpr int sharedLimit = 227 * 1024;
constexpr uint64_t blockLimit = 1024;

struct Event {
  std::shared_ptr<Moment> moment;
};
struct StreamHandle {
  std::shared_ptr<StreamState> state;
};

thread_local std::vector<Device *> contexts;

/// Lock that all calls hold, except the few that are valid before cuInit.
struct Call {
  std::lock_guard<std::mutex> guard{gpu().mutex};
};

Device *current() { return contexts.empty() ? nullptr : contexts.back(); }

/// Returns the stream of a handle. The handles 0 and 1 denote the default stream of the current
/// context's device, and 2 the default stream of the calling thread. Unlike CUDA's legacy default
/// stream, these streams do not wait for other streams.
const std::shared_ptr<StreamState> &stateOf(const StreamHandle *stream) {
  const auto number = reinterpret_cast<uintptr_t>(stream);
  if (number > 2)
    return stream->state;
  static thread_local std::map<int, std::shared_ptr<StreamState>> ofThread;
  static std::map<int, std::shared_ptr<StreamState>> ofDevice;
  const int device = current()->index;
  std::shared_ptr<StreamState> &state = number == 2 ? ofThread[device] : ofDevice[device];
  if (!state)
    state = gpu().scheduler.createDefault(device);
  return state;
}

Device &deviceOf(const StreamHandle *stream) { return *gpu().devices[stateOf(stream)->device]; }

Result enqueue(StreamHandle *stream, std::function<Result()> work) {
  if (gpu().ignoresWork && !stateOf(stream)->capture)
    return Success;
  gpu().scheduler.enqueue(stateOf(stream), {std::move(work), nullptr, nullptr, nullptr});
  return deviceOf(stream).lost;
}

std::string addressText(Address address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", address);
  return text;
}

/// Describes what an address that is not in this device's memory refers to.
std::string describeForeign(const Device &device, Address address) {
  for (const auto &other : gpu().devices)
    if (other->memory.mine(address))
      return other.get() == &device ? "released, or outside of every allocation"
                                    : "memory of cuda:" + std::to_string(other->index);
  return "memory of the host";
}

bool isHost(const void *pointer) {
  for (const auto &device : gpu().devices)
    if (device->memory.mine(reinterpret_cast<Address>(pointer)))
      return false;
  return true;
}

/// Returns the memory of a copy or fill, or null after it reported why there is none.
char *found(const Device &device, Address address, uint64_t bytes, const char *what) {
  char *memory = device.memory.find(address, bytes);
  if (!memory)
    complain(device.index, std::string("a ") + what + " of " + std::to_string(bytes) +
                               " bytes at " + addressText(address) + ": " +
                               describeForeign(device, address));
  return memory;
}

/// Enqueues a fill. The memory must be valid both when the fill is enqueued and when it runs.
Result enqueueFill(StreamHandle *stream, Device &device, Address to, uint64_t bytes,
                   const char *what, std::function<void(char *)> how) {
  if (gpu().ignoresWork && !stateOf(stream)->capture)
    return Success;
  if (!found(device, to, bytes, what))
    return InvalidValue;
  return enqueue(stream, [=, &device]() -> Result {
    char *memory = found(device, to, bytes, what);
    if (!memory)
      return IllegalAddress;
    how(memory);
    return Success;
  });
}

Result launchNow(Device &device, const Function &function, Extent grid, Extent block,
                 unsigned shared, const Arguments &arguments) {
  const Kernel &kernel = *function.kernel;
  std::vector<uint64_t> values = arguments.values;
  std::vector<void *> pointers;
  for (int i = 0; i < kernel.parameters; ++i) {
    if (kernel.pointers[i] && values[i]) {
      char *memory = device.memory.find(values[i], 0);
      if (!memory) {
        complain(device.index, std::string("kernel '") + kernel.name + "', argument " +
                                   std::to_string(i) + " (" + addressText(values[i]) +
                                   "): " + describeForeign(device, values[i]));
        return IllegalAddress;
      }
      values[i] = reinterpret_cast<uint64_t>(memory);
    }
    pointers.push_back(&values[i]);
  }
  std::string fault = runKernel(*function.module->image, kernel, grid, block, shared,
                                pointers.data(), gpu().threads);
  if (fault.empty())
    fault = device.memory.damage();
  if (fault.empty())
    return Success;
  complain(device.index, std::string("kernel '") + kernel.name + "': " + fault);
  return LaunchFailed;
}

} // namespace

namespace dlc_emulated {

Result enqueueLibrary(void *stream, std::function<Result()> work) {
  Call call;
  return enqueue(static_cast<StreamHandle *>(stream), std::move(work));
}

Device *currentDevice() { return current(); }

Result enqueueMeeting(void *stream, std::function<bool()> arrived, std::function<Result()> work) {
  Call call;
  auto *handle = static_cast<StreamHandle *>(stream);
  gpu().scheduler.enqueue(stateOf(handle), {std::move(work), nullptr, nullptr, std::move(arrived)});
  return deviceOf(handle).lost;
}

char *memoryOfLibrary(void *stream, Address address, uint64_t bytes, const char *what) {
  return found(deviceOf(static_cast<StreamHandle *>(stream)), address, bytes, what);
}

} // namespace dlc_emulated

#define DLC_DRIVER extern "C" __attribute__((visibility("default"))) Result

extern "C" __attribute__((visibility("default"))) int dlc_emulated_configure(const char *setting,
                                                                             const char *value) {
  Call call;
  return gpu().configure(setting, value);
}

DLC_DRIVER cuInit(unsigned) {
  Call call;
  gpu().start();
  return gpu().initResult ? gpu().initResult : gpu().deviceCount == 0 ? NoDevice : Success;
}

DLC_DRIVER cuDriverGetVersion(int *version) {
  *version = gpu().version;
  return Success;
}

DLC_DRIVER cuGetErrorName(Result result, const char **name) {
  static const std::map<Result, const char *> names = {
      {InvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {OutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"},
      {NotInitialized, "CUDA_ERROR_NOT_INITIALIZED"},
      {34, "CUDA_ERROR_STUB_LIBRARY"},
      {NoDevice, "CUDA_ERROR_NO_DEVICE"},
      {InvalidDevice, "CUDA_ERROR_INVALID_DEVICE"},
      {InvalidImage, "CUDA_ERROR_INVALID_IMAGE"},
      {InvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {NoBinary, "CUDA_ERROR_NO_BINARY_FOR_GPU"},
      {InvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {401, "CUDA_ERROR_ILLEGAL_STATE"},
      {NotFound, "CUDA_ERROR_NOT_FOUND"},
      {IllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {LaunchOutOfResources, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
      {PeerAlreadyEnabled, "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED"},
      {LaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {NotSupported, "CUDA_ERROR_NOT_SUPPORTED"},
      {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {CaptureUnsupported, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
      {904, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
      {905, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
      {CapturedEvent, "CUDA_ERROR_CAPTURED_EVENT"}};
  auto found = names.find(result);
  *name = found == names.end() ? nullptr : found->second;
  return *name ? Success : InvalidValue;
}

DLC_DRIVER cuGetErrorString(Result result, const char **text) {
  *text = result == OutOfMemory      ? "out of memory"
          : result == NoDevice       ? "no CUDA-capable device is detected"
          : result == NoBinary       ? "no kernel image is available for execution on the device"
          : result == InvalidImage   ? "device kernel image is invalid"
          : result == IllegalAddress ? "an illegal memory access was encountered"
          : result == LaunchFailed   ? "unspecified launch failure"
                                     : nullptr;
  return *text ? Success : InvalidValue;
}

DLC_DRIVER cuDeviceGetCount(int *count) {
  *count = gpu().started ? gpu().deviceCount : 0;
  return gpu().started ? Success : NotInitialized;
}

DLC_DRIVER cuDeviceGet(int *ordinal, int index) {
  if (index < 0 || index >= gpu().deviceCount)
    return InvalidDevice;
  *ordinal = index;
  return Success;
}

DLC_DRIVER cuDeviceGetName(char *name, int bytes, int ordinal) {
  std::snprintf(name, static_cast<size_t>(bytes), "Emulated GPU %d", ordinal);
  return Success;
}

/// The id depends on the ordinal only, so that all processes on this machine see the same devices.
DLC_DRIVER cuDeviceGetPCIBusId(char *text, int bytes, int ordinal) {
  std::snprintf(text, static_cast<size_t>(bytes), "0000:%02x:00.0", ordinal + 1);
  return Success;
}

DLC_DRIVER cuDeviceTotalMem_v2(size_t *bytes, int) {
  *bytes = gpu().capacity;
  return Success;
}

DLC_DRIVER cuDeviceGetAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case 1: // maximum number of threads of a block
    *value = blockLimit;
    return Success;
  case 8: // shared memory of a block
    *value = 48 * 1024;
    return Success;
  case 16: // number of multiprocessors
    *value = 4;
    return Success;
  case 75:
    *value = gpu().major;
    return Success;
  case 76:
    *value = gpu().minor;
    return Success;
  case 97: // maximum shared memory of a block that opts in
    *value = sharedLimit;
    return Success;
  default:
    return InvalidValue;
  }
}

DLC_DRIVER cuDeviceCanAccessPeer(int *can, int ordinal, int peer) {
  *can = ordinal != peer;
  return Success;
}

DLC_DRIVER cuDevicePrimaryCtxRetain(Device **context, int ordinal) {
  Call call;
  if (ordinal < 0 || ordinal >= gpu().deviceCount)
    return InvalidDevice;
  *context = gpu().devices[ordinal].get();
  ++(*context)->retained;
  return (*context)->lost;
}

DLC_DRIVER cuDevicePrimaryCtxRelease_v2(int ordinal) {
  Call call;
  Device &device = *gpu().devices[ordinal];
  if (device.retained <= 0)
    return InvalidContext;
  --device.retained;
  return Success;
}

DLC_DRIVER cuCtxGetCurrent(Device **context) {
  *context = current();
  return Success;
}

DLC_DRIVER cuCtxPushCurrent_v2(Device *context) {
  if (!context || context->retained == 0)
    return InvalidContext;
  contexts.push_back(context);
  return Success;
}

DLC_DRIVER cuCtxPopCurrent_v2(Device **context) {
  *context = current();
  if (!*context)
    return InvalidContext;
  contexts.pop_back();
  return Success;
}

DLC_DRIVER cuCtxEnablePeerAccess(Device *peer, unsigned) {
  return peer && current() ? Success : InvalidContext;
}

DLC_DRIVER cuMemGetInfo_v2(size_t *free, size_t *total) {
  Call call;
  if (!current())
    return InvalidContext;
  *total = current()->memory.capacity();
  *free = *total - current()->memory.used();
  return current()->lost;
}

DLC_DRIVER cuMemAlloc_v2(Address *address, size_t bytes) {
  Call call;
  if (!current() || bytes == 0)
    return current() ? InvalidValue : InvalidContext;
  if (current()->lost)
    return current()->lost;
  *address = current()->memory.allocate(bytes);
  return *address ? Success : OutOfMemory;
}

DLC_DRIVER cuMemFree_v2(Address address) {
  Call call;
  if (!current())
    return InvalidContext;
  // Like the CUDA driver, waits for all work that may still use the allocation.
  gpu().scheduler.finishDevice(current()->index);
  return current()->memory.release(address) ? Success : InvalidValue;
}

DLC_DRIVER cuMemHostAlloc(void **address, size_t bytes, unsigned) {
  Call call;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return OutOfMemory;
  gpu().pinned[memory] = bytes;
  *address = memory;
  return Success;
}

DLC_DRIVER cuMemFreeHost(void *address) {
  Call call;
  auto found = gpu().pinned.find(address);
  if (found == gpu().pinned.end())
    return InvalidValue;
  for (const auto &device : gpu().devices)
    gpu().scheduler.finishDevice(device->index);
  munmap(address, found->second);
  gpu().pinned.erase(found);
  return Success;
}

DLC_DRIVER cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, StreamHandle *stream) {
  Call call;
  Device &device = deviceOf(stream);
  if (!isHost(from)) {
    complain(device.index, "a copy from the host reads " +
                               describeForeign(device, reinterpret_cast<Address>(from)));
    return InvalidValue;
  }
  return enqueueFill(stream, device, to, bytes, "copy from the host",
                     [=](char *memory) { std::memcpy(memory, from, bytes); });
}

DLC_DRIVER cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, StreamHandle *stream) {
  Call call;
  Device &device = deviceOf(stream);
  if (!isHost(to))
    return InvalidValue;
  return enqueueFill(stream, device, from, bytes, "copy to the host",
                     [=](char *memory) { std::memcpy(to, memory, bytes); });
}

DLC_DRIVER cuMemcpyPeerAsync(Address to, Device *toContext, Address from, Device *fromContext,
                             size_t bytes, StreamHandle *stream) {
  Call call;
  if (!toContext || !fromContext)
    return InvalidContext;
  if (!found(*fromContext, from, bytes, "copy that reads"))
    return InvalidValue;
  return enqueueFill(stream, *toContext, to, bytes, "copy that writes", [=](char *memory) {
    if (const char *source = found(*fromContext, from, bytes, "copy that reads"))
      std::memmove(memory, source, bytes);
  });
}

DLC_DRIVER cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, StreamHandle *stream) {
  Device *device = [&] {
    Call call;
    return &deviceOf(stream);
  }();
  return cuMemcpyPeerAsync(to, device, from, device, bytes, stream);
}

DLC_DRIVER cuMemsetD8Async(Address to, unsigned char byte, size_t bytes, StreamHandle *stream) {
  Call call;
  return enqueueFill(stream, deviceOf(stream), to, bytes, "fill",
                     [=](char *memory) { std::memset(memory, byte, bytes); });
}

DLC_DRIVER cuStreamCreate(StreamHandle **stream, unsigned) {
  Call call;
  if (!current())
    return InvalidContext;
  *stream = new StreamHandle{gpu().scheduler.create(current()->index)};
  return current()->lost;
}

DLC_DRIVER cuStreamDestroy_v2(StreamHandle *stream) {
  Call call;
  if (reinterpret_cast<uintptr_t>(stream) <= 2)
    return InvalidHandle;
  gpu().scheduler.destroy(stream->state);
  delete stream;
  return Success;
}

DLC_DRIVER cuStreamSynchronize(StreamHandle *stream) {
  Call call;
  if (stateOf(stream)->capture)
    return CaptureUnsupported;
  gpu().scheduler.finish(*stateOf(stream));
  return deviceOf(stream).lost;
}

DLC_DRIVER cuStreamWaitEvent(StreamHandle *stream, Event *event, unsigned) {
  Call call;
  if (gpu().ignoresWork && !stateOf(stream)->capture)
    return Success;
  if (event->moment && !gpu().scheduler.drops(*stateOf(stream)))
    gpu().scheduler.enqueue(stateOf(stream), {nullptr, nullptr, event->moment, nullptr});
  return deviceOf(stream).lost;
}

DLC_DRIVER cuEventCreate(Event **event, unsigned) {
  *event = new Event();
  return Success;
}

DLC_DRIVER cuEventDestroy_v2(Event *event) {
  delete event;
  return Success;
}

DLC_DRIVER cuEventRecord(Event *event, StreamHandle *stream) {
  Call call;
  if (gpu().ignoresWork && !stateOf(stream)->capture)
    return Success;
  event->moment = std::make_shared<Moment>();
  event->moment->stream = stateOf(stream);
  gpu().scheduler.enqueue(stateOf(stream), {nullptr, event->moment, nullptr, nullptr});
  return deviceOf(stream).lost;
}

DLC_DRIVER cuEventSynchronize(Event *event) {
  Call call;
  if (!event->moment)
    return Success;
  if (event->moment->capture)
    return CapturedEvent;
  gpu().scheduler.finish(*event->moment);
  return gpu().devices[event->moment->stream->device]->lost;
}

/// Only tests call this function, to check that a call has not waited for its work.
DLC_DRIVER cuEventQuery(Event *event) {
  Call call;
  return !event->moment || event->moment->passed ? Success : NotReady;
}

DLC_DRIVER cuEventElapsedTime(float *milliseconds, Event *from, Event *to) {
  Call call;
  if (!from->moment || !to->moment)
    return InvalidHandle;
  if (!from->moment->passed || !to->moment->passed)
    return NotReady;
  std::chrono::duration<float, std::milli> time = to->moment->time - from->moment->time;
  *milliseconds = time.count();
  return Success;
}

DLC_DRIVER cuModuleLoadDataEx(Module **module, const void *image, unsigned options, int *names,
                              void **values) {
  Call call;
  if (!current())
    return InvalidContext;
  auto made = std::make_unique<Module>();
  made->device = current()->index;
  std::string log;
  if (Result result = openImage(image, gpu().major, *made, log)) {
    char *text = nullptr;
    size_t size = 0;
    for (unsigned i = 0; i < options; ++i) {
      if (names[i] == 5)
        text = static_cast<char *>(values[i]);
      if (names[i] == 6)
        size = reinterpret_cast<size_t>(values[i]);
    }
    if (text && size)
      std::snprintf(text, size, "%s", log.c_str());
    return result;
  }
  *module = made.release();
  return current()->lost;
}

DLC_DRIVER cuModuleUnload(Module *module) {
  Call call;
  gpu().scheduler.finishDevice(module->device);
  delete module;
  return Success;
}

DLC_DRIVER cuModuleGetFunction(Function **function, Module *module, const char *name) {
  Call call;
  auto found = module->functions.find(name);
  if (found == module->functions.end())
    return NotFound;
  *function = found->second.get();
  return Success;
}

DLC_DRIVER cuFuncGetAttribute(int *value, int attribute, Function *) {
  *value = attribute == 0 ? static_cast<int>(blockLimit) : 0;
  return Success;
}

DLC_DRIVER cuFuncSetAttribute(Function *function, int attribute, int value) {
  if (attribute != 8 || value < 0 || value > sharedLimit)
    return InvalidValue;
  function->allowedShared = value;
  return Success;
}

DLC_DRIVER cuLaunchKernel(Function *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                          unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                          StreamHandle *stream, void **arguments, void **) {
  Call call;
  if (gpu().ignoresWork && !stateOf(stream)->capture)
    return Success;
  Extent grid = {gridX, gridY, gridZ}, block = {blockX, blockY, blockZ};
  uint64_t threads = uint64_t{blockX} * blockY * blockZ;
  if (!gridX || !gridY || !gridZ || !threads || gridX > 0x7fffffffu || gridY > 65535 ||
      gridZ > 65535 || blockZ > 64)
    return InvalidValue;
  if (threads > blockLimit)
    return InvalidValue;
  if (shared > static_cast<unsigned>(function->allowedShared))
    return InvalidValue;
  Device &device = deviceOf(stream);
  if (function->module->device != device.index)
    return InvalidHandle;
  // Like the CUDA driver, copies the argument values now, so that the caller may change them after
  // the call.
  Arguments kept;
  for (int i = 0; i < function->kernel->parameters; ++i) {
    uint64_t value = 0;
    int bytes = function->kernel->bytes[i];
    if (bytes > 8)
      return NotSupported;
    std::memcpy(&value, arguments[i], static_cast<size_t>(bytes));
    kept.values.push_back(value);
  }
  return enqueue(stream, [=, &device]() -> Result {
    return device.lost ? device.lost : launchNow(device, *function, grid, block, shared, kept);
  });
}

DLC_DRIVER cuStreamBeginCapture_v2(StreamHandle *stream, int) {
  Call call;
  if (reinterpret_cast<uintptr_t>(stream) < 2)
    return CaptureUnsupported;
  return beginCapture(stateOf(stream));
}

DLC_DRIVER cuStreamEndCapture(StreamHandle *stream, std::shared_ptr<GraphState> **graph) {
  Call call;
  std::shared_ptr<GraphState> made;
  *graph = nullptr;
  if (Result result = endCapture(stateOf(stream), made))
    return result;
  *graph = new std::shared_ptr<GraphState>(std::move(made));
  return Success;
}

DLC_DRIVER cuGraphInstantiateWithFlags(std::shared_ptr<GraphState> **made,
                                       std::shared_ptr<GraphState> *graph, unsigned long long) {
  *made = graph ? new std::shared_ptr<GraphState>(*graph) : nullptr;
  return graph ? Success : InvalidValue;
}

DLC_DRIVER cuGraphDestroy(std::shared_ptr<GraphState> *graph) {
  delete graph;
  return Success;
}

DLC_DRIVER cuGraphLaunch(std::shared_ptr<GraphState> *graph, StreamHandle *stream) {
  Call call;
  if (gpu().ignoresWork)
    return Success;
  return enqueue(stream, [kept = *graph] { return gpu().scheduler.run(*kept); });
}

DLC_DRIVER cuGraphExecDestroy(std::shared_ptr<GraphState> *graph) {
  delete graph;
  return Success;
}
