//===- Exchange.h - DLPack 1.x data structures ----------------------------===//
//
// Additions of DLPack 1.x to dlc/dlpack.h: versioned tensors, and the table of C functions that an
// array type provides as __dlpack_c_exchange_api__.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_TOOLS_PYTHON_DEVICE_EXCHANGE_H
#define DLC_TOOLS_PYTHON_DEVICE_EXCHANGE_H

#include "dlc/dlpack.h"

namespace dlc::python {

struct DlpackVersion {
  uint32_t major, minor;
};

struct DlpackVersionedTensor {
  DlpackVersion version;
  void *context;
  void (*deleter)(DlpackVersionedTensor *self);
  uint64_t flags;
  DLTensor tensor;
};

/// C functions of an array type for DLPack exchange. They return 0, or -1 with a Python exception
/// set, and require the GIL. They do not synchronize with pending work on a device.
struct DlpackExchangeTable {
  using SetError = void (*)(void *context, const char *kind, const char *message);

  DlpackVersion version;
  DlpackExchangeTable *before;
  int (*allocate)(DLTensor *like, DlpackVersionedTensor **made, void *context, SetError setError);
  int (*managedFromObject)(void *object, DlpackVersionedTensor **tensor);
  /// Creates a Python array from a tensor and takes ownership of the tensor.
  int (*toObject)(DlpackVersionedTensor *tensor, void **object);
  /// Fills `tensor` with a view of a Python array without transferring ownership; the view is valid
  /// as long as the object exists. May be NULL.
  int (*fromObject)(void *object, DLTensor *tensor);
  int (*currentStream)(DLDeviceType type, int32_t number, void **stream);
};

inline constexpr char kExchangeAttribute[] = "__dlpack_c_exchange_api__";
inline constexpr char kExchangeCapsule[] = "dlpack_exchange_api";

} // namespace dlc::python

#endif // DLC_TOOLS_PYTHON_DEVICE_EXCHANGE_H
