//===- Gpu.h - shared code of the tests of the CUDA device table --------------===//
#ifndef DLC_TEST_RUNTIME_DEVICE_CUDA_GPU_H
#define DLC_TEST_RUNTIME_DEVICE_CUDA_GPU_H

#include "dlc/device.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <vector>

namespace dlc::cuda::test {

/// Returns the plugin's function table.
const dlc_device_table &table();
/// Returns whether the tests run on the emulated GPU.
bool emulated();
/// Sets the emulated GPU's order of streams or threads, as in ("order", "late").
void configure(const char *setting, const char *value);
/// Runs this program again with the given environment variables ("NAME=VALUE ...") and returns the
/// output of its device probe, or of another mode.
std::string probe(const std::string &variables, const std::string &mode = "--probe");
/// Modes of this program: functions that run instead of the tests if `flag` is the program's
/// argument. Tests use them to start the program again.
std::map<std::string, int (*)()> &modes();
struct Mode {
  Mode(const char *flag, int (*run)()) { modes()[flag] = run; }
};

/// Compiles CUDA source to an image for the device.
std::vector<char> compile(const std::string &text);

/// Calls a function of the table and expects success.
template <typename... Parameters, typename... Arguments>
void ok(int (*function)(void *, Parameters...), void *device, Arguments... arguments) {
  char error[1024] = "";
  ASSERT_EQ(function(device, arguments..., error, sizeof(error)), 0) << error;
}

/// Calls a function of the table, expects a failure and returns the error message.
template <typename... Parameters, typename... Arguments>
std::string failing(int (*function)(void *, Parameters...), void *device, Arguments... arguments) {
  char error[1024] = "";
  EXPECT_NE(function(device, arguments..., error, sizeof(error)), 0);
  return error;
}

/// Fixture with an open device and helpers for float arrays on it.
class Gpu : public ::testing::Test {
protected:
  void SetUp() override;
  void TearDown() override;

  void *open(int index);
  void *allocate(uint64_t bytes) { return allocateOn(device, bytes); }
  void *allocateOn(void *on, uint64_t bytes);
  void *stream() { return streamOn(device); }
  void *streamOn(void *on);
  void *event();
  /// Stores the values until the test ends, because the copy may run late.
  void upload(void *stream, void *to, std::vector<float> values);
  /// Waits for the stream and returns the copied values.
  std::vector<float> download(void *stream, const void *from, size_t count);
  void *load(const std::string &text);
  void *function(void *module, const char *name);
  void launch(void *stream, void *function, std::vector<void *> pointers, uint32_t grid,
              uint32_t block, uint32_t shared = 0);

  void *device = nullptr;

private:
  struct OwnedDescriptor {
    void *device, *what;
  };
  std::vector<OwnedDescriptor> devices, memory, streams, events, modules;
  std::list<std::vector<float>> uploaded;
};

std::vector<float> iota(size_t count, float first = 0);

} // namespace dlc::cuda::test

#endif // DLC_TEST_RUNTIME_DEVICE_CUDA_GPU_H
