//===- Gpu.h - the emulated GPUs of this process ------------------------------===//
#ifndef DLC_TEST_EMULATOR_GPU_H
#define DLC_TEST_EMULATOR_GPU_H

#include "test/emulator/Fibers.h"
#include "test/emulator/Memory.h"
#include "test/emulator/Streams.h"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace dlc_emulated {

/// Result codes of the CUDA driver.
enum : Result {
  Success = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  NotInitialized = 3,
  NoDevice = 100,
  InvalidDevice = 101,
  InvalidImage = 200,
  InvalidContext = 201,
  NoBinary = 209,
  InvalidHandle = 400,
  NotFound = 500,
  NotReady = 600,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  PeerAlreadyEnabled = 704,
  LaunchFailed = 719,
  NotSupported = 801,
  CaptureUnsupported = 900,
  CapturedEvent = 907,
};

struct Device {
  explicit Device(uint64_t capacity) : memory(capacity) {}
  int index = 0;
  Memory memory;
  int retained = 0;
  /// Result code of a kernel's fault. Every later call returns the same code.
  Result lost = 0;
};

struct Function;

/// An image, written to an in-memory file and opened as a shared library.
struct Module {
  ~Module();
  int device = 0;
  void *library = nullptr;
  const Image *image = nullptr;
  std::map<std::string, std::unique_ptr<Function>> functions;
};

struct Function {
  Module *module = nullptr;
  const Kernel *kernel = nullptr;
  int allowedShared = 48 * 1024;
};

/// Returns 0 or an error code. On an error, `log` gets the description.
Result openImage(const void *bytes, int major, Module &to, std::string &log);

/// Copies of a launch's arguments, held until it runs.
struct Arguments {
  std::vector<uint64_t> values;
  std::vector<void *> pointers;
};

struct Gpu {
  std::mutex mutex;
  bool started = false;
  int deviceCount = 2;
  uint64_t capacity = uint64_t{4} << 30;
  int major = 9, minor = 0;
  int version = 13000, ncclVersion = 22809;
  Result initResult = 0;
  ThreadOrder threads = ThreadOrder::Forward;
  Scheduler scheduler;
  std::vector<std::unique_ptr<Device>> devices;
  std::map<const void *, uint64_t> pinned;
  /// Whether work of streams is dropped instead of enqueued, to measure the host's time for calls.
  bool ignoresWork = false;

  /// Changes a setting, such as ("order", "random"). Settings are devices, memory, capability,
  /// version, nccl, init, order, seed and threads. "null" with the value 1 makes streams drop their
  /// work. "revive" makes devices usable again after a fault, as if the process were new. The value
  /// of "drop" is "DEVICE:STREAM:WAIT:OF" (Streams.h). Returns false if the setting or its value is
  /// unknown.
  bool configure(const std::string &setting, const std::string &value);
  /// Applies the settings of environment variables such as $DLC_EMULATED_ORDER.
  void start();

private:
  bool drop(const std::string &text);
};

Gpu &gpu();

/// Returns the device of the calling thread's current context, or null.
Device *currentDevice();

/// Enqueues work of a library (cuBLASLt, cuDNN) in a stream.
Result enqueueLibrary(void *stream, std::function<Result()> work);
/// Enqueues work that waits for other ranks (Streams.h). memoryOfLibrary returns memory of the
/// stream's device, or null after it reported an invalid address.
Result enqueueMeeting(void *stream, std::function<bool()> arrived, std::function<Result()> work);
char *memoryOfLibrary(void *stream, Address address, uint64_t bytes, const char *what);

/// Reports on the error stream a mistake that a real GPU would not report.
void complain(int device, const std::string &text);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_GPU_H
