//===- Plan.h - a manifest that was checked, as plain structures --------------===//
#ifndef DLC_RUNTIME_PROGRAM_PLAN_H
#define DLC_RUNTIME_PROGRAM_PLAN_H

#include "dlc/DType.h"

#include <nlohmann/json.hpp>

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
};

/// What lives in a session from run to run.
struct StateInfo : TensorInfo {
  /// Gradients go to it.
  bool parameter = false;
  /// Index of the constant that it begins as, or -1: zeros.
  int64_t init = -1;
};

struct Kernel {
  std::string name;
  uint64_t offset = 0;
};

enum class Space : uint8_t { Arena, Constant, Input, Output, State };

struct Buffer {
  Space space = Space::Arena;
  /// Of a state: its new value.
  bool fresh = false;
  uint32_t index = 0;
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

enum class Op : uint8_t { Launch, Library, Copy, Fill, If, Loop };

/// One command; which members count depends on `op`. Buffer indices are -1 where absent.
struct Command {
  Op op = Op::Launch;
  std::string name;
  std::string loc;
  std::vector<uint32_t> buffers;
  double flops = 0, moved = 0;
  // launch
  uint32_t kernel = 0;
  int64_t extent = 0, grain = 1;
  uint64_t scratch = 0;
  // library
  std::string library;
  nlohmann::json desc;
  // copy (buffers[0] to buffers[1]) and fill (buffers[0])
  uint64_t bytes = 0;
  int64_t fromStep = 0, toStep = 0;
  uint8_t byte = 0;
  // if and loop
  int64_t cond = -1, trip = -1, index = -1, count = -1, max = -1;
  bool overflowIsError = false;
  std::vector<Command> body, orElse;
};

struct Plan {
  std::string name, producer;
  std::vector<std::string> features;
  int threads = 0;
  uint64_t arenaBytes = 0;
  std::vector<TensorInfo> inputs, outputs;
  std::vector<StateInfo> states;
  std::vector<uint64_t> constantBytes;
  std::vector<Kernel> kernels;
  std::vector<Buffer> buffers;
  std::vector<Command> commands;
};

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_PLAN_H
