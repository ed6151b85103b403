//===- Exchange.h - DLPack between Python libraries, as data layout only ------===//
//
// What DLPack 1.x adds to dlc/dlpack.h: tensors that say which version they are of, and the table
// of C functions that a type of arrays offers as __dlpack_c_exchange_api__.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_TOOLS_PYTHON_EXCHANGE_H
#define DLC_TOOLS_PYTHON_EXCHANGE_H

#include "dlc/dlpack.h"

namespace dlc::python {

struct PackVersion {
  uint32_t major, minor;
};

struct VersionedTensor {
  PackVersion version;
  void *context;
  void (*deleter)(VersionedTensor *self);
  uint64_t flags;
  DLTensor tensor;
};

/// Functions return 0, or -1 with a Python exception set; they want the GIL. None of them waits for
/// work that is under way on a device.
struct ExchangeTable {
  using SetError = void (*)(void *context, const char *kind, const char *message);

  PackVersion version;
  ExchangeTable *before;
  int (*allocate)(DLTensor *like, VersionedTensor **made, void *context, SetError setError);
  int (*managedFromObject)(void *object, VersionedTensor **tensor);
  /// Takes the tensor over.
  int (*toObject)(VersionedTensor *tensor, void **object);
  /// What it leaves lives as long as the object. May be NULL.
  int (*fromObject)(void *object, DLTensor *tensor);
  int (*currentStream)(DLDeviceType type, int32_t number, void **stream);
};

inline constexpr char kExchangeAttribute[] = "__dlpack_c_exchange_api__";
inline constexpr char kExchangeCapsule[] = "dlpack_exchange_api";

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_EXCHANGE_H
