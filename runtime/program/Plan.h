//===- Plan.h - a validated manifest as C++ structures -----------------------===//
#ifndef DLC_RUNTIME_PROGRAM_PLAN_H
#define DLC_RUNTIME_PROGRAM_PLAN_H

#include "dlc/DType.h"
#include "dlc/device.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace dlc::runtime {

struct TensorInfo {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  uint64_t bytes = 0;
  /// Index of the constant to which an input must be equal, because the input is fixed at compile
  /// time; -1 if it is not fixed.
  int64_t value = -1;
  /// Index of the device where the program reads the input or writes the output.
  uint32_t device = 0;
  /// Memory layout of the elements as a oneDNN format tag, for example aBcd16b; empty: row-major.
  std::string layout;
  /// For an output with a bounded dynamic dimension: index of the output that holds the run-time
  /// size of dimension `countedDim`, whose upper bound is in `shape`. -1 if the shape is static.
  int64_t counter = -1;
  uint32_t countedDim = 0;
};

/// A tensor that is concatenated with others into a state that is sharded over ranks.
struct SharedTensor {
  std::string name;
  std::vector<int64_t> shape;
  /// Offset of the tensor's first element in the concatenation, and its number of elements.
  uint64_t begin = 0, count = 0;
};

/// Sharding of a whole tensor over ranks. Dimension `dimension` consists of `blocks` blocks, each
/// of which is split into one part per rank, in rank order.
struct RankSharding {
  uint32_t dimension = 0;
  int64_t ranks = 1, blocks = 1;
};

/// A tensor that persists in a session between runs.
struct StateInfo : TensorInfo {
  /// Whether the state is a trainable parameter, which receives gradients.
  bool parameter = false;
  /// Sharding of the state over ranks. If `part.ranks` > 1, the shape is that of one rank's part,
  /// while `init` holds the whole tensor.
  RankSharding part;
  /// Index of the constant with the initial value, or -1 for zeros.
  int64_t init = -1;
  /// If the state is one rank's shard of a padded concatenation of tensors: the number of ranks and
  /// the tensors.
  int sharers = 0;
  std::vector<SharedTensor> sharedTensors;
};

struct Kernel {
  std::string name;
  /// Offset in `code` of a CPU kernel.
  uint64_t offset = 0;
  /// Index of the module of a GPU kernel; -1 for a CPU kernel.
  int64_t module = -1;
  std::string function;
};

/// GPU code. `image` and `source` are indices of constants; source is -1 if absent.
struct Module {
  std::string arch;
  uint32_t image = 0;
  int64_t source = -1;
};

struct DeviceInfo {
  std::string name; ///< cpu, cpu:1, cuda:0
  uint64_t arenaBytes = 0;
  uint32_t capabilities = 0; ///< capabilities of the device's kind (DLC_DEVICE_...)
  bool can(uint32_t wanted) const { return (capabilities & wanted) == wanted; }
  /// Returns whether the host executes the device's commands directly on host memory.
  bool isWalked() const { return can(DLC_DEVICE_HOST_CODE | DLC_DEVICE_HOST_MEMORY); }
};

enum class MemorySpace : uint8_t { Arena, Constant, Input, Output, State };

struct Buffer {
  MemorySpace space = MemorySpace::Arena;
  /// For a state buffer: whether it denotes the new value (`new` in the manifest).
  bool fresh = false;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t device = 0;
  /// Bytes by which the address advances in each iteration of the innermost loop around the
  /// command, and the range of the space that the buffer must not leave.
  int64_t step = 0;
  uint64_t begin = 0, end = 0;
};

enum class Op : uint8_t { Launch, Library, Copy, Fill, If, Loop, Record, Wait };

/// One command. `op` determines which members are used. Indices of optional buffers are -1 if
/// absent.
struct Command {
  Op op = Op::Launch;
  std::string name;
  std::string loc;
  uint32_t place = 0; ///< index in the manifest's command list
  uint32_t stream = 0;
  std::vector<uint32_t> buffers;
  /// Indices into `buffers` that a launch or library call writes. If the manifest does not specify
  /// them: all buffers that may be written.
  std::vector<uint32_t> writes;
  double flops = 0, moved = 0;
  // members for a launch
  uint32_t kernel = 0;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t shared = 0;
  // members for a library call
  std::string library;
  nlohmann::json desc;
  int64_t workspace = -1; ///< workspace buffer in the arena; -1 if absent
  // members for copy (buffers[0] to buffers[1]) and fill (buffers[0])
  uint64_t bytes = 0;
  uint8_t byte = 0;
  // members for if and loop
  int64_t cond = -1, trip = -1, index = -1, count = -1, max = -1;
  bool overflowIsError = false;
  /// Whether a loop is independent of the loops before it, back to the first one that is not
  /// concurrent, and may run at the same time as these.
  bool concurrent = false;
  std::vector<Command> body, orElse;
  // member for record and wait
  uint32_t event = 0;
};

struct Plan {
  std::string name, producer;
  std::vector<std::string> features;
  int threads = 0;
  /// Whether results are bitwise identical for any number of threads.
  bool reproducible = false;
  /// Devices of the program. The first one is the host.
  std::vector<DeviceInfo> devices;
  /// Index of the device of each stream.
  std::vector<uint32_t> streams;
  uint32_t events = 0; ///< number of events
  std::vector<TensorInfo> inputs, outputs;
  /// Number of counter outputs, which are the last outputs (see TensorInfo::counter).
  size_t counters = 0;
  std::vector<StateInfo> states;
  std::vector<uint64_t> constantBytes;
  std::vector<Module> modules;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Command> commands;

  /// Returns the number of outputs without the counter outputs.
  size_t results() const { return outputs.size() - counters; }
  /// Returns whether the program is a single stream on the host.
  bool isPlain() const { return streams.size() == 1 && streams[0] == 0; }
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PLAN_H
