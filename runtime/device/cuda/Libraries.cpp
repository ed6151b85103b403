//===- Libraries.cpp - table of the GPU libraries ----------------------------===//
#include "runtime/device/cuda/LibraryCall.h"

#include <algorithm>
#include <string_view>

namespace dlc::cuda {

// Factories of library calls. Each library's own file defines one; see LibraryCall.h.
using Create = std::unique_ptr<LibraryCall>(Device &device, const nlohmann::json &desc,
                                            std::span<const LibraryBuffer> buffers,
                                            std::string &error);
Create createCublasLtCall;
Create createCudnnCall;

namespace {

constexpr struct {
  const char *name;
  Create *create;
} kLibraries[] = {
    {"cublaslt", createCublasLtCall}, // matmul
    {"cudnn", createCudnnCall},       // convolutions, their gradients, attention
};

int libraryMake(void *handle, const char *library, const char *text, const uint64_t *bytes,
                const uint8_t *writable, size_t count, void **call, uint64_t *workspace,
                char *error, size_t size) {
  *call = nullptr;
  *workspace = 0;
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  const auto *row =
      std::find_if(std::begin(kLibraries), std::end(kLibraries),
                   [&](const auto &known) { return std::string_view(known.name) == library; });
  if (row == std::end(kLibraries))
    return report.fail(device.name() + ": library '" + library +
                       "' is not available; compile the program again with --kernels generated");
  std::vector<LibraryBuffer> buffers;
  buffers.reserve(count);
  for (size_t i = 0; i < count; ++i)
    buffers.push_back({bytes[i], writable[i] != 0});
  CurrentContext current(device);
  std::string why;
  auto made = row->create(device, nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false),
                          buffers, why);
  if (!made)
    return report.fail(device.name() + ": " + why);
  *workspace = made->workspace;
  *call = made.release();
  return 0;
}

int libraryRun(void *handle, void *stream, void *call, void *const *buffers, void *workspace,
               char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  std::string why =
      static_cast<LibraryCall *>(call)->run(static_cast<Stream>(stream), buffers, workspace);
  return why.empty() ? 0 : report.fail(device.name() + ": " + why);
}

void libraryDestroy(void *handle, void *call) {
  CurrentContext current(deviceOf(handle));
  delete static_cast<LibraryCall *>(call);
}

} // namespace

void setLibraryFunctions(dlc_device_table &table) {
  table.library_make = libraryMake;
  table.library_run = libraryRun;
  table.library_destroy = libraryDestroy;
}

} // namespace dlc::cuda
