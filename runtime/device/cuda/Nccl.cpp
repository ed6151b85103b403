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
    const cuda::Loaded &library = cuda::loaded(cuda::Library::Nccl);
    if (!library) {
      t->error = cuda::describe(library);
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
struct Group {
  Comm comm = nullptr;
};

Group &groupOf(void *group) { return *static_cast<Group *>(group); }

/// Returns NCCL's error message, followed by a hint how to fix it.
std::string textOf(Status status, Comm comm) {
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

int check(Status status, const Report &report, Comm comm, const char *what) {
  if (status == nccl::Success || status == InProgress)
    return 0;
  return report.fail("NCCL " + nccl::versionText(functions().version) + " cannot " + what + ": " +
                     textOf(status, comm));
}

/// NCCL's data type and operation for a reduction. A Bool is a byte of 0 or 1, and the sum of Bools
/// is a logical or.
struct Reduced {
  int type, operation;
};

std::optional<Reduced> reducedAs(DType type, int reduction) {
  int operation = reduction == DLC_REDUCE_MAX ? Max : reduction == DLC_REDUCE_MEAN ? Mean : Sum;
  constexpr struct {
    DType type;
    int number;
  } numbers[] = {{DType::F32, F32}, {DType::F16, F16}, {DType::BF16, Bf16}, {DType::F64, F64},
                 {DType::I8, I8},   {DType::U8, U8},   {DType::I32, I32},   {DType::U32, U32},
                 {DType::I64, I64}, {DType::U64, U64}};
  if (type == DType::Bool && operation != Mean)
    return Reduced{U8, Max};
  for (const auto &row : numbers)
    if (row.type == type)
      return Reduced{row.number, operation};
  return std::nullopt;
}

int groupMember(void *handle, dlc_device_member *member, char *error, size_t size) {
  Report report{error, size};
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
  Current current(device);
  return check(functions().getUniqueId(static_cast<UniqueId *>(invitation)), {error, size}, nullptr,
               "create an id for the group of ranks");
}

int groupJoin(void *handle, const void *invitation, int rank, int ranks, void **to, char *error,
              size_t size) {
  Device &device = deviceOf(handle);
  Current current(device);
  UniqueId id;
  std::memcpy(&id, invitation, sizeof id);
  Config config{offsetof(Config, blocking) + sizeof(int), kConfigMagic, kOldestVersion, 0};
  auto group = std::make_unique<Group>();
  *to = nullptr;
  if (int failed = check(functions().initRank(&group->comm, ranks, id, rank, &config),
                         {error, size}, group->comm, "form a group"))
    return failed;
  *to = group.release();
  return 0;
}

int groupRun(void *handle, void *to, void *stream, const dlc_engine_call *call, char *error,
             size_t size) {
  Report report{error, size};
  Device &device = deviceOf(handle);
  Current current(device);
  const Group &group = groupOf(to);
  const Functions &api = functions();
  auto type = static_cast<DType>(call->type);
  auto reduced = reducedAs(type, call->reduction);
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
  Report report{error, size};
  const Group &group = groupOf(to);
  Status behind = nccl::Success;
  if (int failed = check(functions().asyncError(group.comm, &behind), report, group.comm,
                         "report the state of its group"))
    return failed;
  *busy = behind == InProgress;
  return check(behind, report, group.comm, "continue with its group");
}

void groupAbort(void *handle, void *to) {
  Current current(deviceOf(handle));
  Group &group = groupOf(to);
  if (group.comm)
    functions().abort(group.comm);
  group.comm = nullptr;
}

/// Finalizes an NCCL communicator. Returns whether all ranks have reached this point within a few
/// seconds.
bool finishes(Comm comm) {
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
  std::unique_ptr<Group> group(&groupOf(to));
  if (!group->comm)
    return;
  Current current(deviceOf(handle));
  if (finishes(group->comm))
    functions().destroy(group->comm);
  else
    functions().abort(group->comm);
}

} // namespace

void fillNccl(dlc_device_table &table) {
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
