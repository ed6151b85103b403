//===- Nccl.h - declarations of the NCCL functions in use --------------------===//
//
// dlc has its own declarations so that no CUDA header is needed to build it.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_NCCL_H
#define DLC_RUNTIME_DEVICE_CUDA_NCCL_H

#include <cstddef>
#include <cstdint>
#include <string>

namespace dlc::nccl {

using Comm = struct CommTag *;
using Status = int;

enum : Status { Success = 0, SystemError = 2, InvalidUsage = 5, RemoteError = 6, InProgress = 7 };
enum Operation : int { Sum = 0, Max = 2, Mean = 4 };
enum Type : int {
  I8 = 0,
  U8 = 1,
  I32 = 2,
  U32 = 3,
  I64 = 4,
  U64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  Bf16 = 9
};

struct UniqueId {
  char bytes[128];
};

/// Prefix of ncclConfig_t as of NCCL 2.14. The library reads as many bytes as `size` says and uses
/// defaults for the other fields.
struct Config {
  size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

/// Oldest supported version: NCCL 2.14, which introduced non-blocking communicators. Their
/// initialization and operations do not wait for other ranks.
constexpr int kOldestVersion = 21400;
constexpr unsigned kConfigMagic = 0xcafebeef;

struct Functions {
  Status (*getVersion)(int *version);
  const char *(*errorString)(Status);
  const char *(*lastError)(Comm);
  Status (*getUniqueId)(UniqueId *);
  Status (*initRank)(Comm *, int ranks, UniqueId, int rank, Config *);
  Status (*asyncError)(Comm, Status *);
  Status (*finalize)(Comm);
  Status (*destroy)(Comm);
  Status (*abort)(Comm);
  Status (*allReduce)(const void *from, void *to, size_t count, int type, int operation, Comm,
                      void *stream);
  Status (*allGather)(const void *from, void *to, size_t share, int type, Comm, void *stream);
  Status (*reduceScatter)(const void *from, void *to, size_t share, int type, int operation, Comm,
                          void *stream);
  Status (*broadcast)(const void *from, void *to, size_t count, int type, int root, Comm,
                      void *stream);
  int version;
  std::string error; ///< reason if the library is unavailable
};

/// Returns the functions of NCCL, which is loaded once per process.
const Functions &functions();

/// Formats an NCCL version number: "2.28.9" for 22809.
std::string versionText(int version);

} // namespace dlc::nccl

#endif // DLC_RUNTIME_DEVICE_CUDA_NCCL_H
