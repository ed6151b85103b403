//===- dlc.hpp - the C++ face of the runtime: tensors and sessions ------------===//
//
// Header only, over the C interface, so that it works with any compiler's standard library.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_DLC_HPP
#define DLC_DLC_HPP

#include "dlc/DType.h"
#include "dlc/Error.h"
#include "dlc/dlc.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace dlc {

namespace detail {

inline void check(dlc_error *error) {
  if (!error)
    return;
  std::string message = dlc_error_message(error);
  dlc_error_free(error);
  throw Error(message);
}

inline DLDataType toDlpack(DType type) {
  uint8_t bits = static_cast<uint8_t>(8 * dtypeBytes(type));
  char first = dtypeName(type)[0];
  uint8_t code = type == DType::BF16   ? kDLBfloat
                 : type == DType::Bool ? kDLBool
                 : first == 'f'        ? kDLFloat
                 : first == 'i'        ? kDLInt
                                       : kDLUInt;
  return {code, bits, 1};
}

inline DType fromDlpack(DLDataType type) {
  for (int i = 0; i < kDTypeCount; ++i) {
    DLDataType known = toDlpack(static_cast<DType>(i));
    if (known.code == type.code && known.bits == type.bits && type.lanes == 1)
      return static_cast<DType>(i);
  }
  throw Error("a DLPack element type that dlc does not have");
}

template <typename T> constexpr DType dtypeOf() {
  static_assert(std::is_arithmetic_v<T>, "use Tensor::view with a DType for other types");
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 8 ? DType::F64 : DType::F32;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::I8
           : sizeof(T) == 2 ? DType::I16
           : sizeof(T) == 4 ? DType::I32
                            : DType::I64;
  else
    return sizeof(T) == 1   ? DType::U8
           : sizeof(T) == 2 ? DType::U16
           : sizeof(T) == 4 ? DType::U32
                            : DType::U64;
}

} // namespace detail

/// A dense row-major array in host memory. Copies share the memory.
class Tensor {
public:
  Tensor() = default;

  /// Uninitialised memory of its own, aligned to 64.
  Tensor(DType dtype, std::vector<int64_t> shape) : type(dtype), dims(std::move(shape)) {
    size_t size = (bytes() + 63) / 64 * 64;
    memory = std::shared_ptr<void>(std::aligned_alloc(64, size ? size : 64), std::free);
    if (!memory)
      throw std::bad_alloc();
  }

  /// A copy of `values`, which must be as many as the shape says.
  template <typename T> static Tensor of(std::vector<int64_t> shape, const std::vector<T> &values) {
    Tensor tensor(detail::dtypeOf<T>(), std::move(shape));
    if (static_cast<size_t>(tensor.elements()) != values.size())
      throw Error("a tensor of " + std::to_string(tensor.elements()) + " elements from " +
                  std::to_string(values.size()) + " values");
    T *to = tensor.data<T>();
    for (size_t i = 0; i < values.size(); ++i)
      to[i] = values[i];
    return tensor;
  }

  /// Somebody else's memory, kept alive by `owner` (which may be null).
  static Tensor view(void *data, DType dtype, std::vector<int64_t> shape,
                     std::shared_ptr<void> owner = nullptr) {
    Tensor tensor;
    tensor.type = dtype;
    tensor.dims = std::move(shape);
    tensor.memory = std::shared_ptr<void>(std::move(owner), data);
    return tensor;
  }

  DType dtype() const { return type; }
  const std::vector<int64_t> &shape() const { return dims; }
  int64_t elements() const {
    int64_t count = 1;
    for (int64_t dim : dims)
      count *= dim;
    return count;
  }
  size_t bytes() const { return static_cast<size_t>(elements()) * dtypeBytes(type); }

  void *raw() const { return memory.get(); }
  template <typename T> T *data() const {
    static_assert(!std::is_same_v<T, void>);
    if (sizeof(T) != dtypeBytes(type))
      throw Error("a tensor of " + std::string(dtypeName(type)) +
                  " read as a type of another size");
    return static_cast<T *>(memory.get());
  }

  /// Points into this tensor, which must outlive it.
  DLTensor dlpack() const {
    return {memory.get(),
            {kDLCPU, 0},
            static_cast<int32_t>(dims.size()),
            detail::toDlpack(type),
            const_cast<int64_t *>(dims.data()),
            nullptr,
            0};
  }

private:
  DType type = DType::F32;
  std::vector<int64_t> dims = {0};
  std::shared_ptr<void> memory;
};

/// Name, type and shape of an input or output.
struct TensorSpec {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
};

class Session;

struct SessionOptions {
  int threads = 0; // 0: as many as the program was compiled for
  /// States of the same name are this session's memory; see dlc_session_options.
  const Session *shareState = nullptr;
};

/// What a checkpoint may lack or have too much.
struct LoadState {
  bool allowMissing = false, allowExtra = false;
};

/// A program ready to run. Copies share one session.
class Session {
public:
  Session() = default;

