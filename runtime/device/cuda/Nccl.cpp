//===- Nccl.cpp - collectives between GPUs with NCCL -------------------------===//
//
// A group is a non-blocking NCCL communicator: calls return immediately and report that it is busy.
// So a group that waits for a dead rank can be aborted from another thread.
//
//===-----------------------------------------------------------------------------===//
#include "runtime/device/cuda/Nccl.h"

#include "runtime/device/cuda/Device.h"
#include "runtime/device/cuda/Loader.h"

#include "dlc/DType.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <thread>

namespace dlc::nccl {

std::string versionText(int version) {
  return std::to_string(version / 10000) + "." + std::to_string(version % 10000 / 100) + "." +
         std::to_string(version % 100);
}

const Functions &functions() {
  static const Functions *table = [] {
    auto *t = new Functions();
    const cuda::LoadedLibrary &library = cuda::loadLibrary(cuda::Library::Nccl);
    if (!library) {
      t->error = cuda::formatLibraryStatus(library);
      return t;
    }
    std::string missing;
    auto get = [&](auto &to, const char *name) { library.take(to, name, missing); };
    get(t->getVersion, "ncclGetVersion");
    get(t->errorString, "ncclGetErrorString");
    get(t->lastError, "ncclGetLastError");
    get(t->getUniqueId, "ncclGetUniqueId");
    get(t->initRank, "ncclCommInitRankConfig");
    get(t->asyncError, "ncclCommGetAsyncError");
    get(t->finalize, "ncclCommFinalize");
    get(t->destroy, "ncclCommDestroy");
    get(t->abort, "ncclCommAbort");
    get(t->allReduce, "ncclAllReduce");
    get(t->allGather, "ncclAllGather");
    get(t->reduceScatter, "ncclReduceScatter");
    get(t->broadcast, "ncclBroadcast");
    if (t->getVersion)
      t->getVersion(&t->version);
    if (!missing.empty() || t->version < kOldestVersion)
      t->error = library.path + " is NCCL " +
                 (t->version > 9999 ? versionText(t->version) : "of an old version") + "; NCCL " +
                 versionText(kOldestVersion) +
                 " or later is required; run 'pip install nvidia-nccl-cu13', or set $DLC_CUDA_NCCL "
                 "to the path of another version";
    return t;
  }();
  return *table;
}

} // namespace dlc::nccl

