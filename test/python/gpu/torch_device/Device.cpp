//===- Device.cpp - memory, streams and events of the emulated PyTorch device -----------------===//
#include "test/python/gpu/torch_device/Driver.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/detail/PrivateUse1HooksInterface.h>
#include <c10/core/Allocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <tuple>
#include <vector>

namespace dlc_torch_device {

namespace {

constexpr auto kType = c10::DeviceType::PrivateUse1;

/// Counts of the allocator, for tests.
struct MemoryCounts {
  int64_t allocated = 0, peak = 0, reserved = 0, allocations = 0;
};

/// Allocator of tensors' memory. Like PyTorch's caching allocator for CUDA, it reuses the memory of
/// a released tensor immediately for work in the stream for which the memory was allocated. It
/// never returns memory to the driver.
class DeviceAllocator final : public c10::Allocator {
public:
  static DeviceAllocator &get() {
    static auto *allocator = new DeviceAllocator; // Tensors may outlive all static objects.
    return *allocator;
  }

  c10::DataPtr allocate(size_t bytes) override {
    const int device = currentDevice();
    const c10::Device here(kType, c10::DeviceIndex(device));
    if (bytes == 0)
      return {nullptr, nullptr, &release, here};
    auto *block =
        new Block{device, currentStream(device), (bytes + kUnit - 1) / kUnit * kUnit, 0, {}};
    std::lock_guard lock(mutex);
    counts.allocated += int64_t(block->bytes);
    counts.peak = std::max(counts.peak, counts.allocated);
    ++counts.allocations;
    auto &unused = pool[{device, block->stream, block->bytes}];
    if (!unused.empty()) {
      block->address = unused.back();
      unused.pop_back();
    } else {
      driver::Current current(device);
      block->address = driver::allocate(block->bytes);
      counts.reserved += int64_t(block->bytes);
    }
    return {reinterpret_cast<void *>(block->address), block, &release, here};
  }

  c10::DeleterFnPtr raw_deleter() const override { return nullptr; }
  void copy_data(void *, const void *, std::size_t) const override {
    TORCH_CHECK(false, "copies of this device's memory need a stream");
  }

  /// Declares that a stream other than the allocation's uses the memory.
  void recordStream(const c10::DataPtr &memory, Handle stream) {
    std::lock_guard lock(mutex);
    if (auto *block = static_cast<Block *>(memory.get_context()); block && stream != block->stream)
      block->users.insert(stream);
  }

  MemoryCounts counts;

private:
  static constexpr size_t kUnit = 512;

  struct Block {
    int device;
    Handle stream;
    size_t bytes;
    Address address;
    std::set<Handle> users;
  };

  static void release(void *context) {
    auto *block = static_cast<Block *>(context);
    if (block)
      get().giveBack(*block);
    delete block;
  }

  void giveBack(const Block &block) {
    std::lock_guard lock(mutex);
    driver::Current current(block.device);
    for (Handle user : block.users) {
      Handle event = driver::createEvent();
      driver::record(event, user);
      driver::wait(block.stream, event);
      driver::destroyEvent(event);
    }
    counts.allocated -= int64_t(block.bytes);
    pool[{block.device, block.stream, block.bytes}].push_back(block.address);
  }

  std::mutex mutex;
  std::map<std::tuple<int, Handle, size_t>, std::vector<Address>> pool;
};

/// Allocator of page-locked host memory.
class PinnedAllocator final : public c10::Allocator {
public:
  static PinnedAllocator &get() {
    static auto *allocator = new PinnedAllocator;
    return *allocator;
  }

  c10::DataPtr allocate(size_t bytes) override {
    if (bytes == 0)
      return {nullptr, nullptr, &release, c10::DeviceType::CPU};
    driver::Current current(currentDevice());
    void *made = driver::allocatePinned(bytes);
    std::lock_guard lock(mutex);
    sizes[made] = bytes;
    return {made, made, &release, c10::DeviceType::CPU};
  }

