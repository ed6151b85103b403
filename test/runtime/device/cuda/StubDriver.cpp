//===- StubDriver.cpp - stub of libcuda.so.1 for machines without a GPU ---------===//
//
// With this stub, cuDNN plans for a GPU of which only a description exists. The stub opens, reports
// one device, accepts the kernels that cuDNN has compiled for a plan, and fails all other calls.
// Once it is loaded, libcudnn finds it by its soname.
//
//===---------------------------------------------------------------------------===//
#include <cstring>

namespace {

constexpr int Success = 0, StubLibrary = 34;

int refuse() { return StubLibrary; }
int init(unsigned) { return Success; }
int version(int *to) {
  *to = 13000;
  return Success;
}
int count(int *to) {
  *to = 1;
  return Success;
}
int device(int *to, int) {
  *to = 0;
  return Success;
}

void *named(const char *name) {
  if (std::strcmp(name, "cuInit") == 0)
    return reinterpret_cast<void *>(init);
  if (std::strcmp(name, "cuDriverGetVersion") == 0)
    return reinterpret_cast<void *>(version);
  if (std::strcmp(name, "cuDeviceGetCount") == 0)
    return reinterpret_cast<void *>(count);
  if (std::strcmp(name, "cuDeviceGet") == 0)
    return reinterpret_cast<void *>(device);
  return reinterpret_cast<void *>(refuse);
}

} // namespace

extern "C" {
// NOLINTBEGIN(readability-identifier-naming)
int cuInit(unsigned flags) { return init(flags); }
int cuDriverGetVersion(int *to) { return version(to); }
int cuDeviceGetCount(int *to) { return count(to); }
int cuDeviceGet(int *to, int index) { return device(to, index); }
int cuGetExportTable(const void **to, const void *) {
  *to = nullptr;
  return StubLibrary;
}
int cuGetProcAddress_v2(const char *name, void **to, int, unsigned long long, int *found) {
  *to = std::strncmp(name, "cuGetProcAddress", 16) == 0
            ? reinterpret_cast<void *>(cuGetProcAddress_v2)
            : named(name);
  if (found)
    *found = 0;
  return Success;
}

int cuLibraryLoadData(void **to, const void *, void *, void *, unsigned, void *, void *, unsigned) {
  *to = reinterpret_cast<void *>(named);
  return Success;
}
int cuLibraryGetKernel(void **to, void *, const char *) {
  *to = reinterpret_cast<void *>(named);
  return Success;
}
int cuLibraryUnload(void *) { return Success; }
int cuKernelSetAttribute(int, int, void *, int) { return Success; }
int cuKernelGetAttribute(int *to, int, void *, int) {
  *to = 0;
  return Success;
}

// libcudnn looks up these functions by name, too.
#define DLC_REFUSED(name)                                                                          \
  int name() { return refuse(); }
DLC_REFUSED(cuGetErrorName)
DLC_REFUSED(cuGetErrorString)
DLC_REFUSED(cuCtxGetCurrent)
DLC_REFUSED(cuCtxGetLimit)
DLC_REFUSED(cuCtxPopCurrent)
DLC_REFUSED(cuCtxPushCurrent)
DLC_REFUSED(cuStreamGetCtx)
DLC_REFUSED(cuLinkCreate)
DLC_REFUSED(cuLinkAddData)
DLC_REFUSED(cuLinkComplete)
DLC_REFUSED(cuLinkDestroy)
DLC_REFUSED(cuLaunchKernel)
DLC_REFUSED(cuLaunchKernelEx)
DLC_REFUSED(cuLaunchCooperativeKernel)
DLC_REFUSED(cuLibraryLoadFromFile)
DLC_REFUSED(cuOccupancyMaxPotentialClusterSize)
// NOLINTEND(readability-identifier-naming)
}
