//===- Tensors.cpp - validation of DLPack tensors against a program ----------===//
#include "runtime/session/capi/Tensors.h"

#include "runtime/program/Format.h"
#include "runtime/program/Message.h"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace dlc::runtime {

DLDataType toDlpackType(DType type) {
  uint8_t bits = static_cast<uint8_t>(dtypeBits(type));
  switch (type) {
  case DType::F32:
  case DType::F16:
  case DType::F64:
    return {kDLFloat, bits, 1};
  case DType::BF16:
    return {kDLBfloat, bits, 1};
  case DType::I4:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return {kDLInt, bits, 1};
  case DType::Bool:
    return {kDLBool, bits, 1};
  default:
    return {kDLUInt, bits, 1};
  }
}

static std::string formatType(DLDataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DLDataType known = toDlpackType(static_cast<DType>(i));
    if (known.code == type.code && known.bits == type.bits && known.lanes == type.lanes)
      return std::string(dtypeName(static_cast<DType>(i)));
  }
  return message("DLPack type ", int(type.code), " of ", int(type.bits), " bits");
}

static void checkTensor(const DLTensor &tensor, const TensorInfo &info, const char *what) {
  if (!deviceName(tensor.device))
    fail(what, " '", info.name, "' is on DLPack device type ", int(tensor.device.device_type),
         "; required: cpu, CUDA, or (as extensions) virtual CPU devices and devices of plugins");
  DLDataType wanted = toDlpackType(info.dtype);
  // Accept bytes for booleans: NumPy with older DLPack versions exports booleans as bytes.
  bool byteForBool =
      info.dtype == DType::Bool && tensor.dtype.code == kDLUInt && tensor.dtype.bits == 8;
  if (!byteForBool && (tensor.dtype.code != wanted.code || tensor.dtype.bits != wanted.bits ||
                       tensor.dtype.lanes != 1))
    fail(what, " '", info.name, "' must be of type ", dtypeName(info.dtype),
         "; found: ", formatType(tensor.dtype), "; convert it");
  bool sameShape = tensor.ndim == static_cast<int32_t>(info.shape.size());
  for (int32_t d = 0; sameShape && d < tensor.ndim; ++d)
    sameShape = tensor.shape[d] == info.shape[d];
  if (!sameShape) {
    std::vector<int64_t> found(tensor.shape, tensor.shape + std::max(0, tensor.ndim));
    fail(what, " '", info.name, "' must have shape ", formatList(info.shape),
         "; found: ", formatList(found), "; give a tensor of this shape");
  }
  if (!tensor.data && info.bytes > 0)
    fail(what, " '", info.name, "' has no data; set the tensor's data pointer");
}

static bool isCompact(const DLTensor &tensor, const TensorInfo &info) {
  if (!tensor.strides || info.bytes == 0)
    return true;
  int64_t step = 1;
  for (int32_t d = tensor.ndim; d-- > 0;) {
    if (tensor.shape[d] != 1 && tensor.strides[d] != step)
      return false;
    step *= tensor.shape[d];
    // Each row of a packed type starts at a byte boundary.
    if (isPacked(info.dtype) && d + 1 == tensor.ndim)
      step = (step + 1) / 2 * 2;
  }
  return true;
}

static void gather(const DLTensor &tensor, size_t bytes, int32_t dim, const char *from,
                   uint8_t *&to) {
  if (dim == tensor.ndim) {
    std::memcpy(to, from, bytes);
    to += bytes;
    return;
  }
  for (int64_t i = 0; i < tensor.shape[dim]; ++i)
    gather(tensor, bytes, dim + 1, from + i * tensor.strides[dim] * static_cast<int64_t>(bytes),
           to);
}

const void *inputData(const DLTensor &tensor, const TensorInfo &info, std::vector<uint8_t> &copy,
                      const char *what) {
  checkTensor(tensor, info, what);
  const char *data = static_cast<const char *>(tensor.data) + tensor.byte_offset;
  if (isCompact(tensor, info))
    return data;
  DeviceName where = *deviceName(tensor.device);
  if (!where.isHost() || isPacked(info.dtype))
    fail(what, " '", info.name, "' of ", dtypeName(info.dtype), " is strided on ", where.text(),
         "; give a contiguous tensor");
  copy.resize(info.bytes);
  uint8_t *to = copy.data();
  gather(tensor, dtypeBytes(info.dtype), 0, data, to);
  return copy.data();
}

void *outputData(const DLTensor &tensor, const TensorInfo &info, const char *what) {
  checkTensor(tensor, info, what);
  if (!isCompact(tensor, info))
    fail(what, " '", info.name,
         "' must be compact and row-major; give a contiguous tensor or let the "
         "session allocate one");
  return static_cast<char *>(tensor.data) + tensor.byte_offset;
}

Device *deviceOf(const DLTensor &tensor) {
  DeviceName name = *deviceName(tensor.device);
  return name.isHost() ? nullptr : &openDevice(name);
}

namespace {

struct OwnedTensor {
  DLManagedTensor managed{};
  std::vector<int64_t> shape;
  void *memory = nullptr;
  ~OwnedTensor() { std::free(memory); }
};

} // namespace

DLManagedTensor *allocateTensor(const TensorInfo &info) {
  auto owned = std::make_unique<OwnedTensor>();
  owned->shape = info.shape;
  owned->memory = std::aligned_alloc(64, format::alignUp(std::max<uint64_t>(info.bytes, 1), 64));
  if (!owned->memory)
    throw std::bad_alloc();
  DLTensor &tensor = owned->managed.dl_tensor;
  tensor.data = owned->memory;
  tensor.device = {kDLCPU, 0};
  tensor.ndim = static_cast<int32_t>(info.shape.size());
  tensor.dtype = toDlpackType(info.dtype);
  tensor.shape = owned->shape.data();
  owned->managed.manager_ctx = owned.get();
  owned->managed.deleter = [](DLManagedTensor *self) {
    delete static_cast<OwnedTensor *>(self->manager_ctx);
  };
  return &owned.release()->managed;
}

} // namespace dlc::runtime
