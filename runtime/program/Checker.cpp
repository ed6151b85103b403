//===- Checker.cpp - validates all offsets, sizes and indices of a manifest --===//
#include "runtime/program/Checker.h"

#include "runtime/kind/Kind.h"
#include "runtime/program/Format.h"
#include "runtime/program/Node.h"
#include "runtime/program/Streams.h"

#include <limits>
#include <set>
#include <string_view>
#include <type_traits>

namespace dlc::runtime {

namespace {

constexpr int kMaxDepth = 64;
constexpr int kMaxRank = 32;
constexpr size_t kMaxStreams = 256;
constexpr uint64_t kMaxEvents = 1 << 20;

class ManifestChecker {
public:
  explicit ManifestChecker(const Program &program) : program(program) {}

  Plan run() {
    ManifestNode root{program.manifest, {}};
    if (root.member("format").unsignedUpTo(UINT64_MAX) != 1)
      failAt(root.where, "format: found ", root.member("format").describe(), "; required: 1");
    plan.name = root.member("name").stringOr("");
    plan.producer = root.member("producer").stringOr("");
    readTarget(root.member("target"));
    plan.reproducible = root.member("reproducible").booleanOr(false);
    readDevices(root);
    readConstants(root.member("constants"));
    readTensors(root.member("inputs"), plan.inputs);
    readTensors(root.member("outputs"), plan.outputs);
    readCounters(root.member("outputs"));
    readTensors(root.member("state"), plan.states);
    root.member("modules").forEach([&](const ManifestNode &node) { readModule(node); });
    root.member("kernels").forEach([&](const ManifestNode &node) { readKernel(node); });
    root.member("buffers").forEach([&](const ManifestNode &node) { readBuffer(node); });
    readCommands(root.member("commands"), plan.commands, 0);
    checkStreams(plan);
    return std::move(plan);
  }

private:
  void readTarget(const ManifestNode &node) {
    if (node.absent())
      return;
    node.member("features").forEach([&](const ManifestNode &feature) {
      plan.features.push_back(feature.string());
    });
    plan.threads = static_cast<int>(node.member("threads").unsignedOr(0, 4096));
  }

  void readDevices(const ManifestNode &root) {
    deviceIndex(std::string(kHostName), root.where);
    if (ManifestNode arena = root.member("arena"); !arena.absent()) {
      if (!arena.value.is_object())
        failAt(arena.where, "required: an object; found: ", arena.describe());
      for (const auto &[name, bytes] : arena.value.items()) {
        ManifestNode node{bytes, {&arena.where, name.c_str(), 0}};
        plan.devices[deviceIndex(name, node.where)].arenaBytes = node.unsignedUpTo(kMaxBytes);
      }
    }
    root.member("streams").forEach([&](const ManifestNode &node) {
      plan.streams.push_back(deviceIndex(node.string(), node.where));
    });
    if (plan.streams.empty())
      plan.streams.push_back(0);
    if (plan.streams.size() > kMaxStreams)
      failAt(root.where, "required: at most ", kMaxStreams,
             " streams; found: ", plan.streams.size());
  }

  uint32_t deviceIndex(const std::string &given, const ManifestPosition &where) {
    auto parsed = parseDeviceName(given);
    if (!parsed)
      failAt(where, "'", given,
             "' is not a device name; required: for example cpu, cpu:1 or cuda:0");
    std::string name = parsed->text();
    for (size_t i = 0; i < plan.devices.size(); ++i)
      if (plan.devices[i].name == name)
        return static_cast<uint32_t>(i);
    const DeviceKind &kind = deviceKind(parsed->kind);
    if (!kind.table)
      failAt(where, "'", given, "' is not available: ", kind.why);
    plan.devices.push_back({name, 0, kind.table->capabilities});
    return static_cast<uint32_t>(plan.devices.size() - 1);
  }

  uint32_t deviceOf(const ManifestNode &node) {
    ManifestNode device = node.member("device");
    return device.absent() ? 0 : deviceIndex(device.string(), device.where);
  }

  void readConstants(const ManifestNode &node) {
    node.forEach([&](const ManifestNode &constant) {
      uint64_t bytes = constant.member("bytes").unsignedUpTo(kMaxBytes);
      size_t index = plan.constantBytes.size();
      if (index >= program.constants.size())
        failAt(constant.where, "the program contains only ", program.constants.size(),
               " constants");
      if (program.constants[index].bytes != bytes)
        failAt(constant.where, "the manifest lists ", bytes, " bytes; the program contains ",
               program.constants[index].bytes);
      plan.constantBytes.push_back(bytes);
    });
    if (plan.constantBytes.size() != program.constants.size())
      failAt(node.where, "the program contains ", program.constants.size(),
             " constants; the manifest lists ", plan.constantBytes.size());
  }

