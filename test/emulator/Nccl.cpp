//===- Nccl.cpp - emulated NCCL: collectives between emulated GPUs --------------===//
//
// Emulation of libnccl.so.2, loaded if $DLC_CUDA_NCCL names this library. Ranks are threads or
// processes that communicate through files in a folder, whose name is the unique id. A collective
// reads its operand when it is first in its stream and not before, and completes when all ranks
// have reached it. Ranks that call different collectives, which is undefined in NCCL, are an error
// here.
//
//===---------------------------------------------------------------------------===//
#include "test/emulator/Gpu.h"
#include "test/emulator/Numbers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <type_traits>
#include <unistd.h>

using namespace dlc_emulated;

namespace {

enum Status : int {
  Done = 0,
  CudaError = 1,
  SystemError = 2,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};
enum Operation : int { Sum = 0, Max = 2, Mean = 4 };

struct UniqueId {
  char folder[128];
};

struct Config {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

enum class Kind : int { AllReduce, AllGather, ReduceScatter, Broadcast };

/// Parameters of a collective that must be the same on all ranks.
struct Call {
  Kind kind;
  int type, operation, root;
  uint64_t share;
  bool operator==(const Call &) const = default;
};

uint64_t bytesOfType(int type) {
  constexpr uint64_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
  return bytes[type];
}

struct Comm {
  std::string folder, error;
  Device *device = nullptr;
  int rank = 0, ranks = 1;
  uint64_t calls = 0;
  bool formed = false, aborted = false, leaving = false;
  Status broken = Done;

