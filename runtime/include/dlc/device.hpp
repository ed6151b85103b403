//===- device.hpp - devices by name -------------------------------------------===//
//
//   dlc::Device gpu = dlc::try_gpu();            // cuda:0, or cpu where there is none
//   dlc::Tensor x = dlc::Tensor::zeros({2, 3}, dlc::DType::F32, gpu);
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_DEVICE_HPP
#define DLC_DEVICE_HPP

#include "dlc/Error.h"
#include "dlc/dlc.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc {

namespace detail {

inline void check(dlc_error *error) {
  if (!error)
    return;
  std::string message = dlc_error_message(error);
  dlc_error_free(error);
  throw Error(message);
}

} // namespace detail

struct DeviceProperties {
  std::string name;
  uint64_t totalBytes = 0, freeBytes = 0;
  /// Compute capability; 0.0 for a CPU.
  int major = 0, minor = 0;
  /// Number of multiprocessors of a GPU or cores of a CPU.
  int multiprocessors = 0;
};

/// Name of the device that holds a tensor: cpu, cpu:1 (a virtual device with its own memory),
/// cuda:0, or a plugin's foo:0. The device need not exist until memory is allocated on it.
class Device {
public:
  Device() = default;
  Device(const char *name) { detail::check(dlc_device_parse(name, &id)); }
  Device(const std::string &name) : Device(name.c_str()) {}
  explicit Device(DLDevice device) : id(device) {}

  std::string kind() const {
    std::string full = name();
    return full.substr(0, full.find(':'));
  }
  int index() const {
    std::string full = name();
    size_t colon = full.find(':');
    return colon == std::string::npos ? 0 : std::stoi(full.substr(colon + 1));
  }
  std::string name() const {
    char text[64];
    detail::check(dlc_device_name(id, text, sizeof text));
    return text;
  }
  bool isHost() const { return id.device_type == kDLCPU || id.device_type == kDLCUDAHost; }
  DLDevice dlpack() const { return id; }

  DeviceProperties properties() const {
    dlc_device_info info;
    detail::check(dlc_device_describe(id, &info));
    return {info.name,  info.total_bytes, info.free_bytes,
            info.major, info.minor,       info.multiprocessors};
  }

  bool operator==(const Device &other) const {
    return (isHost() && other.isHost()) ||
           (id.device_type == other.id.device_type && id.device_id == other.id.device_id);
  }
  bool operator!=(const Device &other) const { return !(*this == other); }

private:
  DLDevice id{kDLCPU, 0};
};

/// Returns the number of devices of a kind: "cpu", "cuda" or the kind of a plugin.
inline int num_devices(const std::string &kind) { return dlc_device_count(kind.c_str()); }
inline bool is_available(const std::string &kind) { return num_devices(kind) > 0; }

/// Returns cuda:i if it exists, otherwise cpu.
inline Device try_gpu(int i = 0) {
  return i >= 0 && i < num_devices("cuda") ? Device("cuda:" + std::to_string(i)) : Device();
}
/// Returns all CUDA devices, or cpu if there are none.
inline std::vector<Device> try_all_gpus() {
  std::vector<Device> devices;
  for (int i = 0, count = num_devices("cuda"); i < count; ++i)
    devices.push_back(try_gpu(i));
  return devices.empty() ? std::vector<Device>{Device()} : devices;
}

} // namespace dlc

#endif // DLC_DEVICE_HPP