  /// Returns the index of the constant with the tensor's value (`init` or `value` in the manifest),
  /// or -1 if absent.
  int64_t constantOf(const ManifestNode &node, const TensorInfo &info) const {
    if (node.absent())
      return -1;
    uint64_t index = node.unsignedUpTo(kMaxBytes);
    if (index >= plan.constantBytes.size() || plan.constantBytes[index] != info.bytes)
      failAt(node.where, "must be a constant of ", info.bytes, " bytes");
    return static_cast<int64_t>(index);
  }

  void readShares(const ManifestNode &node, StateInfo &info) {
    info.sharers = static_cast<int>(node.member("of").unsignedUpTo(INT32_MAX));
    uint64_t all = 0;
    node.member("parts").forEach([&](const ManifestNode &part) {
      SharedTensor tensor{part.member("name").string(), {}, all, 1};
      bool tooLarge = false;
      part.member("shape").forEach([&](const ManifestNode &dim) {
        uint64_t size = dim.unsignedUpTo(kMaxBytes);
        tooLarge |=
            __builtin_mul_overflow(tensor.count, size, &tensor.count) || tensor.count > kMaxBytes;
        tensor.shape.push_back(static_cast<int64_t>(size));
      });
      all += tensor.count;
      if (tooLarge || all > kMaxBytes || tensor.shape.size() > size_t(kMaxRank))
        failAt(part.where, "a tensor of shape ", formatList(tensor.shape), " is too large");
      info.sharedTensors.push_back(std::move(tensor));
    });
    const uint64_t share = info.bytes / dtypeBytes(info.dtype);
    if (info.shape.size() != 1 || info.sharers < 1 ||
        all > share * static_cast<uint64_t>(info.sharers))
      failAt(node.where, "a share of ", formatList(info.shape), " for each of ", info.sharers,
             " ranks is too small for ", all, " elements");
  }

  template <typename Info> void readTensors(const ManifestNode &list, std::vector<Info> &tensors) {
    std::set<std::string> names;
    list.forEach([&](const ManifestNode &node) {
      Info info;
      info.name = node.member("name").string();
      if (!names.insert(info.name).second)
        failAt(node.where, "a second tensor named '", info.name, "'");
      std::string dtype = node.member("dtype").string();
      auto parsed = parseDType(dtype);
      if (!parsed)
        failAt(node.where, "unknown element type '", dtype, "'");
      info.dtype = *parsed;
      node.member("shape").forEach([&](const ManifestNode &dim) {
        info.shape.push_back(static_cast<int64_t>(dim.unsignedUpTo(kMaxBytes)));
      });
      uint64_t bytes = dtypeBytes(info.dtype);
      bool tooLarge = false;
      for (int64_t size : storedShape(info.dtype, info.shape))
        tooLarge |=
            __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes) || bytes > kMaxBytes;
      if (tooLarge)
        failAt(node.where, "a tensor of shape ", formatList(info.shape), " is too large");
      if (info.shape.size() > size_t(kMaxRank))
        failAt(node.where, "required: at most ", kMaxRank,
               " dimensions; found: ", info.shape.size());
      info.bytes = bytes;
      info.device = deviceOf(node);
      if (ManifestNode layout = node.member("layout"); !layout.absent())
        info.layout = layout.string();
      if constexpr (std::is_same_v<Info, StateInfo>) {
        readPart(node.member("part"), info);
        TensorInfo whole = info;
        whole.bytes *= uint64_t(info.part.ranks);
        info.init = constantOf(node.member("init"), whole);
        info.parameter = node.member("parameter").booleanOr(false);
        if (ManifestNode shares = node.member("shares"); !shares.absent())
          readShares(shares, info);
      } else {
        info.value = constantOf(node.member("value"), info);
      }
      tensors.push_back(std::move(info));
    });
  }