  bool contains(const void *address) {
    std::lock_guard lock(mutex);
    auto after = sizes.upper_bound(address);
    return after != sizes.begin() &&
           static_cast<const char *>(address) <
               static_cast<const char *>((--after)->first) + after->second;
  }

  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void *to, const void *from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

private:
  static void release(void *memory) {
    if (!memory)
      return;
    {
      std::lock_guard lock(get().mutex);
      get().sizes.erase(memory);
    }
    driver::Current current(0);
    driver::releasePinned(memory);
  }

  std::mutex mutex;
  std::map<const void *, size_t> sizes;
};

/// Returns the driver's stream. The number of a PyTorch stream is the driver's handle, or 0 for the
/// default stream.
Handle handleOf(const c10::Stream &stream) {
  return stream.id() ? reinterpret_cast<Handle>(stream.id()) : kDefaultStream;
}

c10::Stream streamOf(c10::Device device, Handle handle) {
  return c10::Stream(c10::Stream::UNSAFE, device,
                     handle == kDefaultStream ? 0 : reinterpret_cast<c10::StreamId>(handle));
}

int indexOf(c10::Device device) { return device.has_index() ? device.index() : currentDevice(); }

class Guard final : public c10::impl::DeviceGuardImplInterface {
public:
  c10::DeviceType type() const override { return kType; }
  c10::Device exchangeDevice(c10::Device device) const override {
    const c10::Device before = getDevice();
    setDevice(device);
    return before;
  }
  c10::Device getDevice() const override {
    return {kType, static_cast<c10::DeviceIndex>(currentDevice())};
  }
  void setDevice(c10::Device device) const override { setCurrentDevice(indexOf(device)); }
  void uncheckedSetDevice(c10::Device device) const noexcept override {
    setCurrentDevice(indexOf(device));
  }
  c10::DeviceIndex deviceCount() const noexcept override {
    return c10::DeviceIndex(driver::deviceCount());
  }

  c10::Stream getStream(c10::Device device) const override {
    const int index = indexOf(device);
    return streamOf({kType, static_cast<c10::DeviceIndex>(index)}, currentStream(index));
  }
  c10::Stream getDefaultStream(c10::Device device) const override {
    return streamOf({kType, static_cast<c10::DeviceIndex>(indexOf(device))}, kDefaultStream);
  }
  c10::Stream getStreamFromGlobalPool(c10::Device device, bool) const override {
    return getNewStream(device, 0);
  }
  c10::Stream getNewStream(c10::Device device, int) const override {
    const int index = indexOf(device);
    driver::Current current(index);
    return streamOf({kType, static_cast<c10::DeviceIndex>(index)}, driver::createStream());
  }
  c10::Stream exchangeStream(c10::Stream stream) const override {
    const c10::Stream before = getStream(stream.device());
    setCurrentStream(indexOf(stream.device()), handleOf(stream));
    return before;
  }
  void *getStreamNativeHandle(const c10::Stream stream) const override { return handleOf(stream); }
  bool queryStream(const c10::Stream &stream) const override {
    void *event = nullptr;
    record(&event, stream, stream.device_index(), c10::EventFlag::PYTORCH_DEFAULT);
    const bool passed = queryEvent(event);
    destroyEvent(event, stream.device_index());
    return passed;
  }
  void synchronizeStream(const c10::Stream &stream) const override {
    driver::Current current(indexOf(stream.device()));
    driver::synchronize(handleOf(stream));
  }
  void synchronizeDevice(c10::DeviceIndex device) const override {
    driver::Current current(device < 0 ? currentDevice() : device);
    driver::synchronize(currentStream(device < 0 ? currentDevice() : device));
    driver::synchronize(kDefaultStream);
  }
  void recordDataPtrOnStream(const c10::DataPtr &memory, const c10::Stream &stream) const override {
    DeviceAllocator::get().recordStream(memory, handleOf(stream));
  }

