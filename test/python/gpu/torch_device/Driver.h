//===- Driver.h - the emulated driver as seen by the PyTorch device ------------===//
#ifndef DLC_TEST_PYTHON_TORCHDEVICE_DRIVER_H
#define DLC_TEST_PYTHON_TORCHDEVICE_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace dlc_torch_device {

using Address = unsigned long long;
using Handle = void *;

/// Handle of the default stream of each device, as in CUDA.
inline const Handle kDefaultStream = reinterpret_cast<Handle>(1);

/// Functions of the driver that $DLC_CUDA_DRIVER names. Each throws std::runtime_error on an error.
namespace driver {
int deviceCount();
/// Makes a device current for the calling thread during the lifetime of this object.
class Current {
public:
  explicit Current(int device);
  ~Current();
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;
};
Address allocate(size_t bytes);
void *allocatePinned(size_t bytes);
void releasePinned(void *memory);
void copyFromHost(Address to, const void *from, size_t bytes, Handle stream);
void copyToHost(void *to, Address from, size_t bytes, Handle stream);
void copyWithin(Address to, Address from, size_t bytes, Handle stream);
Handle createStream();
void synchronize(Handle stream);
Handle createEvent();
void destroyEvent(Handle event);
void record(Handle event, Handle stream);
void wait(Handle stream, Handle event);
bool hasPassed(Handle event);
void synchronizeEvent(Handle event);
} // namespace driver

/// The current device and the current stream of each device, of the calling thread.
int currentDevice();
void setCurrentDevice(int device);
Handle currentStream(int device);
void setCurrentStream(int device, Handle stream);

} // namespace dlc_torch_device

#endif // DLC_TEST_PYTHON_TORCHDEVICE_DRIVER_H