  void readCounters(const ManifestNode &list) {
    size_t i = 0, first = plan.outputs.size();
    list.forEach([&](const ManifestNode &node) {
      TensorInfo &info = plan.outputs[i++];
      ManifestNode counted = node.member("counted");
      if (counted.absent())
        return;
      info.counter = static_cast<int64_t>(counted.member("by").unsignedUpTo(kMaxBytes));
      uint64_t dimension = counted.member("dimension").unsignedUpTo(kMaxBytes);
      if (dimension >= info.shape.size())
        failAt(counted.where, "'", info.name, "' has no dimension ", dimension);
      info.countedDim = static_cast<uint32_t>(dimension);
      first = std::min(first, static_cast<size_t>(info.counter));
    });
    plan.counters = plan.outputs.size() - first;
    for (i = 0; i < plan.outputs.size(); ++i) {
      const TensorInfo &info = plan.outputs[i];
      if (i < first ? info.counter >= static_cast<int64_t>(plan.outputs.size())
                    : info.counter >= 0 || info.dtype != DType::I64 || !info.shape.empty())
        failAt(list.where, "output '", info.name,
               "': an output that holds a dynamic size must be an i64 scalar and follow all other "
               "outputs");
    }
  }

  void readPart(const ManifestNode &node, StateInfo &info) {
    if (node.absent())
      return;
    constexpr uint64_t kMaxRanks = 1 << 20;
    RankSharding &part = info.part;
    part.dimension = uint32_t(node.member("dimension").unsignedUpTo(kMaxRank));
    part.ranks = int64_t(node.member("ranks").unsignedUpTo(kMaxRanks));
    part.blocks = int64_t(node.member("blocks").unsignedUpTo(kMaxRanks));
    if (part.dimension >= info.shape.size() || part.ranks < 1 || part.blocks < 1 ||
        info.shape[part.dimension] % part.blocks != 0 ||
        info.bytes > kMaxBytes / uint64_t(part.ranks))
      failAt(node.where, "cannot be split over ", part.ranks, " ranks in ", part.blocks,
             " blocks along dimension ", part.dimension, " of a tensor of shape ",
             formatList(info.shape));
  }

  void readModule(const ManifestNode &node) {
    auto constant = [&](const ManifestNode &place) {
      uint64_t index = place.unsignedUpTo(UINT32_MAX);
      if (index >= plan.constantBytes.size())
        failAt(place.where, "constant ", index, " does not exist: the program has ",
               plan.constantBytes.size());
      return static_cast<uint32_t>(index);
    };
    Module module;
    module.arch = node.member("arch").stringOr("");
    module.image = constant(node.member("image"));
    if (ManifestNode source = node.member("source"); !source.absent())
      module.source = constant(source);
    plan.modules.push_back(std::move(module));
  }

  void readKernel(const ManifestNode &node) {
    Kernel kernel;
    kernel.name = node.member("name").stringOr("");
    if (ManifestNode module = node.member("module"); !module.absent()) {
      uint64_t index = module.unsignedUpTo(UINT32_MAX);
      if (index >= plan.modules.size())
        failAt(module.where, "module ", index, " does not exist: the program has ",
               plan.modules.size());
      kernel.module = static_cast<int64_t>(index);
      kernel.function = node.member("function").string();
      plan.kernels.push_back(std::move(kernel));
      return;
    }
    kernel.offset = node.member("offset").unsignedUpTo(kMaxBytes);
    if (kernel.offset >= program.code.bytes)
      failAt(node.where, "kernel '", kernel.name, "' starts at ", kernel.offset,
             ", outside the code of ", program.code.bytes, " bytes");
    plan.kernels.push_back(std::move(kernel));
  }

  /// Returns the size in bytes of the memory space that contains the buffer.
  uint64_t spaceBytes(const Buffer &buffer) const {
    switch (buffer.space) {
    case MemorySpace::Arena:
      return plan.devices[buffer.device].arenaBytes;
    case MemorySpace::Constant:
      return plan.constantBytes[buffer.index];
    case MemorySpace::Input:
      return plan.inputs[buffer.index].bytes;
    case MemorySpace::Output:
      return plan.outputs[buffer.index].bytes;
    case MemorySpace::State:
      return plan.states[buffer.index].bytes;
    }
    return 0;
  }

