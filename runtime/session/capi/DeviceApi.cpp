//===- DeviceApi.cpp - devices, device memory and copies in the C interface --===//
#include "dlc/dlc.h"

#include "runtime/device/Copy.h"
#include "runtime/session/capi/Convert.h"
#include "runtime/session/capi/Guarded.h"
#include "runtime/session/capi/Tensors.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <vector>

using namespace dlc::runtime;

static DeviceName toDeviceName(DLDevice device) {
  auto name = deviceName(device);
  if (!name)
    fail("DLPack device type ", int(device.device_type),
         " is not supported; required: cpu, CUDA, or (as extensions) virtual CPU devices and "
         "devices of plugins");
  return *name;
}

/// Returns the device for which memory of this kind is pinned; null if `device` is not pinned
/// memory or the device does not exist.
static Device *findPinningDevice(DLDevice device) {
  auto name = getPinnedDeviceName(device);
  bool isThere = name && name->ordinal < deviceCount(name->kind);
  return isThere ? &openDevice(*name) : nullptr;
}

dlc_error *dlc_device_parse(const char *name, DLDevice *device) {
  return catchErrors([&] {
    requireArguments("dlc_device_parse", {{"name", name}, {"device", device}});
    *device = toDlpackDevice(requireDeviceName(name));
  });
}

dlc_error *dlc_device_name(DLDevice device, char *name, size_t size) {
  return catchErrors([&] {
    requireArguments("dlc_device_name", {{"name", name}});
    std::string text = toDeviceName(device).text();
    if (text.size() >= size)
      fail("the name of device ", text, " needs ", text.size() + 1, " bytes; found: ", size);
    std::memcpy(name, text.c_str(), text.size() + 1);
  });
}

int dlc_device_count(const char *kind) { return kind ? deviceCount(kind) : 0; }

dlc_error *dlc_device_describe(DLDevice device, dlc_device_info *info) {
  return catchErrors([&] {
    requireArguments("dlc_device_describe", {{"info", info}});
    dlc_device_properties found = openDevice(toDeviceName(device)).properties();
    static_assert(sizeof info->name == sizeof found.name);
    std::memcpy(info->name, found.name, sizeof found.name);
    info->total_bytes = found.total_bytes;
    info->free_bytes = found.free_bytes;
    info->major = found.major;
    info->minor = found.minor;
    info->multiprocessors = found.multiprocessors;
  });
}

dlc_error *dlc_memory_allocate(DLDevice device, uint64_t bytes, void **address) {
  return catchErrors([&] {
    requireArguments("dlc_memory_allocate", {{"address", address}});
    *address = nullptr;
    DeviceName name = toDeviceName(device);
    if (Device *by = findPinningDevice(device)) {
      by->call(by->table.allocate_pinned, bytes, address);
    } else if (name.isHost()) {
      *address = std::aligned_alloc(64, (std::max<uint64_t>(bytes, 1) + 63) / 64 * 64);
      if (!*address)
        throw std::bad_alloc();
    } else {
      Device &on = openDevice(name);
      on.call(on.table.allocate, bytes, address);
    }
  });
}

void dlc_memory_free(DLDevice device, void *address) {
  auto name = deviceName(device);
  if (!name || !address)
    return;
  // The pinning device exists, because the memory was allocated on it.
  if (Device *by = findPinningDevice(device)) {
    by->table.release_pinned(by->handle, address);
  } else if (name->isHost()) {
    std::free(address);
  } else {
    Device &on = openDevice(*name);
    on.table.release(on.handle, address);
  }
}

namespace {

/// A compact tensor as source or destination of a copy.
struct CopyTensor {
  TensorInfo info;
  Device *device;
  char *data;
};

dlc::DType fromDlpackType(DLDataType type) {
  for (int i = 0; i < dlc::kDTypeCount; ++i) {
    DLDataType known = toDlpackType(static_cast<dlc::DType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return static_cast<dlc::DType>(i);
  }
  fail("DLPack type ", int(type.code), " of ", int(type.bits), " bits is not supported");
}

CopyTensor readCopyTensor(const DLTensor &tensor, const char *name) {
  CopyTensor side;
  side.info.name = name;
  side.info.dtype = fromDlpackType(tensor.dtype);
  side.info.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  side.info.bytes = dlc::tensorBytes(side.info.dtype, side.info.shape);
  side.data = static_cast<char *>(outputData(tensor, side.info, "tensor"));
  side.device = &openDevice(toDeviceName(tensor.device));
  return side;
}

} // namespace

static void requireSameShape(const CopyTensor &to, const CopyTensor &from) {
  if (to.info.shape != from.info.shape)
    fail("a tensor of shape ", formatList(from.info.shape), " cannot be copied to one of shape ",
         formatList(to.info.shape), "; give them the same shape");
}

struct dlc_copy {
  PendingCopy pending;
};

dlc_error *dlc_tensor_copy_begin(const DLTensor *to, const DLTensor *from, dlc_copy **copy) {
  bool converts = false;
  dlc_error *error = catchErrors([&] {
    requireArguments("dlc_tensor_copy_begin", {{"to", to}, {"from", from}, {"copy", copy}});
    *copy = nullptr;
    CopyTensor target = readCopyTensor(*to, "to"), source = readCopyTensor(*from, "from");
    requireSameShape(target, source);
    converts = target.info.dtype != source.info.dtype;
    if (!converts)
      *copy = new dlc_copy{
          {target.data, *target.device, source.data, *source.device, source.info.bytes}};
  });
  return converts && !error ? dlc_tensor_copy(to, from) : error;
}

dlc_error *dlc_copy_end(dlc_copy *copy) {
  dlc_error *error = catchErrors([&] {
    if (copy)
      copy->pending.wait();
  });
  delete copy;
  return error;
}

dlc_error *dlc_tensor_copy(const DLTensor *to, const DLTensor *from) {
  return catchErrors([&] {
    requireArguments("dlc_tensor_copy", {{"to", to}, {"from", from}});
    CopyTensor target = readCopyTensor(*to, "to"), source = readCopyTensor(*from, "from");
    requireSameShape(target, source);
    if (target.info.bytes == 0)
      return;
    if (target.info.dtype == source.info.dtype) {
      copyBytes(target.data, *target.device, source.data, *source.device, source.info.bytes);
      return;
    }
    Device &host = hostDevice();
    std::vector<char> taken, made;
    const char *in = source.data;
    if (!source.device->hasHostMemory()) {
      taken.resize(source.info.bytes);
      copyBytes(taken.data(), host, source.data, *source.device, source.info.bytes);
      in = taken.data();
    }
    char *out = target.data;
    if (!target.device->hasHostMemory()) {
      made.resize(target.info.bytes);
      out = made.data();
    }
    convertElements(out, target.info.dtype, in, source.info.dtype, source.info.shape);
    if (out != target.data)
      copyBytes(target.data, *target.device, out, host, target.info.bytes);
  });
}
