//===- Machine.cpp - peak performance of the device -----------------------===//
#include "tools/gpu/work/Commands.h"

#include "runtime/device/Device.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>

namespace dlc::gpu {
namespace {

runtime::Device &openDeviceByName(const std::string &device) {
  return runtime::openDevice(*runtime::parseDeviceName(device));
}

/// Measures the time of work in a stream between two events, in milliseconds.
class StreamTimer {
public:
  explicit StreamTimer(runtime::Device &device) : device(device) {
    device.call(device.table.stream_create, &stream);
    device.call(device.table.event_create, &from);
    device.call(device.table.event_create, &to);
  }
  ~StreamTimer() {
    device.table.event_destroy(device.handle, from);
    device.table.event_destroy(device.handle, to);
    device.table.stream_destroy(device.handle, stream);
  }
  StreamTimer(const StreamTimer &) = delete;

  template <typename Work> double milliseconds(int rounds, const Work &work) {
    std::vector<double> times;
    for (int i = 0; i < rounds + 1; ++i) {
      device.call(device.table.event_record, from, stream);
      work(stream);
      device.call(device.table.event_record, to, stream);
      device.call(device.table.event_synchronize, to);
      float ms = 0;
      device.call(device.table.event_elapsed, from, to, &ms);
      // Round 0 is a warm-up, which touches memory for the first time.
      if (i > 0)
        times.push_back(ms);
    }
    return median(times);
  }

private:
  runtime::Device &device;
  void *stream = nullptr, *from = nullptr, *to = nullptr;
};

double gigabytesPerSecond(double bytes, double milliseconds) {
  return milliseconds > 0 ? bytes / milliseconds * 1e-6 : 0;
}

/// Runs the program and returns the sum of its kernels' times in microseconds, from device
/// timestamps.
double sumKernelTimes(ProgramBench &bench) {
  runtime::Session &session = bench.session();
  session.setTrace(true);
  bench.run();
  session.setTrace(false);
  double us = 0;
  for (const runtime::TraceEvent &event : session.takeTrace())
    us += double(event.endNs - event.startNs) * 1e-3;
  return us;
}

std::string listKernelNames(const runtime::Session &session) {
  std::string names;
  for (const runtime::CommandInfo &command : session.commands())
    names += (names.empty() ? "" : ", ") + command.implementation;
  return names;
}

} // namespace

Json describeDevice(const std::string &device) {
  dlc_device_properties found = openDeviceByName(device).properties();
  Json json = {{"name", found.name},
               {"capability", std::to_string(found.major) + "." + std::to_string(found.minor)},
               {"multiprocessors", found.multiprocessors},
               {"total_bytes", found.total_bytes},
               {"free_bytes", found.free_bytes}};
  // Queries further device attributes directly from the CUDA driver.
  const char *path = std::getenv("DLC_CUDA_DRIVER");
  void *driver = dlopen(path && *path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  using Ask = int (*)(int *, int, int);
  using Version = int (*)(int *);
  auto ask = driver ? reinterpret_cast<Ask>(dlsym(driver, "cuDeviceGetAttribute")) : nullptr;
  auto version = driver ? reinterpret_cast<Version>(dlsym(driver, "cuDriverGetVersion")) : nullptr;
  int value = 0;
  if (version && version(&value) == 0)
    json["driver_cuda"] = value;
  // Names in the result, and values of the driver's enum CUdevice_attribute.
  const std::pair<const char *, int> attributes[] = {{"clock_khz", 13},
                                                     {"memory_clock_khz", 36},
                                                     {"memory_bus_bits", 37},
                                                     {"l2_bytes", 38},
                                                     {"shared_per_block", 97},
                                                     {"shared_per_multiprocessor", 81},
                                                     {"registers_per_multiprocessor", 82},
                                                     {"integrated", 18},
                                                     {"ecc", 32}};
  int ordinal = std::atoi(device.substr(device.find(':') + 1).c_str());
  for (auto [name, number] : attributes)
    if (ask && ask(&value, number, ordinal) == 0)
      json[name] = value;
  double memory = json.value("memory_clock_khz", 0) * 1e3, bits = json.value("memory_bus_bits", 0);
  if (memory > 0 && bits > 0)
    json["gb_s_by_clock"] = 2 * memory * bits / 8 * 1e-9;
  if (double clock = json.value("clock_khz", 0) * 1e3; clock > 0)
    json["f32_tflops_by_clock"] = clock * found.multiprocessors * 128 * 2 * 1e-12;
  return json;
}

Json measureCopies(const std::string &name, int64_t size, int rounds) {
  runtime::Device &device = openDeviceByName(name);
  auto bytes = uint64_t(size);
  runtime::DeviceMemory from(device, bytes, "a copy"), to(device, bytes, "a copy");
  runtime::DeviceMemory pinned = runtime::DeviceMemory::pinned(device, bytes, "a copy");
  std::vector<char> pageable(bytes, 1);
  void *none = nullptr;
  StreamTimer watch(device);
  auto copy = [&](void *target, const void *source, int direction) {
    return watch.milliseconds(rounds, [&](void *stream) {
      device.call(device.table.copy, stream, target, source, bytes, direction, none);
    });
  };
  double within = copy(to.data(), from.data(), DLC_COPY_WITHIN);
  double up = copy(to.data(), pinned.data(), DLC_COPY_HOST_TO_DEVICE);
  double down = copy(pinned.data(), to.data(), DLC_COPY_DEVICE_TO_HOST);
  double upPageable = copy(to.data(), pageable.data(), DLC_COPY_HOST_TO_DEVICE);
  double fill = watch.milliseconds(rounds, [&](void *stream) {
    device.call(device.table.fill, stream, static_cast<void *>(to.data()), uint8_t(0), bytes);
  });
  double event = watch.milliseconds(5 * rounds, [](void *) {});
  return {{"bytes", bytes},
          {"within_gb_s", gigabytesPerSecond(2 * double(bytes), within)},
          {"fill_gb_s", gigabytesPerSecond(double(bytes), fill)},
          {"to_device_gb_s", gigabytesPerSecond(double(bytes), up)},
          {"from_device_gb_s", gigabytesPerSecond(double(bytes), down)},
          {"to_device_pageable_gb_s", gigabytesPerSecond(double(bytes), upPageable)},
          {"between_events_us", event * 1e3}};
}

Json measureElementwise(const std::string &device, int64_t elements, int rounds,
                        const std::string &folder) {
  MeasurementTask task{.device = device};
  PreparedNetwork prepared;
  prepared.inputs = {{"x", {elements}}, {"y", {elements}}};
  for (const trace::Spec &spec : prepared.inputs)
    prepared.batch.push_back(randomTensor(spec, 0, prepared.batch.size() + 1));
  Model model = compile(
      trace::trace([](trace::Tensor x, trace::Tensor y) { return x * 0.5 + y; }, prepared.inputs),
      makeModelOptions(task));
  double compiled = model.prepare();
  std::unique_ptr<ProgramBench> bench = benchOf(model, prepared, task, folder);
  std::vector<char> got = bench->runSpoiled().at(0);
  const auto *z = reinterpret_cast<const float *>(got.data());
  double error = 0;
  for (int64_t i = 0; i < elements; ++i) {
    double want = 0.5 * prepared.batch[0].data<float>()[i] + prepared.batch[1].data<float>()[i];
    double apart = std::abs(z[i] - want);
    error = apart <= error ? error : apart;
  }
  std::vector<double> us;
  for (int i = 0; i < rounds; ++i)
    us.push_back(sumKernelTimes(*bench));
  double bytes = 3.0 * double(elements) * sizeof(float);
  return {{"compile_s", compiled},
          {"bytes", bytes},
          {"us", median(us)},
          {"gb_s", median(us) > 0 ? bytes / median(us) * 1e-3 : 0},
          {"error", error},
          {"ok", error < 1e-6},
          {"kernel", listKernelNames(bench->session())}};
}

Json measureMatmul(const MeasurementTask &task, int64_t size, int rounds,
                   const std::string &folder) {
  const bool bytes = task.precision == "int8";
  DType dtype = bytes ? DType::I8 : task.precision == "bf16" ? DType::BF16 : DType::F32;
  PreparedNetwork prepared;
  prepared.inputs = {{"x", {size, size}, dtype}, {"w", {size, size}, dtype}};
  std::vector<Tensor> plain;
  for (const trace::Spec &spec : prepared.inputs) {
    trace::Spec f32 = spec;
    f32.dtype = DType::F32;
    Tensor numbers = randomTensor(f32, 0, plain.size() + 1);
    if (bytes)
      for (int64_t i = 0; i < size * size; ++i)
        numbers.data<float>()[i] *= 127;
    prepared.batch.push_back(numbers.to(dtype));
    plain.push_back(prepared.batch.back().to(DType::F32));
  }
  ModelOptions options = makeModelOptions(task);
  // The operands already have the required type, so the option `precision` must not convert them.
  options.precision = "none";
  // An integer matmul as in quantized models: the weights are stored transposed, contiguous along
  // the reduction (K) axis.
  auto multiplied = [&](trace::Tensor x, trace::Tensor w) {
    return bytes ? matmul(cast(x, DType::I32), transpose(cast(w, DType::I32), 0, 1)) : matmul(x, w);
  };
  Model model = compile(trace::trace(multiplied, prepared.inputs), options);
  double compiled = model.prepare();
  std::unique_ptr<ProgramBench> bench = benchOf(model, prepared, task, folder);
  std::vector<char> got = bench->runSpoiled().at(0);
  Tensor result(bytes ? DType::I32 : dtype, {size, size});
  std::copy(got.begin(), got.end(), static_cast<char *>(result.raw()));
  result = result.to(DType::F32);
  // Compares 256 sampled elements of the result with a computation in f64.
  std::vector<float> have, want;
  for (int64_t i = 0; i < 256; ++i) {
    int64_t row = i * 7919 % size, column = i * 104729 % size;
    double sum = 0;
    for (int64_t k = 0; k < size; ++k)
      sum += double(plain[0].data<float>()[row * size + k]) *
             plain[1].data<float>()[bytes ? column * size + k : k * size + column];
    want.push_back(float(sum));
    have.push_back(result.data<float>()[row * size + column]);
  }
  ArrayDifference difference = computeDifference(have.data(), want.data(), want.size());
  std::vector<double> us;
  for (int i = 0; i < rounds + 2; ++i)
    us.push_back(sumKernelTimes(*bench));
  us.erase(us.begin(), us.begin() + 2);
  double flops = 2.0 * double(size) * double(size) * double(size);
  double most = task.precision == "bf16" ? 1e-2 : task.precision == "tf32" ? 2e-3 : 1e-5;
  return {{"size", size},
          {"compile_s", compiled},
          {"us", median(us)},
          {"tflops", median(us) > 0 ? flops / median(us) * 1e-6 : 0},
          {"error", difference.norm},
          {"ok", difference.norm <= most && difference.bad == 0},
          {"kernel", listKernelNames(bench->session())}};
}

Json measureLaunches(const std::string &device, int kernels, int rounds,
                     const std::string &folder) {
  MeasurementTask task{.device = device};
  PreparedNetwork prepared;
  prepared.inputs = {{"x", {64, 64}}};
  prepared.batch = {randomTensor(prepared.inputs[0], 0, 1)};
  auto chain = [&](trace::Tensor x) {
    // The softmax axes alternate, which prevents the fusion of consecutive kernels.
    for (int i = 0; i < kernels; ++i)
      x = softmax(x, i % 2);
    return x;
  };
  Model model = compile(trace::trace(chain, prepared.inputs), makeModelOptions(task));
  model.prepare();
  std::unique_ptr<ProgramBench> bench = benchOf(model, prepared, task, folder);
  size_t count = bench->session().commands().size();
  bench->run();
  uint64_t graphs = bench->session().graphLaunches();
  auto measure = [&] {
    std::vector<double> us;
    for (int i = 0; i < rounds + 2; ++i) {
      double start = now();
      bench->run();
      us.push_back((now() - start) * 1e6 / double(std::max<size_t>(count, 1)));
    }
    us.erase(us.begin(), us.begin() + 2);
    return median(us);
  };
  double each = measure();
  graphs = bench->session().graphLaunches() - graphs;
  return {{"commands", count},
          {"us_each", each},
          {"graph_launches", graphs},
          {"work_us_each", sumKernelTimes(*bench) / double(std::max<size_t>(count, 1))}};
}

} // namespace dlc::gpu