  void readBuffer(const ManifestNode &node) {
    Buffer buffer;
    std::string space = node.member("space").string();
    size_t count = 1;
    if (space == "arena")
      buffer.space = MemorySpace::Arena;
    else if (space == "constant")
      buffer.space = MemorySpace::Constant, count = plan.constantBytes.size();
    else if (space == "input")
      buffer.space = MemorySpace::Input, count = plan.inputs.size();
    else if (space == "output")
      buffer.space = MemorySpace::Output, count = plan.outputs.size();
    else if (space == "state")
      buffer.space = MemorySpace::State, count = plan.states.size();
    else
      failAt(node.where, "unknown space '", space,
             "'; required: arena, constant, input, output or state");
    if (buffer.space != MemorySpace::Arena) {
      uint64_t index = node.member("index").unsignedUpTo(UINT32_MAX);
      if (index >= count)
        failAt(node.where, space, " ", index, " does not exist: the program has ", count);
      buffer.index = static_cast<uint32_t>(index);
    }
    buffer.device = deviceOf(node);
    const TensorInfo *tensor = buffer.space == MemorySpace::Input    ? &plan.inputs[buffer.index]
                               : buffer.space == MemorySpace::Output ? &plan.outputs[buffer.index]
                               : buffer.space == MemorySpace::State  ? &plan.states[buffer.index]
                                                                     : nullptr;
    if (tensor && tensor->device != buffer.device)
      failAt(node.where, space, " '", tensor->name, "' is on ", plan.devices[tensor->device].name,
             ", but the buffer is on ", plan.devices[buffer.device].name);
    buffer.fresh = node.member("new").booleanOr(false);
    if (buffer.fresh && buffer.space != MemorySpace::State)
      failAt(node.where, "only a state may have a new value");
    buffer.offset = node.member("offset").unsignedOr(0, kMaxBytes);
    buffer.bytes = node.member("bytes").unsignedUpTo(kMaxBytes);
    buffer.step = node.member("step").integerOr(0);
    uint64_t limit = spaceBytes(buffer);
    if (buffer.offset > limit || buffer.bytes > limit - buffer.offset)
      failAt(node.where, "offset ", buffer.offset, " with ", buffer.bytes, " bytes exceeds ", space,
             buffer.space == MemorySpace::Arena ? "" : " " + std::to_string(buffer.index), " of ",
             limit, " bytes");
    readWithin(node.member("within"), limit, buffer);
    plan.buffers.push_back(buffer);
  }

  /// Reads `within` = [offset, bytes]: the range of the space that a buffer with a step must not
  /// leave. If absent, it is the whole space.
  static void readWithin(const ManifestNode &node, uint64_t limit, Buffer &buffer) {
    buffer.end = limit;
    if (node.absent())
      return;
    std::vector<uint64_t> within;
    node.forEach([&](const ManifestNode &each) { within.push_back(each.unsignedUpTo(kMaxBytes)); });
    if (within.size() != 2 || within[0] > buffer.offset || within[1] > limit - within[0] ||
        buffer.offset + buffer.bytes > within[0] + within[1])
      failAt(node.where, "required: an offset and a size that contain the buffer");
    buffer.begin = within[0];
    buffer.end = within[0] + within[1];
  }

  static bool isWritable(const Buffer &buffer) {
    return buffer.space == MemorySpace::Arena || buffer.space == MemorySpace::Output ||
           (buffer.space == MemorySpace::State && buffer.fresh);
  }

  uint32_t bufferIndex(const ManifestNode &node, uint64_t atLeast, bool written) {
    uint64_t index = node.unsignedUpTo(UINT32_MAX);
    if (index >= plan.buffers.size())
      failAt(node.where, "buffer ", index, " does not exist: the program has ",
             plan.buffers.size());
    const Buffer &buffer = plan.buffers[index];
    if (buffer.bytes < atLeast)
      failAt(node.where, "buffer ", index, " has ", buffer.bytes, " bytes; required: ", atLeast);
    if (buffer.step && !loops)
      failAt(node.where, "buffer ", index, " has a step, so that its command must be in a loop");
    if (written && (buffer.space == MemorySpace::Constant || buffer.space == MemorySpace::Input))
      failAt(node.where, "buffer ", index, " is written, but is part of a constant or an input");
    if (written && buffer.space == MemorySpace::State && !buffer.fresh)
      failAt(node.where, "buffer ", index, " is written, but is the old value of a state");
    return static_cast<uint32_t>(index);
  }

  int64_t optionalBuffer(const ManifestNode &node, uint64_t atLeast, bool written) {
    return node.absent() ? -1 : int64_t(bufferIndex(node, atLeast, written));
  }

