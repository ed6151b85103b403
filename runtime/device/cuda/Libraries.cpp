//===- Libraries.cpp - calls of cuBLASLt and cuDNN, by the library's name -----===//
#include "runtime/device/cuda/Device.h"

namespace dlc::cuda {

namespace {

int libraryMake(void *handle, const char *library, const char *, const uint64_t *, const uint8_t *,
                size_t, void **call, uint64_t *workspace, char *error, size_t size) {
  *call = nullptr;
  *workspace = 0;
  return Report{error, size}.fail(deviceOf(handle).name() + " has no library '" + library +
                                  "' here; compile the program again, with generated kernels");
}

int libraryRun(void *handle, void *, void *, void *const *, void *, char *error, size_t size) {
  return Report{error, size}.fail(deviceOf(handle).name() + " was given no call of a library");
}

void libraryDestroy(void *, void *) {}

} // namespace

void fillLibraries(dlc_device_table &table) {
  table.library_make = libraryMake;
  table.library_run = libraryRun;
  table.library_destroy = libraryDestroy;
}

} // namespace dlc::cuda