  std::string file(const std::string &what, int of) const {
    return folder + "/" + what + "." + std::to_string(of);
  }
  /// Writes a file that other ranks see complete or not at all.
  void write(const std::string &what, const std::string &bytes) const {
    std::string path = file(what, rank);
    std::ofstream(path + ".part", std::ios::binary).write(bytes.data(), long(bytes.size()));
    std::rename((path + ".part").c_str(), path.c_str());
  }
  std::string read(const std::string &what, int of) const {
    std::ifstream in(file(what, of), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void remove(const std::string &what) const { unlink(file(what, rank).c_str()); }
  bool allHave(const std::string &what) const {
    for (int other = 0; other < ranks; ++other)
      if (access(file(what, other).c_str(), F_OK) != 0)
        return false;
    return true;
  }
  bool someoneAborted() const {
    for (int other = 0; other < ranks; ++other)
      if (access(file("abort", other).c_str(), F_OK) == 0)
        return true;
    return false;
  }
  /// Marks this rank as gone. The last rank to leave removes the folder.
  void go() const {
    write("gone", "");
    // The last two ranks may both see that all ranks are gone.
    std::error_code ignored;
    if (allHave("gone"))
      std::filesystem::remove_all(folder, ignored);
  }
  Status fail(Status status, const std::string &text) {
    error = text;
    broken = status;
    return status;
  }
};

std::string lastError; ///< last error of calls without a communicator

/// Removes the folders of groups that ranks have not left when the process that created them ends.
struct Folders {
  std::vector<std::string> made;
  ~Folders() {
    std::error_code ignored;
    for (const std::string &folder : made)
      std::filesystem::remove_all(folder, ignored);
  }
} folders;

template <typename T> void reduce(char *into, const char *from, uint64_t count, int operation) {
  auto *to = reinterpret_cast<T *>(into);
  const auto *other = reinterpret_cast<const T *>(from);
  for (uint64_t i = 0; i < count; ++i)
    to[i] = operation == Max ? std::max(to[i], other[i]) : static_cast<T>(to[i] + other[i]);
}

void reduceHalves(char *into, const char *from, uint64_t count, int operation, Number type) {
  for (uint64_t i = 0; i < count; ++i) {
    double a = load(into, type, i), b = load(from, type, i);
    store(into, type, i, operation == Max ? std::max(a, b) : a + b);
  }
}

void reduceInto(char *into, const char *from, uint64_t count, const Call &call) {
  switch (call.type) {
  case 0:
    return reduce<int8_t>(into, from, count, call.operation);
  case 1:
    return reduce<uint8_t>(into, from, count, call.operation);
  case 2:
    return reduce<int32_t>(into, from, count, call.operation);
  case 3:
    return reduce<uint32_t>(into, from, count, call.operation);
  case 4:
    return reduce<int64_t>(into, from, count, call.operation);
  case 5:
    return reduce<uint64_t>(into, from, count, call.operation);
  case 7:
    return reduce<float>(into, from, count, call.operation);
  case 8:
    return reduce<double>(into, from, count, call.operation);
  default:
    return reduceHalves(into, from, count, call.operation,
                        call.type == 6 ? Number::F16 : Number::Bf16);
  }
}

/// Divides the sum over all ranks by their number.
void divide(char *data, uint64_t count, const Call &call, int ranks) {
  Number type = call.type == 7   ? Number::F32
                : call.type == 8 ? Number::F64
                : call.type == 6 ? Number::F16
                                 : Number::Bf16;
  for (uint64_t i = 0; i < count; ++i)
    store(data, type, i, load(data, type, i) / ranks);
}

/// Returns the rank's result of a collective, computed from the operands of all ranks.
std::string resultOf(const Call &call, std::vector<std::string> operands, int rank) {
  uint64_t bytes = call.share * bytesOfType(call.type);
  if (call.kind == Kind::Broadcast)
    return operands[static_cast<size_t>(call.root)];
  if (call.kind == Kind::AllGather) {
    std::string all;
    for (const std::string &operand : operands)
      all += operand;
    return all;
  }
  size_t from = call.kind == Kind::ReduceScatter ? static_cast<size_t>(rank) * bytes : 0;
  std::string sum = operands[0].substr(from, bytes);
  for (size_t other = 1; other < operands.size(); ++other)
    reduceInto(sum.data(), operands[other].data() + from, call.share, call);
  if (call.operation == Mean)
    divide(sum.data(), call.share, call, static_cast<int>(operands.size()));
  return sum;
}

struct Meeting {
  std::shared_ptr<Comm> comm;
  Call call;
  std::string name;
  void *stream;
  Address from, to;
  bool brought = false;

  uint64_t share() const { return call.share * bytesOfType(call.type); }
  uint64_t brings() const {
    return call.kind == Kind::ReduceScatter ? share() * static_cast<uint64_t>(comm->ranks)
                                            : share();
  }
  uint64_t takes() const {
    return call.kind == Kind::AllGather ? share() * static_cast<uint64_t>(comm->ranks) : share();
  }

  bool arrived() {
    if (comm->aborted || comm->broken)
      return true;
    if (!brought) {
      brought = true;
      const char *memory = memoryOfLibrary(stream, from, brings(), "collective that reads");
      if (!memory) {
        comm->fail(CudaError, "a collective's operand is no memory of the device");
        return true;
      }
      comm->write(name, std::string(reinterpret_cast<const char *>(&call), sizeof call) +
                            std::string(memory, brings()));
    }
    return comm->allHave(name);
  }

  Result carryOut() {
    if (comm->aborted || comm->broken)
      return Success;
    std::vector<std::string> operands;
    for (int other = 0; other < comm->ranks; ++other) {
      std::string all = comm->read(name, other);
      if (std::memcmp(all.data(), &call, sizeof call) != 0) {
        std::string text = "ranks " + std::to_string(comm->rank) + " and " + std::to_string(other) +
                           " do different things in collective " + name;
        complain(comm->device->index, text);
        comm->fail(InvalidUsage, text);
        return Success;
      }
      operands.push_back(all.substr(sizeof call));
    }
    // Ranks that have arrived at this call have read the operands of the previous one.
    if (uint64_t number = std::stoull(name); number > 0)
      comm->remove(std::to_string(number - 1));
    char *memory = memoryOfLibrary(stream, to, takes(), "collective that writes");
    if (!memory)
      return IllegalAddress;
    std::string result = resultOf(call, std::move(operands), comm->rank);
    std::copy(result.begin(), result.end(), memory);
    return Success;
  }
};

using Handle = std::shared_ptr<Comm> *;

Status enqueue(Handle handle, Call call, const void *from, void *to, void *stream) {
  Comm &comm = **handle;
  if (comm.broken || !comm.formed)
    return comm.broken ? comm.broken : InvalidUsage;
  if (call.type < 0 || call.type > 9 || call.root < 0 || call.root >= comm.ranks ||
      (call.operation == Mean && call.type < 6))
    return comm.fail(InvalidArgument, "a type, root or operation that there is not");
  // The bytes of a call are written and compared with those of other ranks, so the padding must be
  // cleared.
  Call clean;
  std::memset(static_cast<void *>(&clean), 0, sizeof clean);
  clean.kind = call.kind;
  clean.type = call.type;
  clean.operation = call.operation;
  clean.root = call.root;
  clean.share = call.share;
  auto meeting = std::make_shared<Meeting>(Meeting{*handle, clean, std::to_string(comm.calls++),
                                                   stream, reinterpret_cast<Address>(from),
                                                   reinterpret_cast<Address>(to)});
  Result result = enqueueMeeting(
      stream, [meeting] { return meeting->arrived(); }, [meeting] { return meeting->carryOut(); });
  return result ? CudaError : Done;
}

/// Sets `formed` if all ranks have joined. Two ranks on the same GPU are recorded as the
/// communicator's error.
void form(Comm &comm) {
  if (!comm.allHave("join"))
    return;
  for (int other = 0; other < comm.ranks; ++other)
    for (int one = 0; one < other; ++one)
      if (comm.read("join", one) == comm.read("join", other)) {
        comm.fail(InvalidUsage, "Duplicate GPU detected : rank " + std::to_string(one) +
                                    " and rank " + std::to_string(other) + " both on CUDA device " +
                                    comm.read("join", one));
        return;
      }
  comm.formed = true;
}

} // namespace

#define DLC_NCCL extern "C" __attribute__((visibility("default")))

DLC_NCCL int ncclGetVersion(int *version) {
  std::lock_guard<std::mutex> guard(gpu().mutex);
  gpu().start();
  *version = gpu().ncclVersion;
  return Done;
}

DLC_NCCL const char *ncclGetErrorString(int status) {
  switch (status) {
  case Done:
    return "no error";
  case CudaError:
    return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
  case SystemError:
    return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
  case InvalidArgument:
    return "invalid argument (run with NCCL_DEBUG=WARN for details)";
  case InvalidUsage:
    return "invalid usage (run with NCCL_DEBUG=WARN for details)";
  case RemoteError:
    return "remote process exited or there was a network error";
  default:
    return "unknown result code";
  }
}

DLC_NCCL const char *ncclGetLastError(Handle handle) {
  return handle ? (*handle)->error.c_str() : lastError.c_str();
}

DLC_NCCL int ncclGetUniqueId(UniqueId *id) {
  const char *folder = std::getenv("TMPDIR");
  std::string name = std::string(folder && *folder ? folder : "/tmp") + "/dlc-emulated-nccl-XXXXXX";
  std::memset(id, 0, sizeof *id);
  if (name.size() >= sizeof id->folder || !mkdtemp(name.data())) {
    lastError = "no folder " + name + " can be made";
    return SystemError;
  }
  std::snprintf(id->folder, sizeof id->folder, "%s", name.c_str());
  std::lock_guard<std::mutex> guard(gpu().mutex);
  folders.made.push_back(name);
  return Done;
}

DLC_NCCL int ncclCommInitRankConfig(Handle *to, int ranks, UniqueId id, int rank, Config *config) {
  *to = nullptr;
  std::lock_guard<std::mutex> guard(gpu().mutex);
  Device *device = currentDevice();
  if (!device || config->magic != 0xcafebeef || config->version < 21400 || config->blocking != 0 ||
      rank < 0 || rank >= ranks)
    return InvalidArgument;
  auto comm = std::make_shared<Comm>();
  comm->folder = id.folder;
  comm->device = device;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->write("join", std::to_string(device->index));
  *to = new std::shared_ptr(comm);
  return InProgress;
}

DLC_NCCL int ncclCommGetAsyncError(Handle handle, int *status) {
  std::lock_guard<std::mutex> guard(gpu().mutex);
  Comm &comm = **handle;
  if (!comm.broken && comm.someoneAborted())
    comm.fail(RemoteError, "");
  if (!comm.formed && !comm.broken)
    form(comm);
  bool busy = !comm.formed || (comm.leaving && !comm.allHave("leave"));
  *status = comm.broken ? comm.broken : busy ? InProgress : Done;
  return Done;
}

DLC_NCCL int ncclCommFinalize(Handle handle) {
  std::lock_guard<std::mutex> guard(gpu().mutex);
  Comm &comm = **handle;
  if (comm.broken)
    return comm.broken;
  comm.leaving = true;
  comm.write("leave", "");
  return InProgress;
}

DLC_NCCL int ncclCommDestroy(Handle handle) {
  std::lock_guard<std::mutex> guard(gpu().mutex);
  (*handle)->go();
  delete handle;
  return Done;
}

DLC_NCCL int ncclCommAbort(Handle handle) {
  std::lock_guard<std::mutex> guard(gpu().mutex);
  (*handle)->aborted = true;
  (*handle)->write("abort", "");
  (*handle)->go();
  delete handle;
  return Done;
}

DLC_NCCL int ncclAllReduce(const void *from, void *to, size_t count, int type, int operation,
                           Handle comm, void *stream) {
  return enqueue(comm, {Kind::AllReduce, type, operation, 0, count}, from, to, stream);
}
DLC_NCCL int ncclAllGather(const void *from, void *to, size_t share, int type, Handle comm,
                           void *stream) {
  return enqueue(comm, {Kind::AllGather, type, Sum, 0, share}, from, to, stream);
}
DLC_NCCL int ncclReduceScatter(const void *from, void *to, size_t share, int type, int operation,
                               Handle comm, void *stream) {
  return enqueue(comm, {Kind::ReduceScatter, type, operation, 0, share}, from, to, stream);
}
DLC_NCCL int ncclBroadcast(const void *from, void *to, size_t count, int type, int root,
                           Handle comm, void *stream) {
  return enqueue(comm, {Kind::Broadcast, type, Sum, root, count}, from, to, stream);
}
