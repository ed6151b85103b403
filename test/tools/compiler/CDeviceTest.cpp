//===- CDeviceTest.cpp - rules of devices in the C API ------------------------------===//
#include "dlc/compiler.hpp"
#include "dlc/nn.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>

using testing::HasSubstr;

namespace {

const bool kOnGpus = std::getenv("DLC_TEST_GPUS") != nullptr;
const DLDevice kHost{kDLCPU, 0};
const DLDevice kThere{kOnGpus ? kDLCUDA : kDLExtDev, kOnGpus ? 0 : 1};
const DLDevice kElsewhere{kOnGpus ? kDLCUDA : kDLExtDev, kOnGpus ? 1 : 2};

std::string messageOf(dlc_error *error) {
  std::string text = dlc_error_message(error);
  dlc_error_free(error);
  return text;
}

/// Memory on a device with a DLTensor that describes it.
class Memory {
public:
  Memory(DLDevice device, std::vector<int64_t> dims, DLDataType type = {kDLFloat, 32, 1})
      : dims(std::move(dims)), device(device) {
    uint64_t bytes = type.bits / 8;
    for (int64_t dim : this->dims)
      bytes *= uint64_t(dim);
    dlc_error *error = dlc_memory_allocate(device, bytes, &address);
    EXPECT_EQ(error, nullptr) << dlc_error_message(error);
    tensor = {address, device, int32_t(this->dims.size()), type, this->dims.data(), nullptr, 0};
  }
  ~Memory() { dlc_memory_free(device, address); }
  Memory(const Memory &) = delete;

