//===- Builtin.h - what the built-in kernels share ----------------------------===//
//
// Each kernel's file has at its head the description it takes. "outer", "len" and "inner" cut a
// tensor at an axis: element (o, l, i) stands at (o * len + l) * inner + i.
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

/// A description and the buffers it is to work on. Everything throws dlc::Error.
class Request : public describe::Fields {
public:
  Request(const nlohmann::json &desc, std::span<const BufferInfo> buffers, int threads);

  /// i32 or i64.
  DType indexType(const char *name) const;
  /// The next buffer holds so many elements.
  void need(const char *name, int64_t elements, DType type, bool written);
  /// There are no more.
  void end() const { given.end(); }

  size_t buffers;
  int threads;
  describe::Buffers given; ///< those that need has not had yet
};

/// The shape that most kernels work on.
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
