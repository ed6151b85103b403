//===- Buffers.h - reusable memory for batches -------------------------------===//
#ifndef DLC_RUNTIME_DATA_BUFFERS_H
#define DLC_RUNTIME_DATA_BUFFERS_H

#include "dlc/data.hpp"

#include <mutex>

namespace dlc::data {

/// Memory for one full batch: one tensor per field.
struct BatchBuffers {
  std::vector<Tensor> tensors;
};

/// Pool of batch buffers for reuse. Batches keep it alive, also after the loader is destroyed.
class BufferPool : public std::enable_shared_from_this<BufferPool> {
public:
  BufferPool(const std::vector<TensorSpec> &fields, int64_t batch) : fields(fields), batch(batch) {}

  /// Returns free or newly allocated buffers. They return to the pool when the last copy of the
  /// pointer is destroyed.
  std::shared_ptr<BatchBuffers> take() {
    std::unique_ptr<BatchBuffers> buffers;
    {
      std::lock_guard lock(mutex);
      if (!free.empty()) {
        buffers = std::move(free.back());
        free.pop_back();
      } else {
        ++madeCount;
      }
    }
    if (!buffers)
      buffers = make();
    return {buffers.release(),
            [pool = shared_from_this()](BatchBuffers *back) { pool->giveBack(back); }};
  }
  size_t made() const {
    std::lock_guard lock(mutex);
    return madeCount;
  }

private:
  std::unique_ptr<BatchBuffers> make() const {
    auto buffers = std::make_unique<BatchBuffers>();
    for (const TensorSpec &field : fields) {
      std::vector<int64_t> shape = {batch};
      shape.insert(shape.end(), field.shape.begin(), field.shape.end());
      buffers->tensors.emplace_back(field.dtype, std::move(shape));
    }
    return buffers;
  }
  void giveBack(BatchBuffers *back) {
    std::unique_ptr<BatchBuffers> owned(back);
    std::lock_guard lock(mutex);
    free.push_back(std::move(owned));
  }

  const std::vector<TensorSpec> fields;
  const int64_t batch;
  mutable std::mutex mutex;
  std::vector<std::unique_ptr<BatchBuffers>> free;
  size_t madeCount = 0;
};

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_BUFFERS_H