  std::vector<int64_t> dims;
  DLDevice device;
  void *address = nullptr;
  DLTensor tensor{};
};

void set(Memory &memory, std::vector<float> values) {
  int64_t count = int64_t(values.size());
  DLTensor from{values.data(), kHost, 1, {kDLFloat, 32, 1}, &count, nullptr, 0};
  from.ndim = memory.tensor.ndim;
  from.shape = memory.tensor.shape;
  EXPECT_EQ(dlc_tensor_copy(&memory.tensor, &from), nullptr);
}

std::vector<float> get(const Memory &memory) {
  int64_t count = 1;
  for (int64_t dim : memory.dims)
    count *= dim;
  std::vector<float> values(static_cast<size_t>(count));
  DLTensor to = memory.tensor;
  to.device = kHost;
  to.dtype = {kDLFloat, 32, 1};
  to.data = values.data();
  EXPECT_EQ(dlc_tensor_copy(&to, &memory.tensor), nullptr);
  return values;
}

TEST(DeviceApiC, NamesAndCounts) {
  DLDevice device{};
  ASSERT_EQ(dlc_device_parse(kOnGpus ? "cuda:1" : "cpu:2", &device), nullptr);
  EXPECT_EQ(device.device_type, kElsewhere.device_type);
  EXPECT_EQ(device.device_id, kElsewhere.device_id);
  char name[64];
  ASSERT_EQ(dlc_device_name(device, name, sizeof name), nullptr);
  EXPECT_STREQ(name, kOnGpus ? "cuda:1" : "cpu:2");
  EXPECT_THAT(messageOf(dlc_device_name(device, name, 4)), HasSubstr("bytes; found: 4"));
  EXPECT_THAT(messageOf(dlc_device_name({kDLExtDev, 99 << 16}, name, sizeof name)),
              HasSubstr("is not supported"));
  ASSERT_EQ(dlc_device_parse("cpu", &device), nullptr);
  EXPECT_EQ(device.device_type, kDLCPU);
  for (const char *wrong : {"", "gpu", "cuda:", "cuda:x", "cpu:-1", "cpu:1:2"})
    EXPECT_THAT(messageOf(dlc_device_parse(wrong, &device)),
                HasSubstr("is not a device name; write for example cpu, cpu:1 or cuda:0"));
  EXPECT_NE(messageOf(dlc_device_parse(nullptr, &device)), "");
  EXPECT_GE(dlc_device_count("cpu"), 3);
  EXPECT_EQ(dlc_device_count("tpu"), 0);
  EXPECT_EQ(dlc_device_count(nullptr), 0);
  if (kOnGpus) {
    EXPECT_GE(dlc_device_count("cuda"), 2);
  }
}

TEST(DeviceApiC, Properties) {
  dlc_device_info before, after;
  ASSERT_EQ(dlc_device_describe(kElsewhere, &before), nullptr);
  EXPECT_GT(std::strlen(before.name), 0u);
  EXPECT_GT(before.multiprocessors, 0);
  EXPECT_EQ(before.major > 0, kOnGpus);
  EXPECT_LE(before.free_bytes, before.total_bytes);
  {
    Memory memory(kElsewhere, {1 << 20});
    ASSERT_EQ(dlc_device_describe(kElsewhere, &after), nullptr);
    EXPECT_LE(after.free_bytes + (4 << 20), before.free_bytes);
  }
  ASSERT_EQ(dlc_device_describe(kElsewhere, &after), nullptr);
  EXPECT_EQ(after.free_bytes, before.free_bytes);
  DLDevice absent{kElsewhere.device_type, 99};
  EXPECT_THAT(messageOf(dlc_device_describe(absent, &after)), HasSubstr("device not found:"));
  EXPECT_THAT(messageOf(dlc_device_describe({DLDeviceType(8), 0}, &after)),
              HasSubstr("is not supported"));
}

TEST(DeviceApiC, Memory) {
  void *address = &address;
  ASSERT_EQ(dlc_memory_allocate(kThere, 100, &address), nullptr);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
  dlc_memory_free(kThere, address);
  dlc_memory_free(kThere, nullptr);
  EXPECT_NE(messageOf(dlc_memory_allocate(kThere, uint64_t(1) << 60, &address)), "");
  EXPECT_EQ(address, nullptr);
  // Pinned memory is accessible by the host.
  DLDevice pinned{kDLCUDAHost, 0};
  ASSERT_EQ(dlc_memory_allocate(pinned, 4, &address), nullptr);
  *static_cast<int32_t *>(address) = 5;
  dlc_memory_free(pinned, address);
}

TEST(DeviceApiC, CopiesBetweenAnyDevicesAndTypes) {
  Memory here(kHost, {2, 2}), there(kThere, {2, 2}), elsewhere(kElsewhere, {2, 2});
  set(here, {1, -2, 3.5f, 4});
  ASSERT_EQ(dlc_tensor_copy(&there.tensor, &here.tensor), nullptr);
  ASSERT_EQ(dlc_tensor_copy(&elsewhere.tensor, &there.tensor), nullptr);
  EXPECT_EQ(get(elsewhere), (std::vector<float>{1, -2, 3.5f, 4}));
  Memory integers(kThere, {2, 2}, {kDLInt, 8, 1});
  ASSERT_EQ(dlc_tensor_copy(&integers.tensor, &elsewhere.tensor), nullptr);
  EXPECT_EQ(get(integers), (std::vector<float>{1, -2, 3, 4}));
  Memory other(kThere, {4});
  EXPECT_THAT(messageOf(dlc_tensor_copy(&other.tensor, &there.tensor)),
              HasSubstr("a tensor of shape [2, 2] cannot be copied to one of shape [4]"));
  Memory odd(kThere, {2, 2}, {kDLComplex, 64, 1});
  EXPECT_THAT(messageOf(dlc_tensor_copy(&odd.tensor, &there.tensor)),
              HasSubstr("is not supported"));
  EXPECT_NE(messageOf(dlc_tensor_copy(nullptr, &there.tensor)), "");
}

TEST(DeviceApiC, CopiesBehindOtherWork) {
  Memory here(kHost, {3}), there(kThere, {3}), back(kHost, {3});
  set(here, {1, 2, 3});
  dlc_copy *first = nullptr, *second = nullptr;
  ASSERT_EQ(dlc_tensor_copy_begin(&there.tensor, &here.tensor, &first), nullptr);
  ASSERT_EQ(dlc_copy_end(first), nullptr);
  ASSERT_EQ(dlc_tensor_copy_begin(&back.tensor, &there.tensor, &second), nullptr);
  ASSERT_EQ(dlc_copy_end(second), nullptr);
  EXPECT_EQ(get(back), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(dlc_copy_end(nullptr), nullptr);
}

/// Loads a program y = x w from a file and runs it with the C API. The state w and the tensors are
/// on the device.
TEST(DeviceApiC, ProgramsRunWhereTheirTensorsAre) {
  auto path = std::filesystem::temp_directory_path() /
              ("dlc-c-device-" + std::to_string(getpid()) + ".dlcx");
  dlc::trace::Parameter w("w", {2, 2}, dlc::trace::Init::constant(2));
  dlc::Device device(kThere);
  dlc::compile(dlc::trace::trace([&](dlc::trace::Tensor x) { return matmul(x, w); },
                                 {{"x", {1, 2}}}, {.state = true}),
               {.device = device.name(), .cacheDir = ""})
      .save(path);
  dlc_program *program = nullptr;
  ASSERT_EQ(dlc_program_load(path.c_str(), &program), nullptr);
  std::filesystem::remove(path);
  dlc_session *session = nullptr;
  ASSERT_EQ(dlc_session_create(program, nullptr, &session), nullptr);
  dlc_program_destroy(program);
  Memory x(kThere, {1, 2}), y(kThere, {1, 2}), far(kElsewhere, {1, 2}), here(kHost, {1, 2});
  set(x, {1, 3});
  ASSERT_EQ(dlc_session_run(session, &x.tensor, 1, &y.tensor, 1), nullptr);
  EXPECT_EQ(get(y), (std::vector<float>{8, 8}));
  // Tensors on other devices are copied to the program's device, and results are copied back.
  set(far, {1, 1});
  ASSERT_EQ(dlc_session_run(session, &far.tensor, 1, &here.tensor, 1), nullptr);
  EXPECT_EQ(get(here), (std::vector<float>{4, 4}));
  // The state is on the device. It can be read and written with tensors of any device.
  Memory value(kElsewhere, {2, 2});
  set(value, {1, 0, 0, 1});
  ASSERT_EQ(dlc_session_set_state(session, "w", &value.tensor), nullptr);
  ASSERT_EQ(dlc_session_run(session, &x.tensor, 1, &far.tensor, 1), nullptr);
  EXPECT_EQ(get(far), (std::vector<float>{1, 3}));
  Memory state(kHost, {2, 2});
  ASSERT_EQ(dlc_session_get_state(session, "w", &state.tensor), nullptr);
  EXPECT_EQ(get(state), (std::vector<float>{1, 0, 0, 1}));
  // A wrong type is an error on any device.
  Memory integers(kThere, {1, 2}, {kDLInt, 32, 1});
  EXPECT_THAT(messageOf(dlc_session_run(session, &integers.tensor, 1, &y.tensor, 1)),
              HasSubstr("input 'x' must be of type f32; found: i32"));
  dlc_session_destroy(session);
}

} // namespace