  void readCommands(const ManifestNode &list, std::vector<Command> &commands, int depth) {
    if (depth > kMaxDepth)
      failAt(list.where, "commands nested more than ", kMaxDepth, " deep");
    list.forEach([&](const ManifestNode &node) {
      commands.push_back(readCommand(node, depth));
      commands.back().place = static_cast<uint32_t>(commands.size() - 1);
    });
  }

  Command readCommand(const ManifestNode &node, int depth) {
    Command command;
    std::string op = node.member("op").string();
    command.name = node.member("name").stringOr(op.c_str());
    command.loc = node.member("loc").stringOr("");
    command.flops = node.member("flops").numberOr(0);
    command.moved = node.member("bytes").numberOr(0);
    command.stream = static_cast<uint32_t>(node.member("stream").unsignedOr(0, UINT32_MAX));
    if (command.stream >= plan.streams.size())
      failAt(node.where, "stream ", command.stream, " does not exist: the program has ",
             plan.streams.size());
    if (op == "launch")
      readLaunch(node, command);
    else if (op == "library")
      readLibrary(node, command);
    else if (op == "copy")
      readCopy(node, command);
    else if (op == "fill")
      readFill(node, command);
    else if (op == "if")
      readIf(node, command, depth);
    else if (op == "loop")
      readLoop(node, command, depth);
    else if (op == "record" || op == "wait")
      readEvent(node, command, op == "record");
    else
      failAt(node.where, "unknown command '", op,
             "'; required: launch, library, copy, fill, if, loop, record or wait");
    return command;
  }

  void readLaunch(const ManifestNode &node, Command &command) {
    command.op = Op::Launch;
    uint64_t kernel = node.member("kernel").unsignedUpTo(UINT32_MAX);
    if (kernel >= plan.kernels.size())
      failAt(node.where, "kernel ", kernel, " does not exist: the program has ",
             plan.kernels.size());
    command.kernel = static_cast<uint32_t>(kernel);
    readBuffers(node, command);
    const DeviceInfo &device = plan.devices[plan.streams[command.stream]];
    bool isHostCode = plan.kernels[kernel].module < 0;
    if (!device.can(isHostCode ? DLC_DEVICE_HOST_CODE : DLC_DEVICE_GPU_CODE))
      failAt(node.where, "kernel ", kernel, " is code for ", isHostCode ? "CPUs" : "GPUs",
             ", but the stream is on ", device.name);
    if (!isHostCode)
      return readGrid(node, command);
    command.extent = static_cast<int64_t>(node.member("extent").unsignedUpTo(kMaxBytes));
    command.grain = static_cast<int64_t>(node.member("grain").unsignedOr(1, kMaxBytes));
    if (command.grain == 0)
      failAt(node.where,
             "grain (the number of work items that a thread takes at a time) must be at least 1");
    command.scratch = node.member("scratch").unsignedOr(0, kMaxBytes);
  }

  void readGrid(const ManifestNode &node, Command &command) {
    auto sizes = [&](const char *name, std::array<uint32_t, 3> &to) {
      size_t i = 0;
      node.member(name).forEach([&](const ManifestNode &size) {
        if (i < 3)
          to[i] = static_cast<uint32_t>(size.unsignedUpTo(INT32_MAX));
        ++i;
      });
      if (i != 3 || !to[0] || !to[1] || !to[2])
        failAt(node.where, name, ": required: three positive sizes");
    };
    sizes("grid", command.grid);
    sizes("block", command.block);
    command.shared = static_cast<uint32_t>(node.member("shared").unsignedOr(0, INT32_MAX));
  }

  void readBuffers(const ManifestNode &node, Command &command) {
    node.member("buffers").forEach([&](const ManifestNode &buffer) {
      command.buffers.push_back(bufferIndex(buffer, 0, false));
    });
    ManifestNode writes = node.member("writes");
    writes.forEach([&](const ManifestNode &position) {
      uint64_t at = position.unsignedUpTo(UINT32_MAX);
      if (at >= command.buffers.size())
        failAt(position.where, "the command has only ", command.buffers.size(), " buffers");
      bufferIndex(node.member("buffers").at(at), 0, true);
      command.writes.push_back(static_cast<uint32_t>(at));
    });
    if (!writes.absent())
      return;
    for (uint32_t i = 0; i < command.buffers.size(); ++i)
      if (isWritable(plan.buffers[command.buffers[i]]))
        command.writes.push_back(i);
  }

