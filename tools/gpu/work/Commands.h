//===- Commands.h - what the worker can be asked for ----------------------===//
#ifndef DLC_TOOLS_GPU_WORK_COMMANDS_H
#define DLC_TOOLS_GPU_WORK_COMMANDS_H

#include "tools/gpu/work/Network.h"

namespace dlc::gpu {

/// The limits of the device, as step `machine` found them; 0 where unknown.
struct Peaks {
  double gigabytes = 0;               ///< a second, read and written
  double f32 = 0, tf32 = 0, bf16 = 0; ///< TFLOP/s

  double of(const std::string &precision) const {
    return precision == "bf16" ? bf16 : precision == "tf32" ? tf32 : f32;
  }
};

/// What the device says about itself, its clocks and attributes included.
Json openedDevice(const std::string &device);
/// GB/s of copies within the device and to and from the host, and what an event costs.
Json copies(const std::string &device, int64_t bytes, int rounds);
/// GB/s of a generated elementwise kernel.
Json vectors(const std::string &device, int64_t elements, int rounds, const std::string &folder);
/// TFLOP/s of a product of square matrices.
Json product(const Task &task, int64_t size, int rounds, const std::string &folder);
/// Microseconds that each of many small kernels takes, launched one by one and as a graph.
Json launches(const std::string &device, int kernels, int rounds, const std::string &folder);

/// Runs the network on the processor and keeps results in the folder.
Json reference(const Task &task, int steps, const std::string &folder);
/// Runs it on the task's device and holds the results against the folder's; so many more runs of
/// inference are timed.
Json compareWith(const Task &task, int steps, int rounds, const std::string &folder);

/// Compiles, with every candidate measured that the database does not know.
Json tune(const Task &task);
/// Where the time of one run goes.
Json profile(const Task &task, const Peaks &peaks, int rounds, const std::string &folder);
/// Runs for as long as each line of stdin asks, {"seconds": 0.1}, and answers {"times": [..]}.
void serve(const Task &task);

} // namespace dlc::gpu

#endif // DLC_TOOLS_GPU_WORK_COMMANDS_H
