//===- Builtin.h - declarations that the built-in kernels share -----------===//
//
// The head of each kernel's file documents its description. "outer", "len" and "inner" are the
// sizes of a tensor that is split at an axis: element (o, l, i) has the index (o * len + l) * inner
// + i.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H

#include "runtime/library/Library.h"
#include "runtime/library/describe/Buffers.h"
#include "runtime/library/describe/Window.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::runtime::builtin {

/// Description of a kernel call, and its buffers. All methods throw dlc::Error.
class Request : public describe::Fields {
public:
  Request(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);

  /// Returns the element type in the field `name`, which must be i32 or i64.
  DType indexType(const char *name) const;
  /// Checks that the next buffer holds at least `elements` elements and, if `written` is set, is
  /// writable.
  void need(const char *name, int64_t elements, DType type, bool written);
  /// Checks that no buffers remain.
  void end() const { given.end(); }

  size_t buffers;
  int threads;
  describe::Buffers given; ///< buffers that need() has not checked yet
};

/// Sizes of a tensor that is split at an axis. Most kernels work on such tensors.
struct Lines {
  int64_t outer, len, inner;
  explicit Lines(const Request &request);
  int64_t elements() const { return outer * len * inner; }
  int64_t count() const { return outer * inner; }
};

using describe::product;

using Body = std::function<void(void *const *buffers, const CallContext &context)>;
std::unique_ptr<LibraryCall> makeCall(const std::string &name, Body body,
                                      uint64_t scratchBytes = 0);

std::unique_ptr<LibraryCall> makeTopK(Request &request);
std::unique_ptr<LibraryCall> makeCumulative(Request &request);
std::unique_ptr<LibraryCall> makeScatterElements(Request &request);
std::unique_ptr<LibraryCall> makeScatterNd(Request &request);
std::unique_ptr<LibraryCall> makeNms(Request &request);
std::unique_ptr<LibraryCall> makeArgReduce(Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolIndices(Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolPositions(Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolGrad(Request &request);
std::unique_ptr<LibraryCall> makeAvgPoolGrad(Request &request);
std::unique_ptr<LibraryCall> makeLaneGrad(Request &request);
std::unique_ptr<LibraryCall> makeLanePool(Request &request);
std::unique_ptr<LibraryCall> makeConvWeightGrad(Request &request);
std::unique_ptr<LibraryCall> makeGrouped(Request &request);
std::unique_ptr<LibraryCall> makeRandom(Request &request);

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
