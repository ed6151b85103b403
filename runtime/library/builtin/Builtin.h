//===- Builtin.h - what the built-in kernels share ----------------------------===//
//
// Each kernel's file has at its head the description it takes. "outer", "len" and "inner" cut a
// tensor at an axis: element (o, l, i) stands at (o * len + l) * inner + i.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
#define DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H

#include "dlc/DType.h"
#include "runtime/library/Library.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::runtime::builtin {

/// A description and the buffers it is to work on. Everything throws dlc::Error.
struct Request {
  const nlohmann::json &desc;
  std::span<const BufferInfo> buffers;
  int threads = 1;

  bool has(const char *name) const;
  /// A size: not negative.
  int64_t size(const char *name) const;
  int64_t integer(const char *name, int64_t otherwise) const;
  double number(const char *name, double otherwise) const;
  bool flag(const char *name, bool otherwise) const;
  std::string word(const char *name, const char *otherwise) const;
  std::vector<int64_t> sizes(const char *name) const;
  DType dtype(const char *name) const;
  /// i32 or i64.
  DType indexType(const char *name) const;

  void expectBuffers(size_t count) const;
  void need(size_t buffer, const char *name, int64_t elements, DType type, bool written) const;
  [[noreturn]] void complain(const std::string &what) const;
};

/// The shape that most kernels work on.
struct Lines {
  int64_t outer, len, inner;
  explicit Lines(const Request &request);
  int64_t elements() const { return outer * len * inner; }
  int64_t count() const { return outer * inner; }
};

int64_t product(const std::vector<int64_t> &dims);

using Body = std::function<void(void *const *buffers, const CallContext &context)>;
std::unique_ptr<LibraryCall> makeCall(const std::string &name, Body body,
                                      uint64_t scratchBytes = 0);

std::unique_ptr<LibraryCall> makeTopK(const Request &request);
std::unique_ptr<LibraryCall> makeCumulative(const Request &request);
std::unique_ptr<LibraryCall> makeScatterElements(const Request &request);
std::unique_ptr<LibraryCall> makeScatterNd(const Request &request);
std::unique_ptr<LibraryCall> makeNms(const Request &request);
std::unique_ptr<LibraryCall> makeArgReduce(const Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolIndices(const Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolPositions(const Request &request);
std::unique_ptr<LibraryCall> makeMaxPoolGrad(const Request &request);
std::unique_ptr<LibraryCall> makeAvgPoolGrad(const Request &request);
std::unique_ptr<LibraryCall> makeLanePool(const Request &request);
std::unique_ptr<LibraryCall> makeConvWeightGrad(const Request &request);
std::unique_ptr<LibraryCall> makeRandom(const Request &request);

} // namespace dlc::runtime::builtin

#endif // DLC_RUNTIME_LIBRARY_BUILTIN_BUILTIN_H