namespace dlc::cuda {

using namespace nccl;

namespace {

/// A device group. `comm` is null after the group was aborted.
struct NcclGroup {
  Comm comm = nullptr;
};

NcclGroup &toNcclGroup(void *group) { return *static_cast<NcclGroup *>(group); }

/// Returns NCCL's error message, followed by a hint how to fix it.
std::string formatNcclError(Status status, Comm comm) {
  std::string text = functions().errorString(status);
  const char *last = functions().lastError(comm);
  std::string why = last ? last : "";
  why.erase(why.find_last_not_of(" \n") + 1);
  if (!why.empty())
    text += " (" + why + ")";
  if (status == RemoteError)
    return text + "; another rank has failed; see its message";
  return text + "; set $NCCL_DEBUG=WARN for more details";
}

int check(Status status, const ErrorBuffer &report, Comm comm, const char *what) {
  if (status == nccl::Success || status == InProgress)
    return 0;
  return report.fail("NCCL " + nccl::versionText(functions().version) + " cannot " + what + ": " +
                     formatNcclError(status, comm));
}

/// NCCL's data type and operation for a reduction. A Bool is a byte of 0 or 1, and the sum of Bools
/// is a logical or.
struct NcclReduction {
  int type, operation;
};

std::optional<NcclReduction> toNcclReduction(DType type, int reduction) {
  int operation = reduction == DLC_REDUCE_MAX ? Max : reduction == DLC_REDUCE_MEAN ? Mean : Sum;
  constexpr struct {
    DType type;
    int number;
  } numbers[] = {{DType::F32, F32}, {DType::F16, F16}, {DType::BF16, Bf16}, {DType::F64, F64},
                 {DType::I8, I8},   {DType::U8, U8},   {DType::I32, I32},   {DType::U32, U32},
                 {DType::I64, I64}, {DType::U64, U64}};
  if (type == DType::Bool && operation != Mean)
    return NcclReduction{U8, Max};
  for (const auto &row : numbers)
    if (row.type == type)
      return NcclReduction{row.number, operation};
  return std::nullopt;
}

int groupMember(void *handle, dlc_device_member *member, char *error, size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  const Functions &api = functions();
  if (!api.error.empty())
    return report.fail("collectives are not available on " + device.name() + ": " + api.error);
  *member = {};
  if (int failed =
          report.check(driver().devicePlace(member->device, sizeof member->device, device.ordinal),
                       device, "report its PCI address"))
    return failed;
  std::snprintf(member->carrier, sizeof member->carrier, "NCCL %s",
                nccl::versionText(api.version).c_str());
  return 0;
}

int groupInvite(void *handle, void *invitation, char *error, size_t size) {
  static_assert(sizeof(UniqueId) == DLC_DEVICE_INVITATION);
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  return check(functions().getUniqueId(static_cast<UniqueId *>(invitation)), {error, size}, nullptr,
               "create an id for the group of ranks");
}

int groupJoin(void *handle, const void *invitation, int rank, int ranks, void **to, char *error,
              size_t size) {
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  UniqueId id;
  std::memcpy(&id, invitation, sizeof id);
  Config config{offsetof(Config, blocking) + sizeof(int), kConfigMagic, kOldestVersion, 0};
  auto group = std::make_unique<NcclGroup>();
  *to = nullptr;
  if (int failed = check(functions().initRank(&group->comm, ranks, id, rank, &config),
                         {error, size}, group->comm, "form a group"))
    return failed;
  *to = group.release();
  return 0;
}

int groupRun(void *handle, void *to, void *stream, const dlc_engine_call *call, char *error,
             size_t size) {
  ErrorBuffer report{error, size};
  Device &device = deviceOf(handle);
  CurrentContext current(device);
  const NcclGroup &group = toNcclGroup(to);
  const Functions &api = functions();
  auto type = static_cast<DType>(call->type);
  auto reduced = toNcclReduction(type, call->reduction);
  size_t bytes = call->share * dtypeBytes(type);
  switch (call->collective) {
  case DLC_COLLECTIVE_ALL_GATHER:
    return check(api.allGather(call->from, call->to, bytes, U8, group.comm, stream), report,
                 group.comm, "gather from all ranks");
  case DLC_COLLECTIVE_BROADCAST:
    return check(api.broadcast(call->from, call->to, bytes, U8, call->root, group.comm, stream),
                 report, group.comm, "send to all ranks");
  default:
    break;
  }
  if (!reduced)
    return report.fail("NCCL does not support reductions of " + std::string(dtypeName(type)) +
                       "; convert the tensor to i32 or f32 before the collective");
  if (call->collective == DLC_COLLECTIVE_REDUCE_SCATTER)
    return check(api.reduceScatter(call->from, call->to, call->share, reduced->type,
                                   reduced->operation, group.comm, stream),
                 report, group.comm, "reduce and scatter");
  return check(api.allReduce(call->from, call->to, call->share, reduced->type, reduced->operation,
                             group.comm, stream),
               report, group.comm, "reduce over all ranks");
}

int groupTest(void *, void *to, int *busy, char *error, size_t size) {
  ErrorBuffer report{error, size};
  const NcclGroup &group = toNcclGroup(to);
  Status behind = nccl::Success;
  if (int failed = check(functions().asyncError(group.comm, &behind), report, group.comm,
                         "report the state of its group"))
    return failed;
  *busy = behind == InProgress;
  return check(behind, report, group.comm, "continue with its group");
}

void groupAbort(void *handle, void *to) {
  CurrentContext current(deviceOf(handle));
  NcclGroup &group = toNcclGroup(to);
  if (group.comm)
    functions().abort(group.comm);
  group.comm = nullptr;
}

/// Finalizes an NCCL communicator. Returns whether all ranks have reached this point within a few
/// seconds.
bool finalizeCommunicator(Comm comm) {
  constexpr std::chrono::seconds most(5);
  auto until = std::chrono::steady_clock::now() + most;
  Status status = functions().finalize(comm);
  while (status == nccl::Success || status == InProgress) {
    if (functions().asyncError(comm, &status) != nccl::Success)
      return false;
    if (status == nccl::Success)
      return true;
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return false;
}

void groupLeave(void *handle, void *to) {
  std::unique_ptr<NcclGroup> group(&toNcclGroup(to));
  if (!group->comm)
    return;
  CurrentContext current(deviceOf(handle));
  if (finalizeCommunicator(group->comm))
    functions().destroy(group->comm);
  else
    functions().abort(group->comm);
}

} // namespace

void setNcclFunctions(dlc_device_table &table) {
  table.capabilities |= DLC_DEVICE_COLLECTIVES;
  table.group_member = groupMember;
  table.group_invite = groupInvite;
  table.group_join = groupJoin;
  table.group_run = groupRun;
  table.group_test = groupTest;
  table.group_abort = groupAbort;
  table.group_leave = groupLeave;
}

} // namespace dlc::cuda
