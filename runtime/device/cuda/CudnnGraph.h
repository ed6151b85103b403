//===- CudnnGraph.h - a description as cuDNN's graph, and a plan for it ----------===//
//
// Nothing here needs a GPU: a graph is planned for the handle's device, or for one that is only
// described.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
#define DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H

#include "runtime/device/cuda/Cudnn.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <vector>

namespace dlc::cudnn {

/// Thrown within the library's own files alone: the table's functions are C.
struct Failure {
  std::string text;
};

/// Throws what the library says of it.
void check(const Functions &f, Status status, const std::string &doing);

/// An integer of a description; `otherwise` where it has none. Throws where it is anything else, or
/// less than `least`.
int64_t numberOf(const nlohmann::json &object, const char *key, int64_t least, int64_t otherwise);

/// A descriptor that goes with its owner.
class Owned {
public:
  Owned() = default;
  Owned(const Functions &f, DescriptorKind kind);
  Owned(Owned &&other) noexcept : f(other.f), raw(std::exchange(other.raw, nullptr)) {}
  Owned &operator=(Owned &&other) noexcept {
    std::swap(f, other.f);
    std::swap(raw, other.raw);
    return *this;
  }
  ~Owned() {
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

/// A buffer of the call, in its order.
struct Operand {
  std::string name;
  int64_t id = 0;
  uint64_t bytes = 0; ///< at least
  bool written = false;
};

/// An operand that the host holds: it is read when the call is put into its stream.
struct Number {
  int64_t id = 0;
  float value = 0;
};

struct Graph {
  std::vector<Owned> parts; ///< descriptors that the graph is made of
  Owned operations;
  std::vector<Operand> operands;
  std::vector<Number> numbers;
  bool mayRound = true; ///< whether engines may round operands of f32 to fewer bits
  /// Whether engines with tensor cores go first, wherever the library's own order has them, and
  /// whether there must be one.
  bool prefersTensorCores = false, needsTensorCores = false;
  std::string what; ///< for messages
};

/// Throws a Failure where the description is wrong, or the library refuses it.
Graph graphOf(const Functions &f, const nlohmann::json &desc, Handle handle);

struct Plan {
  Owned config, plan;
  int64_t engine = 0; ///< the library's number
  uint64_t workspace = 0;
};

/// Which of the plans that the library proposes, are deterministic, keep the precision, and stay
/// within `workspace` bytes: the `wanted`th, from 1, or the last where there are fewer; those with
/// tensor cores first where the graph prefers these. For the
/// handle's device, or (without a handle) the device of those properties.
Plan planOf(const Functions &f, const Graph &graph, Handle handle, Descriptor device,
            uint64_t workspace, int64_t wanted);

} // namespace dlc::cudnn

#endif // DLC_RUNTIME_DEVICE_CUDA_CUDNNGRAPH_H
