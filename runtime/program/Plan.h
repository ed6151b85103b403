//===- Plan.h - a manifest that was checked, as plain structures --------------===//
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
  /// Index of the constant that the given bytes must equal, or -1.
  int64_t value = -1;
  /// Index of the device where the program reads or leaves it.
  uint32_t device = 0;
  /// How its elements lie, as oneDNN writes it: aBcd16b; empty: row by row.
  std::string layout;
  /// Of an output of which the run finds a size: the output that says how many there are along this
  /// dimension, of which `shape` has the most that there may be; else -1.
  int64_t counter = -1;
  uint32_t countedDim = 0;
};

/// A tensor that ranks have shares of.
struct SharedTensor {
  std::string name;
  std::vector<int64_t> shape;
  /// Where it begins among the elements of all, and how many it has.
  uint64_t begin = 0, count = 0;
};

/// Of a whole tensor whose parts are shared among ranks: along `dimension` each of `blocks` blocks
/// has a part for every rank, in their order.
struct RankPart {
  uint32_t dimension = 0;
  int64_t ranks = 1, blocks = 1;
};

/// What lives in a session from run to run.
struct StateInfo : TensorInfo {
  /// Gradients go to it.
  bool parameter = false;
  /// With more than one rank the shape is that of a part, and `init` has the whole.
  RankPart part;
  /// Index of the constant that it begins as, or -1: zeros.
  int64_t init = -1;
  /// Where it is each rank's share of tensors that stand one after another, padded: how many ranks
  /// there are, and the tensors.
  int sharers = 0;
  std::vector<SharedTensor> sharedTensors;
};

struct Kernel {
  std::string name;
  /// In the code, of a kernel that is the processor's machine code.
  uint64_t offset = 0;
  /// Of another device's kernel, else -1.
  int64_t module = -1;
  std::string function;
};

/// Code for a GPU. Both are constants; the source may be missing (-1).
struct Module {
  std::string arch;
  uint32_t image = 0;
  int64_t source = -1;
};

struct DeviceInfo {
  std::string name; ///< as people type it: cpu, cpu:1, cuda:0
  uint64_t arenaBytes = 0;
  uint32_t capabilities = 0; ///< its kind's
  bool can(uint32_t wanted) const { return (capabilities & wanted) == wanted; }
  /// Whether the host runs its commands, where its memory is.
  bool isWalked() const { return can(DLC_DEVICE_HOST_CODE | DLC_DEVICE_HOST_MEMORY); }
};

enum class Space : uint8_t { Arena, Constant, Input, Output, State };

struct Buffer {
  Space space = Space::Arena;
  /// Of a state: its new value.
  bool fresh = false;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
  uint32_t device = 0;
  /// How far it moves with each iteration of the innermost loop around who uses it, and the bytes
  /// of its space that it stays in.
  int64_t step = 0;
  uint64_t begin = 0, end = 0;
};

enum class Op : uint8_t { Launch, Library, Copy, Fill, If, Loop, Record, Wait };

/// One command; which members count depends on `op`. Buffer indices are -1 where absent.
struct Command {
  Op op = Op::Launch;
  std::string name;
  std::string loc;
  uint32_t place = 0; ///< in the manifest's list
  uint32_t stream = 0;
  std::vector<uint32_t> buffers;
  /// Positions in `buffers` of what launch and library write; where nothing is said, all that may
  /// be.
  std::vector<uint32_t> writes;
  double flops = 0, moved = 0;
  // launch
  uint32_t kernel = 0;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0;
  std::array<uint32_t, 3> grid{}, block{};
  uint32_t shared = 0;
  // library
  std::string library;
  nlohmann::json desc;
  int64_t room = -1; ///< a buffer that nobody else uses while it runs
  // copy (buffers[0] to buffers[1]) and fill (buffers[0])
  uint64_t bytes = 0;
  uint8_t byte = 0;
  // if and loop
  int64_t cond = -1, trip = -1, index = -1, count = -1, max = -1;
  bool overflowIsError = false;
  std::vector<Command> body, orElse;
  // record and wait
  uint32_t event = 0;
};

struct Plan {
  std::string name, producer;
  std::vector<std::string> features;
  int threads = 0;
  /// The same bits on any number of threads.
  bool reproducible = false;
  /// The first is cpu.
  std::vector<DeviceInfo> devices;
  /// The device of each stream.
  std::vector<uint32_t> streams;
  uint32_t events = 0; ///< their numbers are lower
  std::vector<TensorInfo> inputs, outputs;
  /// The last so many outputs count others.
  size_t counters = 0;
  std::vector<StateInfo> states;
  std::vector<uint64_t> constantBytes;
  std::vector<Module> modules;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Command> commands;

  /// Outputs but those that count others.
  size_t results() const { return outputs.size() - counters; }
  /// Whether all is one list of commands on the host.
  bool isPlain() const { return streams.size() == 1 && streams[0] == 0; }
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PLAN_H
