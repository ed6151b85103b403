//===- DeviceTest.cpp - tensors on devices ----------------------------------------===//
#include "dlc/compiler.hpp"
#include "dlc/eager.hpp"
#include "dlc/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <sstream>
#include <unistd.h>

using namespace dlc;
using testing::AllOf;
using testing::HasSubstr;

namespace {

/// Two devices other than the host: virtual devices, or GPUs if DLC_TEST_GPUS is set.
const bool kOnGpus = std::getenv("DLC_TEST_GPUS") != nullptr;
const char *const kThere = kOnGpus ? "cuda:0" : "cpu:1";
const char *const kElsewhere = kOnGpus ? "cuda:1" : "cpu:2";

std::string textOf(const Tensor &x) {
  std::ostringstream out;
  out << x;
  return out.str();
}

std::vector<float> valuesOf(const Tensor &x) {
  Tensor here = x.to("cpu").to(DType::F32);
  return {here.data<float>(), here.data<float>() + here.elements()};
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

TEST(DeviceApi, NamesAndCounts) {
  EXPECT_EQ(Device().name(), "cpu");
  EXPECT_EQ(Device("cpu:0"), Device("cpu"));
  EXPECT_EQ(Device("cuda").name(), "cuda:0");
  EXPECT_EQ(Device("cuda:3").kind(), "cuda");
  EXPECT_EQ(Device("cuda:3").index(), 3);
  EXPECT_NE(Device("cpu:1"), Device("cpu"));
  EXPECT_THAT(errorOf([] { Device("gpu:0"); }),
              HasSubstr("'gpu:0' is not a device name; write for example cpu, cpu:1 or cuda:0"));
  EXPECT_GE(num_devices("cpu"), 2);
  EXPECT_EQ(num_devices("tpu"), 0);
  EXPECT_TRUE(is_available("cpu"));
  EXPECT_EQ(is_available("cuda"), num_devices("cuda") > 0);
}

TEST(DeviceApi, TryGpuFallsBack) {
  int gpus = num_devices("cuda");
  EXPECT_EQ(try_gpu(gpus), Device("cpu"));
  EXPECT_EQ(try_gpu(), gpus ? Device("cuda:0") : Device("cpu"));
  EXPECT_EQ(try_all_gpus().size(), size_t(std::max(1, gpus)));
}

TEST(DeviceApi, Properties) {
  DeviceProperties cpu = Device("cpu").properties(), one = Device("cpu:1").properties();
  EXPECT_EQ(cpu.name, "CPU");
  EXPECT_EQ(one.name, "virtual device 1 on the CPU");
  EXPECT_GT(one.totalBytes, 0u);
  EXPECT_LE(one.freeBytes, one.totalBytes);
  EXPECT_GE(one.multiprocessors, 1);
  Tensor x = Tensor::zeros({1 << 20}, DType::U8, "cpu:6");
  EXPECT_EQ(Device("cpu:6").properties().freeBytes + (1 << 20),
            Device("cpu:6").properties().totalBytes);
  x = Tensor();
  EXPECT_EQ(Device("cpu:6").properties().freeBytes, Device("cpu:6").properties().totalBytes);
}

TEST(DeviceApi, Creation) {
  for (const char *device : {"cpu", kThere, kElsewhere}) {
    EXPECT_EQ(textOf(Tensor::zeros({2, 2}, DType::F32, device)),
              std::string("tensor([[0, 0], [0, 0]], f32, ") + device + ")");
    EXPECT_EQ(valuesOf(Tensor::ones({3}, DType::BF16, device)), std::vector<float>(3, 1));
    EXPECT_EQ(valuesOf(Tensor::full({2}, -2.5, DType::F16, device)), std::vector<float>(2, -2.5));
    EXPECT_EQ(textOf(Tensor::arange(4, DType::I32, device)),
              std::string("tensor([0, 1, 2, 3], i32, ") + device + ")");
    Tensor random = Tensor::random({100}, DType::F32, device, 5);
    EXPECT_EQ(valuesOf(random), valuesOf(Tensor::random({100}, DType::F32, "cpu", 5)));
    EXPECT_NE(valuesOf(random), valuesOf(Tensor::random({100}, DType::F32, "cpu", 6)));
    for (float value : valuesOf(random))
      EXPECT_TRUE(value >= 0 && value < 1);
    Tensor like = Tensor::zeros({1}, DType::I16, device).new_full({2}, 7);
    EXPECT_EQ(textOf(like), std::string("tensor([7, 7], i16, ") + device + ")");
    EXPECT_EQ(like.new_zeros({1}).device(), Device(device));
    EXPECT_EQ(like.new_ones({1}).dtype(), DType::I16);
  }
}

TEST(DeviceApi, ToSharesAndCopies) {
  Tensor x = Tensor::of<float>({2}, {1, 2});
  EXPECT_EQ(x.to("cpu").raw(), x.raw());
  EXPECT_EQ(x.to("cpu:0", true).raw(), x.raw());
  Tensor there = x.to(kThere);
  EXPECT_EQ(there.device(), Device(kThere));
  EXPECT_NE(there.raw(), x.raw());
  EXPECT_EQ(there.to(kThere).raw(), there.raw());
  Tensor own = there.copy(kThere);
  EXPECT_NE(own.raw(), there.raw());
  x.data<float>()[0] = 9;
  EXPECT_EQ(valuesOf(there), (std::vector<float>{1, 2}));
  EXPECT_EQ(valuesOf(there.to(kElsewhere).to("cpu")), (std::vector<float>{1, 2}));
  EXPECT_NE(x.copy().raw(), x.raw());
  EXPECT_THAT(errorOf([&] { there.data<float>(); }),
              HasSubstr(std::string("the tensor is on ") + kThere +
                        ", which the host cannot access; copy it first: x.to(\"cpu\")"));
  EXPECT_THAT(errorOf([&] { x.to("cpu:50"); }), HasSubstr("device not found: cpu:50"));
}

TEST(DeviceApi, CopyBetweenTypes) {
  Tensor from = Tensor::of<float>({4}, {-1.75f, 0, 2.5f, 300}, kThere);
  Tensor to = Tensor::zeros({4}, DType::I8, kElsewhere);
  to.copy_(from);
  EXPECT_EQ(textOf(to), std::string("tensor([-1, 0, 2, 127], i8, ") + kElsewhere + ")");
  EXPECT_EQ(textOf(from.to(DType::Bool)),
            std::string("tensor([true, false, true, true], bool, ") + kThere + ")");
  EXPECT_EQ(from.to(DType::F32).raw(), from.raw());
  EXPECT_EQ(textOf(Tensor::of<int64_t>({1}, {INT64_MAX}).to(DType::U64)),
            "tensor([9223372036854775807], u64, cpu)");
  EXPECT_THAT(errorOf([&] {
                to.copy_(Tensor::zeros({2, 2}));
              }),
              HasSubstr("copy_: the tensor has shape [4], the source has shape [2, 2]"));
}

TEST(DeviceApi, PackedIntegers) {
  Tensor from = Tensor::of<float>({2, 3}, {-9, -2.5f, 7.9f, 1, NAN, 300}, kThere);
  Tensor packed = from.to(DType::I4);
  EXPECT_EQ(packed.bytes(), 4u);
  EXPECT_EQ(textOf(packed), std::string("tensor([[-8, -2, 7], [1, 0, 7]], i4, ") + kThere + ")");
  Tensor host = packed.to("cpu");
  const auto *bytes = static_cast<const uint8_t *>(host.raw());
  EXPECT_EQ(bytes[0], 0xe8);
  EXPECT_EQ(bytes[1], 0x07);
  EXPECT_EQ(textOf(Tensor::of<int>({4}, {-1, 15, 16, 7}).to(DType::U4)),
            "tensor([15, 15, 0, 7], u4, cpu)");
  EXPECT_EQ(textOf(Tensor::of<int>({1}, {9}).to(DType::I4).to(DType::U4)), "tensor([9], u4, cpu)");
  EXPECT_EQ(textOf(Tensor::full({}, 3, DType::U4)), "tensor(3, u4, cpu)");
  EXPECT_THAT(errorOf([&] { packed.to("cpu").data<int8_t>(); }),
              HasSubstr("a tensor of i4 cannot be read as a type of another size"));
}

TEST(DeviceApi, Pinned) {
  Tensor x = Tensor::ones({3});
  Tensor pinned = x.pin();
  EXPECT_TRUE(pinned.is_pinned());
  EXPECT_FALSE(x.is_pinned());
  EXPECT_EQ(pinned.pin().raw(), pinned.raw());
  EXPECT_EQ(pinned.device(), Device("cpu"));
  EXPECT_EQ(valuesOf(pinned.to(kThere, true)), std::vector<float>(3, 1));
}

TEST(DeviceApi, Printing) {
  EXPECT_EQ(textOf(Tensor::of<double>({}, {2.5})), "tensor(2.5, f64, cpu)");
  EXPECT_EQ(textOf(Tensor::zeros({0})), "tensor([], f32, cpu)");
  EXPECT_EQ(textOf(Tensor::arange(2000, DType::I64, kThere)),
            std::string("tensor([0, 1, 2, ..., 1997, 1998, 1999], i64, ") + kThere + ")");
}

TEST(DeviceApi, EagerOperators) {
  for (const char *device : {"cpu", kThere}) {
    Tensor x = Tensor::of<float>({2, 2}, {1, 2, 3, 4}, device),
           y = Tensor::ones({2}, DType::F32, device);
    Tensor z = x + y;
    EXPECT_EQ(textOf(z), std::string("tensor([[2, 3], [4, 5]], f32, ") + device + ")");
    EXPECT_EQ(valuesOf(x - y), (std::vector<float>{0, 1, 2, 3}));
    EXPECT_EQ(valuesOf(x * x / 2), (std::vector<float>{0.5, 2, 4.5, 8}));
    EXPECT_EQ(valuesOf(1 - x), (std::vector<float>{0, -1, -2, -3}));
    EXPECT_EQ(valuesOf(relu(-x + 3)), (std::vector<float>{2, 1, 0, 0}));
    EXPECT_EQ(valuesOf(matmul(x, x)), (std::vector<float>{7, 10, 15, 22}));
    EXPECT_EQ(sum(x).item(), 10);
    EXPECT_EQ(mean(x).device(), Device(device));
    EXPECT_EQ(max(x).item(), 4);
  }
}

TEST(DeviceApi, OperationsAreCompiledOnce) {
  Tensor x = Tensor::ones({7}), y = Tensor::ones({7});
  x = x + y;
  size_t before = eager_programs();
  for (int i = 0; i < 10; ++i)
    x = x + y;
  EXPECT_EQ(eager_programs(), before);
  EXPECT_EQ(valuesOf(x), std::vector<float>(7, 12));
  x.to(kThere) + y.to(kThere);
  EXPECT_EQ(eager_programs(), before + 1);
}

TEST(DeviceApi, MixedOperandsAreRefused) {
  Tensor x = Tensor::ones({2}, DType::F32, kThere), y = Tensor::ones({2});
  EXPECT_EQ(errorOf([&] { x + y; }), std::string("x + y: x is on ") + kThere +
                                         ", y on cpu; move one: y.to(\"" + kThere + "\")");
  EXPECT_EQ(errorOf([&] { matmul(y, x); }),
            std::string("matmul(x, y): x is on cpu, y on ") + kThere + "; move one: y.to(\"cpu\")");
  EXPECT_EQ(errorOf([&] { y *Tensor::arange(2); }),
            "x * y: x has type f32, y has type i64; convert one: y.to(dlc::DType::F32)");
  EXPECT_THAT(errorOf([&] { y + Tensor::ones({3}); }), HasSubstr("x + y: "));
}

TEST(DeviceApi, ScalarsCombineFreely) {
  Tensor x = Tensor::ones({2}, DType::F32, kThere);
  Tensor onHost = Tensor::full({}, 3), elsewhere = Tensor::full({}, 4, DType::I64, kElsewhere);
  EXPECT_EQ(textOf(x + onHost), std::string("tensor([4, 4], f32, ") + kThere + ")");
  EXPECT_EQ(textOf(x * elsewhere), std::string("tensor([4, 4], f32, ") + kThere + ")");
  EXPECT_EQ(textOf(onHost - x), std::string("tensor([2, 2], f32, ") + kThere + ")");
  EXPECT_EQ((onHost + elsewhere).item(), 7);
}

TEST(DeviceApi, ModelsTakeTensorsFromAnywhere) {
  ModelOptions options;
  options.device = kThere;
  Model model = compile(INPUTS "/model.mlir", options);
  std::map<std::string, Tensor> here, there;
  for (const ModelValue &input : model.inputs()) {
    std::vector<int64_t> shape = input.shape;
    here[input.name] = Tensor::random(shape, *input.dtype);
    there[input.name] = here[input.name].to(kElsewhere);
  }
  auto a = model.run(here), b = model.run(there);
  for (auto &[name, value] : a) {
    EXPECT_EQ(value.device(), Device(kThere));
    EXPECT_EQ(valuesOf(value), valuesOf(b[name]));
  }
}

TEST(DeviceApi, CInterface) {
  DLDevice device{};
  ASSERT_EQ(dlc_device_parse("cpu:2", &device), nullptr);
  EXPECT_EQ(device.device_type, kDLExtDev);
  EXPECT_EQ(device.device_id, 2);
  dlc_error *error = dlc_device_parse("npu", &device);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(dlc_error_message(error), HasSubstr("'npu' is not a device name"));
  dlc_error_free(error);
  EXPECT_GE(dlc_device_count("cpu"), 2);
  dlc_device_info info;
  ASSERT_EQ(dlc_device_describe(DLDevice{kDLExtDev, 1}, &info), nullptr);
  EXPECT_STREQ(info.name, "virtual device 1 on the CPU");
  void *memory = nullptr;
  const DLDevice away{kOnGpus ? kDLCUDA : kDLExtDev, kOnGpus ? 1 : 2};
  ASSERT_EQ(dlc_memory_allocate(away, 8, &memory), nullptr);
  int64_t shape[] = {2};
  int32_t numbers[] = {3, -4}, back[2] = {};
  DLTensor host{numbers, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, nullptr, 0};
  DLTensor there{memory, away, 1, {kDLFloat, 32, 1}, shape, nullptr, 0};
  DLTensor home{back, {kDLCPU, 0}, 1, {kDLInt, 32, 1}, shape, nullptr, 0};
  ASSERT_EQ(dlc_tensor_copy(&there, &host), nullptr);
  ASSERT_EQ(dlc_tensor_copy(&home, &there), nullptr);
  EXPECT_EQ(back[1], -4);
  int64_t other[] = {1};
  home.shape = other;
  error = dlc_tensor_copy(&home, &there);
  ASSERT_NE(error, nullptr);
  EXPECT_THAT(dlc_error_message(error),
              HasSubstr("shape [2] cannot be copied to one of shape [1]"));
  dlc_error_free(error);
  dlc_memory_free(away, memory);
}

#ifdef DLC_EMULATED_GPU_FILE
/// Errors on a GPU with 64 MiB are reported, allocate nothing, and do not affect other work.
TEST(GpuErrors, MemoryIsGivenBackAndWorkGoesOn) {
  if (!kOnGpus)
    GTEST_SKIP() << "for GPUs";
  Tensor x = Tensor::ones({64, 64}, DType::F32, kThere);
  Tensor y = matmul(x, x);
  uint64_t before = Device(kThere).properties().freeBytes;
  EXPECT_THAT(errorOf([] { Tensor::zeros({1 << 25}, DType::F32, kThere); }),
              HasSubstr("cuda:0: out of device memory: required: 128.0 MiB; found: "));
  // A program that exceeds the memory, between two that do not.
  trace::Graph graph = trace::traceFunction(
      [](const std::vector<trace::Tensor> &xs) {
        trace::Tensor wide = matmul(xs[0], trace::transpose(xs[0], 0, 1));
        return std::vector<trace::Tensor>{matmul(softmax(wide, 1), xs[0])};
      },
      {{"x", {1 << 13, 2}, DType::F32}}, {.outputs = {"y"}});
  ModelOptions options;
  options.device = kThere;
  Model large = compile(std::move(graph), options);
  EXPECT_THAT(errorOf([&] {
                large.run({{"x", Tensor::ones({1 << 13, 2}, DType::F32, kThere)}});
              }),
              HasSubstr("cuda:0: cannot allocate "));
  EXPECT_EQ(Device(kThere).properties().freeBytes, before);
  EXPECT_EQ(valuesOf(y), std::vector<float>(64 * 64, 64));
  EXPECT_EQ(valuesOf(matmul(y, x))[0], 64 * 64);
}

TEST(GpuErrors, AKernelThatDoesNotCompile) {
  if (!kOnGpus)
    GTEST_SKIP() << "for GPUs";
  Tensor x = Tensor::full({5}, 2, DType::F32, kThere);
  setenv("DLC_EMULATED_CXX", "/bin/false", 1);
  std::string error = errorOf([&] { x *x + 3; });
  unsetenv("DLC_EMULATED_CXX");
  EXPECT_THAT(error, HasSubstr("generated CUDA kernels do not compile for sm_90a (k0_mul"));
  EXPECT_EQ(valuesOf(x * x + 3), std::vector<float>(5, 7));
}

TEST(GpuErrors, ADeviceThatIsNotThere) {
  if (!kOnGpus)
    GTEST_SKIP() << "for GPUs";
  Tensor x = Tensor::full({5}, 2, DType::F32, kThere);
  EXPECT_THAT(errorOf([] { Tensor::ones({2}, DType::F32, "cuda:7"); }),
              HasSubstr("device not found: cuda:7: 2 of kind cuda are available"));
  EXPECT_THAT(errorOf([&] { x.to("cuda:7"); }), HasSubstr("device not found: cuda:7"));
  EXPECT_EQ(valuesOf(x * x), std::vector<float>(5, 4));
}

/// Runs a test of this program in another process with the given environment variables. Returns 0
/// if the test passes.
int elsewhere(const std::string &environment, const std::string &test) {
  std::array<char, 4096> self = {};
  EXPECT_GT(readlink("/proc/self/exe", self.data(), self.size() - 1), 0);
  return std::system(("env " + environment + " '" + self.data() +
                      "' --gtest_also_run_disabled_tests --gtest_filter=GpuErrors.DISABLED_" +
                      test + " > /dev/null")
                         .c_str());
}

/// Errors on a machine whose driver is unusable. Other devices remain usable.
TEST(GpuErrors, DISABLED_WithoutAGpu) {
  for (int again = 0; again < 2; ++again) {
    std::string error = errorOf([] { Tensor::ones({2}, DType::F32, "cuda:0"); });
    EXPECT_THAT(error, HasSubstr("device not found: cuda:0: "));
    EXPECT_THAT(error, HasSubstr(std::getenv("DLC_TEST_EXPECTED")));
    EXPECT_EQ(num_devices("cuda"), 0);
    Tensor x = Tensor::full({5}, 2, DType::F32, try_gpu());
    EXPECT_EQ(x.device(), Device("cpu"));
    EXPECT_EQ(valuesOf(x * x + 3), std::vector<float>(5, 7));
  }
}

TEST(GpuErrors, ADriverThatIsTooOldOrMissing) {
  if (!kOnGpus)
    GTEST_SKIP() << "for GPUs";
  EXPECT_EQ(
      elsewhere("DLC_EMULATED_VERSION=11080 DLC_TEST_EXPECTED='required: CUDA 12.0; found: CUDA "
                "11.8; update the driver'",
                "WithoutAGpu"),
      0);
  EXPECT_EQ(
      elsewhere(
          "DLC_CUDA_DRIVER=/none/libcuda.so.1 DLC_TEST_EXPECTED='/none/libcuda.so.1: no such file'",
          "WithoutAGpu"),
      0);
}

/// If a GEMM library is available, large matmuls use it.
TEST(GpuErrors, DISABLED_SavesAProgramOfALibrary) {
  auto product = [](const std::vector<trace::Tensor> &xs) {
    return std::vector<trace::Tensor>{matmul(xs[0], xs[0])};
  };
  compile(trace::traceFunction(product, {{"x", {256, 256}, DType::F32}}, {.outputs = {"y"}}),
          {.device = "cuda:0"})
      .save(std::getenv("DLC_TEST_FILE"));
}

TEST(GpuErrors, ALibraryThatIsMissing) {
  if (!kOnGpus)
    GTEST_SKIP() << "for GPUs";
  std::string path = testing::TempDir() + "dlc-of-a-library-" + std::to_string(getpid()) + ".dlcx";
  ASSERT_EQ(elsewhere("DLC_CUDA_CUBLASLT='" DLC_EMULATED_GPU_FILE "' DLC_TEST_FILE='" + path + "'",
                      "SavesAProgramOfALibrary"),
            0);
  Tensor x = Tensor::ones({256, 256}, DType::F32, kThere);
  for (int again = 0; again < 2; ++again) {
    uint64_t before = Device(kThere).properties().freeBytes;
    EXPECT_THAT(errorOf([&] {
                  Session::load(path).run({{"x", x}});
                }),
                AllOf(HasSubstr("libcublasLt: missing"),
                      HasSubstr("--kernels generated, or install the library")));
    EXPECT_EQ(Device(kThere).properties().freeBytes, before);
    EXPECT_EQ(valuesOf(matmul(x, x))[0], 256);
  }
  std::remove(path.c_str());
}
#endif

} // namespace