  /// Takes over a program of the C interface.
  explicit Session(dlc_program *program, SessionOptions options = {}) {
    std::unique_ptr<dlc_program, void (*)(dlc_program *)> owned(program, dlc_program_destroy);
    dlc_session_options converted = {options.threads, nullptr};
    if (options.shareState)
      converted.share_state = options.shareState->get();
    dlc_session *made = nullptr;
    detail::check(dlc_session_create(program, &converted, &made));
    handle = std::shared_ptr<dlc_session>(made, dlc_session_destroy);
    readSpecs();
  }

  static Session load(const std::string &path, SessionOptions options = {}) {
    dlc_program *program = nullptr;
    detail::check(dlc_program_load(path.c_str(), &program));
    return Session(program, options);
  }

  const std::vector<TensorSpec> &inputs() const { return *inputSpecs; }
  const std::vector<TensorSpec> &outputs() const { return *outputSpecs; }
  /// What lives in the session from run to run.
  const std::vector<TensorSpec> &states() const { return *stateSpecs; }

  /// Inputs by name; every one is needed and none more.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor> &given) const {
    std::vector<DLTensor> from, to;
    for (const TensorSpec &spec : inputs()) {
      auto found = given.find(spec.name);
      if (found == given.end())
        throw Error("input '" + spec.name + "' is missing");
      from.push_back(found->second.dlpack());
    }
    if (given.size() != inputs().size())
      for (const auto &[name, tensor] : given)
        if (!has(inputs(), name))
          throw Error("the program has no input '" + name + "'");
    std::vector<Tensor> made;
    for (const TensorSpec &spec : outputs())
      made.emplace_back(spec.dtype, spec.shape);
    for (const Tensor &tensor : made)
      to.push_back(tensor.dlpack());
    detail::check(dlc_session_run(handle.get(), from.data(), from.size(), to.data(), to.size()));
    std::map<std::string, Tensor> results;
    for (size_t i = 0; i < made.size(); ++i)
      results[outputs()[i].name] = made[i];
    return results;
  }

  /// A copy of a state's value.
  Tensor state(const std::string &name) const {
    for (const TensorSpec &spec : states()) {
      if (spec.name != name)
        continue;
      Tensor value(spec.dtype, spec.shape);
      DLTensor to = value.dlpack();
      detail::check(dlc_session_get_state(handle.get(), name.c_str(), &to));
      return value;
    }
    throw Error("the program has no state '" + name + "'");
  }
  void setState(const std::string &name, const Tensor &value) const {
    DLTensor from = value.dlpack();
    detail::check(dlc_session_set_state(handle.get(), name.c_str(), &from));
  }
  /// Back to the values that the program begins with.
  void resetState() const { detail::check(dlc_session_reset_state(handle.get())); }
  /// Checkpoints: safetensors files, written whole or not at all.
  void saveState(const std::string &path) const {
    detail::check(dlc_session_save_state(handle.get(), path.c_str()));
  }
  void loadState(const std::string &path, LoadState options = {}) const {
    unsigned flags = (options.allowMissing ? DLC_STATE_ALLOW_MISSING : 0u) |
                     (options.allowExtra ? DLC_STATE_ALLOW_EXTRA : 0u);
    detail::check(dlc_session_load_state(handle.get(), path.c_str(), flags));
  }

  dlc_memory_figures memory() const {
    dlc_memory_figures figures;
    dlc_session_memory(handle.get(), &figures);
    return figures;
  }
  void setTrace(bool enabled) { dlc_session_set_trace(handle.get(), enabled); }
  void writeTrace(const std::string &path) {
    detail::check(dlc_session_write_trace(handle.get(), path.c_str()));
  }
  /// For what only the C interface offers.
  dlc_session *get() const { return handle.get(); }

private:
  static bool has(const std::vector<TensorSpec> &specs, const std::string &name) {
    for (const TensorSpec &spec : specs)
      if (spec.name == name)
        return true;
    return false;
  }
  using Query = dlc_error *(*)(const dlc_program *, size_t, dlc_tensor_info *);
  static std::shared_ptr<const std::vector<TensorSpec>> read(const dlc_program *program,
                                                             size_t count, Query query) {
    auto specs = std::make_shared<std::vector<TensorSpec>>();
    for (size_t i = 0; i < count; ++i) {
      dlc_tensor_info info;
      detail::check(query(program, i, &info));
      specs->push_back({info.name, detail::fromDlpack(info.dtype),
                        std::vector<int64_t>(info.shape, info.shape + info.ndim)});
    }
    return specs;
  }
  void readSpecs() {
    const dlc_program *program = dlc_session_program(handle.get());
    inputSpecs = read(program, dlc_program_input_count(program), dlc_program_input);
    outputSpecs = read(program, dlc_program_output_count(program), dlc_program_output);
    stateSpecs = read(program, dlc_program_state_count(program), dlc_program_state);
  }

  std::shared_ptr<dlc_session> handle;
  std::shared_ptr<const std::vector<TensorSpec>> inputSpecs, outputSpecs, stateSpecs;
};

} // namespace dlc

#endif // DLC_DLC_HPP
