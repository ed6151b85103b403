//===- Driver.h - declarations of the CUDA driver functions in use -----------===//
//
// dlc has its own declarations of this public binary interface so that no CUDA header is needed to
// build it. In tests, libcuda.so.1 may be the GPU emulator.
//
//===--------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_DRIVER_H
#define DLC_RUNTIME_DEVICE_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlc::cuda {

using Result = int;
using Ordinal = int;
using Address = unsigned long long;
using Context = struct ContextTag *;
using Stream = struct StreamTag *;
using Event = struct EventTag *;
using ModuleHandle = struct ModuleTag *;
using FunctionHandle = struct FunctionTag *;
using Graph = struct GraphTag *;
using GraphExec = struct GraphExecTag *;

enum : Result {
  Success = 0,
  OutOfMemory = 2,
  StubLibrary = 34,
  NoDevice = 100,
  InvalidImage = 200,
  AlreadyEnabled = 704,
  NoBinary = 209,
  UnsupportedPtx = 222,
  NotFound = 500,
  IllegalAddress = 700,
  LaunchOutOfResources = 701,
  LaunchTimeout = 702,
  HardwareStack = 714,
  IllegalInstruction = 715,
  MisalignedAddress = 716,
  LaunchFailed = 719,
  DriverMismatch = 803,
};

enum DeviceAttribute : int {
  MaxSharedPerBlock = 8,
  Multiprocessors = 16,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  MaxSharedOptIn = 97,
};

enum FunctionAttribute : int { FunctionShared = 1, FunctionDynamicShared = 8 };
enum : unsigned { StreamNonBlocking = 1, EventDefault = 0, HostPortable = 1 };
enum : int { CaptureThreadLocal = 1 };
enum JitOption : int { JitErrorLog = 5, JitErrorLogBytes = 6 };

/// The driver functions in use: X(member, symbol, parameters).
#define DLC_CUDA_DRIVER_FUNCTIONS(X)                                                               \
  X(init, cuInit, (unsigned flags))                                                                \
  X(driverVersion, cuDriverGetVersion, (int *version))                                             \
  X(errorName, cuGetErrorName, (Result, const char **name))                                        \
  X(errorString, cuGetErrorString, (Result, const char **text))                                    \
  X(deviceCount, cuDeviceGetCount, (int *count))                                                   \
  X(deviceGet, cuDeviceGet, (Ordinal *, int index))                                                \
  X(deviceName, cuDeviceGetName, (char *name, int bytes, Ordinal))                                 \
  X(deviceMemory, cuDeviceTotalMem_v2, (size_t * bytes, Ordinal))                                  \
  X(devicePlace, cuDeviceGetPCIBusId, (char *text, int bytes, Ordinal))                            \
  X(deviceAttribute, cuDeviceGetAttribute, (int *value, int attribute, Ordinal))                   \
  X(canAccessPeer, cuDeviceCanAccessPeer, (int *can, Ordinal, Ordinal peer))                       \
  X(contextRetain, cuDevicePrimaryCtxRetain, (Context *, Ordinal))                                 \
  X(contextRelease, cuDevicePrimaryCtxRelease_v2, (Ordinal))                                       \
  X(contextCurrent, cuCtxGetCurrent, (Context *))                                                  \
  X(contextPush, cuCtxPushCurrent_v2, (Context))                                                   \
  X(contextPop, cuCtxPopCurrent_v2, (Context *))                                                   \
  X(enablePeer, cuCtxEnablePeerAccess, (Context peer, unsigned flags))                             \
  X(memoryInfo, cuMemGetInfo_v2, (size_t * free, size_t * total))                                  \
  X(allocate, cuMemAlloc_v2, (Address *, size_t bytes))                                            \
  X(release, cuMemFree_v2, (Address))                                                              \
  X(hostAllocate, cuMemHostAlloc, (void **, size_t bytes, unsigned flags))                         \
  X(hostRelease, cuMemFreeHost, (void *))                                                          \
  X(copyToDevice, cuMemcpyHtoDAsync_v2, (Address, const void *, size_t bytes, Stream))             \
  X(copyToHost, cuMemcpyDtoHAsync_v2, (void *, Address, size_t bytes, Stream))                     \
  X(copyWithin, cuMemcpyDtoDAsync_v2, (Address to, Address from, size_t bytes, Stream))            \
  X(copyPeer, cuMemcpyPeerAsync, (Address, Context, Address, Context, size_t bytes, Stream))       \
  X(fill, cuMemsetD8Async, (Address, unsigned char byte, size_t bytes, Stream))                    \
  X(streamCreate, cuStreamCreate, (Stream *, unsigned flags))                                      \
  X(streamDestroy, cuStreamDestroy_v2, (Stream))                                                   \
  X(streamSynchronize, cuStreamSynchronize, (Stream))                                              \
  X(streamWait, cuStreamWaitEvent, (Stream, Event, unsigned flags))                                \
  X(eventCreate, cuEventCreate, (Event *, unsigned flags))                                         \
  X(eventDestroy, cuEventDestroy_v2, (Event))                                                      \
  X(eventRecord, cuEventRecord, (Event, Stream))                                                   \
  X(eventSynchronize, cuEventSynchronize, (Event))                                                 \
  X(eventElapsed, cuEventElapsedTime, (float *milliseconds, Event from, Event to))                 \
  X(moduleLoad, cuModuleLoadDataEx,                                                                \
    (ModuleHandle *, const void *image, unsigned options, int *names, void **values))              \
  X(moduleUnload, cuModuleUnload, (ModuleHandle))                                                  \
  X(moduleFunction, cuModuleGetFunction, (FunctionHandle *, ModuleHandle, const char *name))       \
  X(functionAttribute, cuFuncGetAttribute, (int *value, int attribute, FunctionHandle))            \
  X(setFunctionAttribute, cuFuncSetAttribute, (FunctionHandle, int attribute, int value))          \
  X(launch, cuLaunchKernel,                                                                        \
    (FunctionHandle, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,              \
     unsigned blockY, unsigned blockZ, unsigned shared, Stream, void **arguments, void **extra))   \
  X(captureBegin, cuStreamBeginCapture_v2, (Stream, int mode))                                     \
  X(captureEnd, cuStreamEndCapture, (Stream, Graph *))                                             \
  X(graphInstantiate, cuGraphInstantiateWithFlags, (GraphExec *, Graph, uint64_t flags))           \
  X(graphDestroy, cuGraphDestroy, (Graph))                                                         \
  X(graphLaunch, cuGraphLaunch, (GraphExec, Stream))                                               \
  X(graphExecDestroy, cuGraphExecDestroy, (GraphExec))

struct Driver {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define DLC_CUDA_DRIVER_MEMBER(member, symbol, parameters) Result(*member) parameters = nullptr;
  DLC_CUDA_DRIVER_FUNCTIONS(DLC_CUDA_DRIVER_MEMBER)
#undef DLC_CUDA_DRIVER_MEMBER
  /// CUDA version that the driver supports: 13000 for CUDA 13.0.
  int version = 0;
  /// Empty if the driver works and there is at least one GPU; otherwise the reason.
  std::string error;
};

/// Loads and initializes the driver at the first call.
const Driver &driver();

/// Returns the name and the description of an error, as in "CUDA_ERROR_OUT_OF_MEMORY (out of
/// memory)".
std::string getErrorName(Result result);

/// Formats a CUDA version number: "13.0" for 13000.
std::string versionText(int version);

} // namespace dlc::cuda

#endif // DLC_RUNTIME_DEVICE_CUDA_DRIVER_H
