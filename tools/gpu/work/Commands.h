//===- Commands.h - commands of the worker --------------------------------===//
#ifndef DLC_TOOLS_GPU_WORK_COMMANDS_H
#define DLC_TOOLS_GPU_WORK_COMMANDS_H

#include "tools/gpu/work/Network.h"

namespace dlc::gpu {

/// Peak performance of the device that the step `machine` has measured; 0 if unknown.
struct PeakPerformance {
  double gigabytes = 0;               ///< memory bandwidth in GB/s, reads plus writes
  double f32 = 0, tf32 = 0, bf16 = 0; ///< matmul throughput in TFLOP/s

  double of(const std::string &precision) const {
    return precision == "bf16" ? bf16 : precision == "tf32" ? tf32 : f32;
  }
};

/// Opens the device and returns its properties, including clocks and attributes.
Json describeDevice(const std::string &device);
/// Measures the bandwidth of copies within the device and to and from the host in GB/s, and the
/// minimum time between two events.
Json measureCopies(const std::string &device, int64_t bytes, int rounds);
/// Measures the bandwidth of a generated elementwise kernel in GB/s.
Json measureElementwise(const std::string &device, int64_t elements, int rounds,
                        const std::string &folder);
/// Measures the throughput of a matmul of square matrices in TFLOP/s.
Json measureMatmul(const MeasurementTask &task, int64_t size, int rounds,
                   const std::string &folder);
/// Measures the launch overhead: the time per kernel in a sequence of small kernels, in
/// microseconds.
Json measureLaunches(const std::string &device, int kernels, int rounds, const std::string &folder);

/// Runs the network on the CPU, and writes the results to the folder as the reference.
Json computeReference(const MeasurementTask &task, int steps, const std::string &folder);
/// Runs the network on the task's device and compares the results with the CPU's results in the
/// folder. Then times `rounds` runs of inference.
Json compareWithReference(const MeasurementTask &task, int steps, int rounds,
                          const std::string &folder);

/// Compiles the network with autotuning: measures all candidates that are not in the tuning
/// database.
Json tuneTask(const MeasurementTask &task);
/// Profiles a run of the network: the time of each command relative to the device's peak
/// performance.
Json profileTask(const MeasurementTask &task, const PeakPerformance &peaks, int rounds,
                 const std::string &folder);
/// Serves timing requests: for each line of stdin, such as {"seconds": 0.1}, runs the network for
/// this duration. Replies with {"times": [..]}.
void serveTimingRequests(const MeasurementTask &task);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_WORK_COMMANDS_H
