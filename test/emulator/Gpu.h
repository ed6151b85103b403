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

/// The driver's own numbers.
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
  /// A fault of a kernel; every call after it gives the same.
  Result lost = 0;
};

struct Function;

/// An image, written into memory of its own and opened as the shared library that it is.
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

/// 0, or why not; then `log` says it in words.
Result openImage(const void *bytes, int major, Module &to, std::string &log);

/// The values of a launch's arguments, kept until it runs.
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

  /// As in ("order", "random"): devices, memory, capability, version, nccl, init, order, seed,
  /// threads; "revive" lets devices go on after a fault, as a new process would; "drop" is
  /// "DEVICE:STREAM:WAIT:OF" (Streams.h).
  /// False where there is no such setting or value.
  bool configure(const std::string &setting, const std::string &value);
  /// What the environment says: $DLC_EMULATED_ORDER and so on.
  void start();

private:
  bool drop(const std::string &text);
};

Gpu &gpu();

/// The device whose context is the thread's, or null.
Device *currentDevice();

/// Work of a library in a stream, and memory of the stream's device (null where it is none, with
/// the reason said).
Result enqueueLibrary(void *stream, std::function<Result()> work);
/// Work that waits for other ranks (Streams.h).
Result enqueueMeeting(void *stream, std::function<bool()> arrived, std::function<Result()> work);
char *memoryOfLibrary(void *stream, Address address, uint64_t bytes, const char *what);

/// Says on the error stream what a real GPU would keep to itself.
void complain(int device, const std::string &text);

} // namespace dlc_emulated

#endif // DLC_TEST_EMULATOR_GPU_H