  void destroyEvent(void *event, const c10::DeviceIndex device) const noexcept override {
    if (!event)
      return;
    driver::Current current(device < 0 ? 0 : device);
    driver::destroyEvent(event);
  }
  void record(void **event, const c10::Stream &stream, const c10::DeviceIndex,
              const c10::EventFlag) const override {
    driver::Current current(indexOf(stream.device()));
    if (!*event)
      *event = driver::createEvent();
    driver::record(*event, handleOf(stream));
  }
  void block(void *event, const c10::Stream &stream) const override {
    if (!event)
      return;
    driver::Current current(indexOf(stream.device()));
    driver::wait(handleOf(stream), event);
  }
  bool queryEvent(void *event) const override { return !event || driver::hasPassed(event); }
  void synchronizeEvent(void *event) const override {
    if (event)
      driver::synchronizeEvent(event);
  }
};

/// PyTorch's interface to the device. The random number generators are those of the CPU, because
/// all random operators fall back to the CPU.
class Hooks final : public at::PrivateUse1HooksInterface {
public:
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasPrimaryContext(c10::DeviceIndex) const override { return true; }
  void init() const override {}
  c10::DeviceIndex deviceCount() const override { return c10::DeviceIndex(driver::deviceCount()); }
  void setCurrentDevice(c10::DeviceIndex device) const override {
    dlc_torch_device::setCurrentDevice(device);
  }
  c10::DeviceIndex getCurrentDevice() const override { return c10::DeviceIndex(currentDevice()); }
  c10::DeviceIndex exchangeDevice(c10::DeviceIndex device) const override {
    const auto before = c10::DeviceIndex(currentDevice());
    dlc_torch_device::setCurrentDevice(device);
    return before;
  }
  c10::DeviceIndex maybeExchangeDevice(c10::DeviceIndex device) const override {
    return device < 0 ? c10::DeviceIndex(currentDevice()) : exchangeDevice(device);
  }
  bool isPinnedPtr(const void *data) const override {
    return PinnedAllocator::get().contains(data);
  }
  c10::Allocator *getPinnedMemoryAllocator() const override { return &PinnedAllocator::get(); }
  at::Device getDeviceFromPtr(void *) const override { return {kType, 0}; }
  const at::Generator &getDefaultGenerator(c10::DeviceIndex) const override {
    return at::detail::getDefaultCPUGenerator();
  }
  at::Generator getNewGenerator(c10::DeviceIndex) const override {
    return at::detail::createCPUGenerator();
  }
  void resizePrivateUse1Bytes(const c10::Storage &storage, size_t bytes) const override {
    setCurrentDevice(storage.device().index());
    const size_t before = storage.nbytes();
    c10::DataPtr made = DeviceAllocator::get().allocate(bytes);
    if (const size_t common = std::min(bytes, before)) {
      driver::Current current(currentDevice());
      driver::copyWithin(reinterpret_cast<Address>(made.get()),
                         reinterpret_cast<Address>(storage.data()), common,
                         currentStream(currentDevice()));
    }
    storage.unsafeGetStorageImpl()->set_data_ptr(std::move(made));
    storage.unsafeGetStorageImpl()->set_nbytes(bytes);
  }
};

C10_REGISTER_GUARD_IMPL(PrivateUse1, Guard);

const bool kRegistered = [] {
  at::RegisterPrivateUse1HooksInterface(new Hooks);
  c10::SetAllocator(kType, &DeviceAllocator::get());
  return true;
}();

} // namespace

} // namespace dlc_torch_device

extern "C" {

/// Handle of the current stream of a device.
__attribute__((visibility("default"))) uint64_t dlc_torch_device_stream(int device) {
  return reinterpret_cast<uint64_t>(dlc_torch_device::currentStream(device));
}

__attribute__((visibility("default"))) int dlc_torch_device_count() {
  return dlc_torch_device::driver::deviceCount();
}

__attribute__((visibility("default"))) int dlc_torch_device_current() {
  return dlc_torch_device::currentDevice();
}

__attribute__((visibility("default"))) void dlc_torch_device_set(int device) {
  dlc_torch_device::setCurrentDevice(device);
}

/// Counts of the allocator: allocated now, peak, reserved (in bytes), number of allocations.
__attribute__((visibility("default"))) void dlc_torch_device_memory(int64_t *counts) {
  const auto &found = dlc_torch_device::DeviceAllocator::get().counts;
  counts[0] = found.allocated;
  counts[1] = found.peak;
  counts[2] = found.reserved;
  counts[3] = found.allocations;
}
}
