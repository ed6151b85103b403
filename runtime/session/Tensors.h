//===- Tensors.h - DLPack tensors checked against a program -------------------===//
#ifndef DLC_RUNTIME_SESSION_TENSORS_H
#define DLC_RUNTIME_SESSION_TENSORS_H

#include "dlc/dlpack.h"
#include "runtime/device/Device.h"
#include "runtime/program/Plan.h"

#include <vector>

namespace dlc::runtime {

DLDataType dlpackType(DType type);

/// Where the tensor lies; null: on the host. After inputData or outputData.
Device *deviceOf(const DLTensor &tensor);

/// The data of an input: in place if it is compact, else copied into `copy`. Throws dlc::Error when
/// type, shape or device differ from `info`; `what` names it there.
const void *inputData(const DLTensor &tensor, const TensorInfo &info, std::vector<uint8_t> &copy,
                      const char *what = "input");

/// The memory of an output, which must be compact.
void *outputData(const DLTensor &tensor, const TensorInfo &info, const char *what = "output");

/// A compact tensor of its own memory, aligned to 64, freed by its deleter.
DLManagedTensor *allocateTensor(const TensorInfo &info);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_SESSION_TENSORS_H
