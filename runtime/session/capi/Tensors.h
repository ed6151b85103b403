//===- Tensors.h - validation of DLPack tensors against a program ------------===//
#ifndef DLC_RUNTIME_SESSION_CAPI_TENSORS_H
#define DLC_RUNTIME_SESSION_CAPI_TENSORS_H

#include "dlc/dlpack.h"
#include "runtime/device/Device.h"
#include "runtime/program/Plan.h"

#include <vector>

namespace dlc::runtime {

DLDataType toDlpackType(DType type);

/// Returns the device of a tensor that inputData or outputData has validated; null for the host.
Device *deviceOf(const DLTensor &tensor);

/// Returns the data of an input tensor: in place if the tensor is compact, otherwise copied into
/// `copy`. Throws dlc::Error if type, shape or device are not those of `info`; `what` is used in
/// the message.
const void *inputData(const DLTensor &tensor, const TensorInfo &info, std::vector<uint8_t> &copy,
                      const char *what = "input");

/// Returns the memory of an output tensor, which must be compact. Throws the same errors as
/// inputData.
void *outputData(const DLTensor &tensor, const TensorInfo &info, const char *what = "output");

/// Allocates a compact tensor, aligned to 64 bytes, which its deleter frees.
DLManagedTensor *allocateTensor(const TensorInfo &info);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_CAPI_TENSORS_H
