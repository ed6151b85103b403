//===- dlc.hpp - C++ interface of the runtime: tensors and sessions ----------===//
//
// Header only, on top of the C interface, so that it works with any compiler's standard library.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_DLC_HPP
#define DLC_DLC_HPP

#include "dlc/DType.h"
#include "dlc/Error.h"
#include "dlc/dlc.h"
#include "dlc/tensor.hpp"

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace dlc {

/// Name, element type and shape of an input, output or state.
struct TensorSpec {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  /// Index of an output's dimension whose size is known only at run time; `shape` has the upper
  /// bound of this size. -1 if all sizes are static.
  int foundDimension = -1;
};

/// Rank of this process in the world of processes that run one program together.
struct WorldPlace {
  int rank = 0, size = 1;
  /// Rank and number of ranks on this machine.
  int localRank = 0, localSize = 1;
};

/// Returns this process's rank in the world. The world is formed at the first call; see
/// dlc_world().
inline WorldPlace world() {
  dlc_engine_place place;
  detail::check(dlc_world(&place));
  return {place.rank, place.size, place.local_rank, place.local_size};
}

class Session;

struct SessionOptions {
  int threads = 0; // number of threads; 0: as compiled into the program
  /// Session that shares its memory for states of the same name; see dlc_session_options.
  const Session *shareState = nullptr;
};

/// Differences between checkpoint and program that loadState() allows: states without a tensor in
/// the file (allowMissing) and tensors without a state (allowExtra).
struct LoadState {
  bool allowMissing = false, allowExtra = false;
};

/// A program that is ready to run. Copies share one session.
class Session {
public:
  Session() = default;

  /// Creates a session and takes ownership of a program of the C interface.
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

  /// Replaces the program for all runs that start after this call; see dlc_session_replace.
  void replace(const std::string &path) const {
    dlc_program *program = nullptr;
    detail::check(dlc_program_load(path.c_str(), &program));
    std::unique_ptr<dlc_program, void (*)(dlc_program *)> owned(program, dlc_program_destroy);
    detail::check(dlc_session_replace(handle.get(), program));
  }

  const std::vector<TensorSpec> &inputs() const { return *inputSpecs; }
  const std::vector<TensorSpec> &outputs() const { return *outputSpecs; }
  /// Returns the names and types of the states: tensors that persist in the session between runs.
  const std::vector<TensorSpec> &states() const { return *stateSpecs; }

  /// Runs the program on inputs given by name: exactly the inputs of the program are required.
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
    for (size_t i = 0; i < counters; ++i)
      made.emplace_back(DType::I64, std::vector<int64_t>());
    for (const Tensor &tensor : made)
      to.push_back(tensor.dlpack());
    detail::check(dlc_session_run(handle.get(), from.data(), from.size(), to.data(), to.size()));
    std::map<std::string, Tensor> results;
    for (size_t i = 0; i < outputs().size(); ++i)
      results[outputs()[i].name] = found(i, made);
    return results;
  }

  /// Returns a copy of the value of a state.
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
  /// Resets all states to their initial values.
  void resetState() const { detail::check(dlc_session_reset_state(handle.get())); }
  /// Saves a checkpoint as a safetensors file. The file is replaced atomically.
  void saveState(const std::string &path) const {
    detail::check(dlc_session_save_state(handle.get(), path.c_str()));
  }
  void loadState(const std::string &path, LoadState options = {}) const {
    unsigned flags = (options.allowMissing ? DLC_STATE_ALLOW_MISSING : 0u) |
                     (options.allowExtra ? DLC_STATE_ALLOW_EXTRA : 0u);
    detail::check(dlc_session_load_state(handle.get(), path.c_str(), flags));
  }

  /// Joins the world of processes. All of them must call it before the first run; see
  /// dlc_session_join_world().
  void joinWorld() const { detail::check(dlc_session_join_world(handle.get())); }

  dlc_memory_figures memory() const {
    dlc_memory_figures figures;
    dlc_session_memory(handle.get(), &figures);
    return figures;
  }
  void setTrace(bool enabled) { dlc_session_set_trace(handle.get(), enabled); }
  void writeTrace(const std::string &path) {
    detail::check(dlc_session_write_trace(handle.get(), path.c_str()));
  }
  /// Returns the handle of the C interface, for functions that have no C++ equivalent.
  dlc_session *get() const { return handle.get(); }

private:
  static bool has(const std::vector<TensorSpec> &specs, const std::string &name) {
    for (const TensorSpec &spec : specs)
      if (spec.name == name)
        return true;
    return false;
  }
  using Query = dlc_error *(*)(const dlc_program *, size_t, dlc_tensor_info *);
  static std::shared_ptr<std::vector<TensorSpec>> read(const dlc_program *program, size_t count,
                                                       Query query) {
    auto specs = std::make_shared<std::vector<TensorSpec>>();
    for (size_t i = 0; i < count; ++i) {
      dlc_tensor_info info;
      detail::check(query(program, i, &info));
      specs->push_back({info.name, detail::fromDlpack(info.dtype),
                        std::vector<int64_t>(info.shape, info.shape + info.ndim), -1});
    }
    return specs;
  }
  /// Returns output i. If it has a dynamic dimension, returns a view with the dimension's run-time
  /// size.
  Tensor found(size_t i, const std::vector<Tensor> &made) const {
    int32_t dimension = 0;
    size_t counter = 0;
    if (!dlc_program_output_counter(dlc_session_program(handle.get()), i, &dimension, &counter))
      return made[i];
    std::vector<int64_t> shape = made[i].shape();
    int64_t &size = shape[static_cast<size_t>(dimension)], count = *made[counter].data<int64_t>();
    size = count < 0 ? 0 : count < size ? count : size;
    return Tensor::view(made[i].raw(), made[i].dtype(), std::move(shape),
                        std::make_shared<Tensor>(made[i]));
  }
  void readSpecs() {
    const dlc_program *program = dlc_session_program(handle.get());
    inputSpecs = read(program, dlc_program_input_count(program), dlc_program_input);
    auto outputs = read(program, dlc_program_output_count(program), dlc_program_output);
    const size_t all = outputs->size();
    size_t results = all;
    for (size_t i = 0; i < all; ++i) {
      int32_t dimension = 0;
      size_t counter = 0;
      if (!dlc_program_output_counter(program, i, &dimension, &counter))
        continue;
      (*outputs)[i].foundDimension = dimension;
      results = counter < results ? counter : results;
    }
    outputs->resize(results);
    counters = all - results;
    outputSpecs = std::move(outputs);
    stateSpecs = read(program, dlc_program_state_count(program), dlc_program_state);
  }

  std::shared_ptr<dlc_session> handle;
  std::shared_ptr<const std::vector<TensorSpec>> inputSpecs, outputSpecs, stateSpecs;
  /// Number of counter outputs, which follow `outputs()` and hold the run-time sizes of dynamic
  /// dimensions.
  size_t counters = 0;
};

} // namespace dlc

#endif // DLC_DLC_HPP
