//===- Builtin.h - declarations that the built-in kernels share -----------===//
//
// The head of each kernel's file documents its buffers; schema/Builtin.def has the fields.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H

#include "runtime/library/Library.h"
#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Window.h"
#include "runtime/library/schema/Schema.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::runtime::builtin {

/// Description of a kernel call, and its buffers. All methods throw dlc::Error.
class KernelRequest {
public:
  KernelRequest(const nlohmann::json &desc, const char *kind, std::span<const BufferInfo> buffers,
                int threads);

  template <typename Record> Record read() const { return Record::read(desc, name); }
  /// Checks that the next buffer holds at least `elements` elements and, if `written` is set, is
  /// writable.
  void need(const char *name, int64_t elements, DType type, bool written);
  /// Checks that no buffers remain.
  void end() const { given.end(); }

  const nlohmann::json &desc;
  std::string name; ///< prefix of messages
  size_t buffers;
  int threads;
  describe::BufferChecker given; ///< buffers that need() has not checked yet
};

/// Sizes of a tensor that is split at an axis. Most kernels work on such tensors.
struct AxisSplit {
  int64_t outer, len, inner;
  explicit AxisSplit(const schema::AxisCall &fields);
  int64_t elements() const { return outer * len * inner; }
  int64_t count() const { return outer * inner; }
};

using describe::computeProduct;

/// Checks that the type is a floating-point type, or that it is i32 or i64.
void requireFloating(const schema::Record &fields, const char *name, DType type);
void requireIndex(const schema::Record &fields, const char *name, DType type);

using Body = std::function<void(void *const *buffers, const CallContext &context)>;
std::unique_ptr<LibraryCall> makeCall(const std::string &name, Body body,
                                      uint64_t scratchBytes = 0);

std::unique_ptr<LibraryCall> makeTopK(KernelRequest &request);
std::unique_ptr<LibraryCall> makeCumulative(KernelRequest &request);
std::unique_ptr<LibraryCall> makeScatterElements(KernelRequest &request);
std::unique_ptr<LibraryCall> makeScatterNd(KernelRequest &request);
std::unique_ptr<LibraryCall> makeNms(KernelRequest &request);
std::unique_ptr<LibraryCall> makeArgReduce(KernelRequest &request);
std::unique_ptr<LibraryCall> makeMaxPoolIndices(KernelRequest &request);
std::unique_ptr<LibraryCall> makeMaxPoolPositions(KernelRequest &request);
std::unique_ptr<LibraryCall> makeMaxPoolGrad(KernelRequest &request);
std::unique_ptr<LibraryCall> makeAvgPoolGrad(KernelRequest &request);
std::unique_ptr<LibraryCall> makeLaneGrad(KernelRequest &request);
std::unique_ptr<LibraryCall> makeLanePool(KernelRequest &request);
std::unique_ptr<LibraryCall> makeConvWeightGrad(KernelRequest &request);
std::unique_ptr<LibraryCall> makeGrouped(KernelRequest &request);
std::unique_ptr<LibraryCall> makeRandom(KernelRequest &request);

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
