//===- CudnnGraph.h - builds a cuDNN graph and a plan from a call description -===//
//
// No GPU is needed here: a graph is planned for the handle's device, or for a device that is
// described by its properties only.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
#define DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H

#include "runtime/device/cuda/Cudnn.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace dlc::cudnn {

/// Internal exception. It must not leave the files of this library, because the table's functions
/// are C functions.
struct CudnnError {
  std::string text;
};

/// Throws a CudnnError with the library's error message if `status` is not Success.
void check(const Functions &f, Status status, const std::string &doing);

/// Owning handle of a cuDNN backend descriptor.
class OwnedDescriptor {
public:
  OwnedDescriptor() = default;
  OwnedDescriptor(const Functions &f, DescriptorKind kind);
  OwnedDescriptor(OwnedDescriptor &&other) noexcept
      : f(other.f), raw(std::exchange(other.raw, nullptr)) {}
  OwnedDescriptor &operator=(OwnedDescriptor &&other) noexcept {
    std::swap(f, other.f);
    std::swap(raw, other.raw);
    return *this;
  }
  ~OwnedDescriptor() {
    if (raw)
      f->destroy(raw);
  }

  Descriptor get() const { return raw; }
  void set(int attribute, ElementKind kind, int64_t count, const void *values,
           const std::string &doing);
  template <typename T>
  void set(int attribute, ElementKind kind, const T &value, const std::string &doing) {
    set(attribute, kind, 1, &value, doing);
  }
  void set(int attribute, const std::vector<int64_t> &values, const std::string &doing) {
    set(attribute, OfInt64, static_cast<int64_t>(values.size()), values.data(), doing);
  }
  void finalize(const std::string &doing) { check(*f, f->finalize(raw), doing); }

private:
  const Functions *f = nullptr;
  Descriptor raw = nullptr;
};

/// A buffer argument of a cuDNN call.
struct Operand {
  std::string name;
  int64_t id = 0;
  uint64_t bytes = 0; ///< minimum size
  bool written = false;
};

/// A scalar operand in host memory, which is read when the call is submitted to its stream.
struct ScalarOperand {
  int64_t id = 0;
  float value = 0;
};

struct Graph {
  std::vector<OwnedDescriptor> parts; ///< owned descriptors of which the graph consists
  OwnedDescriptor operations;
  std::vector<Operand> operands;
  std::vector<ScalarOperand> numbers;
  bool mayRound = true; ///< whether engines may round f32 operands to TF32
  /// Whether engines that use tensor cores are tried before all others, independent of the
  /// library's order, and whether they are required.
  bool prefersTensorCores = false, needsTensorCores = false;
  std::string what; ///< operation name for messages
};

/// Builds the graph of a description. Throws a CudnnError if the description is invalid or the
/// library rejects it.
Graph buildGraph(const Functions &f, const nlohmann::json &desc, Handle handle);

struct Plan {
  OwnedDescriptor config, plan;
  int64_t engine = 0; ///< cuDNN's engine index
  uint64_t workspace = 0;
};

/// Builds a plan. Candidates are the plans that the library proposes, that are deterministic, keep
/// the precision and need at most `workspace` bytes. If the graph prefers tensor cores, candidates
/// with tensor cores precede the others. Returns candidate number `wanted` (from 1), or the last
/// one if there are fewer. Plans are built for the handle's device, or, if `handle` is null, for
/// the device properties `device`.
Plan planOf(const Functions &f, const Graph &graph, Handle handle, Descriptor device,
            uint64_t workspace, int64_t wanted);

} // namespace dlc::cudnn

#endif // DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