  void readEvent(const ManifestNode &node, Command &command, bool record) {
    command.op = record ? Op::Record : Op::Wait;
    command.event = static_cast<uint32_t>(node.member("event").unsignedUpTo(kMaxEvents - 1));
    plan.events = std::max(plan.events, command.event + 1);
  }

  void readLibrary(const ManifestNode &node, Command &command) {
    command.op = Op::Library;
    command.library = node.member("library").string();
    ManifestNode desc = node.member("desc");
    if (!desc.value.is_object())
      failAt(desc.where, "required: an object; found: ", desc.describe());
    command.desc = desc.value;
    readBuffers(node, command);
    readWorkspace(node.member("room"), command);
  }

  void readWorkspace(const ManifestNode &node, Command &command) {
    command.workspace = optionalBuffer(node, 0, true);
    if (command.workspace < 0)
      return;
    const Buffer &workspace = plan.buffers[static_cast<size_t>(command.workspace)];
    if (workspace.space != MemorySpace::Arena || workspace.offset % 64 != 0 || workspace.step != 0)
      failAt(node.where, "required: a range of the arena that starts at a multiple of 64 bytes");
    if (!plan.isPlain())
      failAt(node.where, "scratch ranges are only valid for a list of commands on the host");
    for (uint32_t index : command.buffers) {
      const Buffer &other = plan.buffers[index];
      if (other.space == MemorySpace::Arena && other.offset < workspace.offset + workspace.bytes &&
          workspace.offset < other.offset + other.bytes)
        failAt(node.where, "the scratch range overlaps buffer ", index, " of the command");
    }
  }

  void readCopy(const ManifestNode &node, Command &command) {
    command.op = Op::Copy;
    command.bytes = node.member("bytes").unsignedUpTo(kMaxBytes);
    command.buffers = {bufferIndex(node.member("from"), command.bytes, false),
                       bufferIndex(node.member("to"), command.bytes, true)};
  }

  void readFill(const ManifestNode &node, Command &command) {
    command.op = Op::Fill;
    command.byte = static_cast<uint8_t>(node.member("byte").unsignedOr(0, 255));
    command.buffers = {bufferIndex(node.member("to"), 0, true)};
    command.bytes = plan.buffers[command.buffers[0]].bytes;
  }

  void readIf(const ManifestNode &node, Command &command, int depth) {
    command.op = Op::If;
    command.cond = bufferIndex(node.member("cond"), 1, false);
    readCommands(node.member("then"), command.body, depth + 1);
    readCommands(node.member("else"), command.orElse, depth + 1);
  }

  void readLoop(const ManifestNode &node, Command &command, int depth) {
    command.op = Op::Loop;
    command.trip = optionalBuffer(node.member("trip"), 8, false);
    command.cond = optionalBuffer(node.member("cond"), 1, false);
    command.index = optionalBuffer(node.member("index"), 8, true);
    command.count = optionalBuffer(node.member("count"), 8, true);
    if (ManifestNode max = node.member("max"); !max.absent())
      command.max = static_cast<int64_t>(max.unsignedUpTo(kMaxBytes));
    if (command.trip < 0 && command.cond < 0 && command.max < 0)
      failAt(node.where, "a loop without trip, cond and max would never end");
    std::string overflow = node.member("overflow").stringOr("stop");
    if (overflow != "stop" && overflow != "error")
      failAt(node.where, "overflow: required: stop or error; found: '", overflow, "'");
    command.overflowIsError = overflow == "error";
    command.concurrent = node.member("concurrent").booleanOr(false);
    if (command.concurrent && depth > 0)
      failAt(node.where, "a concurrent loop is not allowed inside if and loop");
    ++loops;
    readCommands(node.member("body"), command.body, depth + 1);
    --loops;
  }

  const Program &program;
  Plan plan;
  int loops = 0; ///< nesting depth of loops around the current command
};

} // namespace

Plan checkProgram(const Program &program) {
  if (program.code.bytes > 0 && !program.code.data)
    fail("program: code of ", program.code.bytes, " bytes without data");
  for (size_t i = 0; i < program.constants.size(); ++i)
    if (program.constants[i].bytes > 0 && !program.constants[i].data)
      fail("program: constant ", i, " of ", program.constants[i].bytes, " bytes without data");
  try {
    return ManifestChecker(program).run();
  } catch (const json::exception &error) {
    fail("program manifest: ", error.what(),
         "; the program is damaged, or another version of dlc made it; compile the model again");
  }
}

} // namespace dlc::runtime
