//===- data.hpp - datasets, and a loader that reads batches ahead -------------===//
//
//   auto digits = dlc::data::npz("digits.npz", {"x", "target"});
//   for (auto [x, t] : dlc::data::loader(digits, {.batch = 64, .shuffle = true, .workers = 2}))
//     step(x, t);
//
// Needs libdlc_data (dlc::data in CMake). Errors are dlc::Error.
//
//===---------------------------------------------------------------------------===//
#ifndef DLC_DATA_HPP
#define DLC_DATA_HPP

#include "dlc/Export.h"
#include "dlc/dlc.hpp"

#include <array>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace dlc::data {

/// One tensor per field: of a single sample.
using Sample = std::vector<Tensor>;
/// Gives one sample after another, and nothing at the end.
using Generator = std::function<std::optional<Sample>()>;

/// Samples, each with the same fields. Copies share what lies below.
class DLC_EXPORT Dataset {
public:
  struct Source;
  explicit Dataset(std::shared_ptr<const Source> source);

  /// -1: a generator, of which nobody knows.
  int64_t size() const;
  /// Name, type and shape (of one sample) of each field.
  const std::vector<TensorSpec> &fields() const;
  /// The names behind the numbers of an image folder's target; empty for others.
  const std::vector<std::string> &classes() const;
  Sample operator[](int64_t index) const;
  /// Samples [begin, end) of this one.
  Dataset slice(int64_t begin, int64_t end) const;

  const Source &source() const { return *held; }

private:
  std::shared_ptr<const Source> held;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// The first dimension of each array counts the samples; the arrays are not copied.
DLC_EXPORT Dataset arrays(const NamedTensors &fields);
DLC_EXPORT Dataset arrays(Tensor x, Tensor target);
/// One .npy file for each field: {{"x", "images.npy"}, {"target", "labels.npy"}}.
DLC_EXPORT Dataset npy(const std::vector<std::pair<std::string, std::string>> &files);
/// Arrays of an .npz file by name, in this order; without names all of them, in the file's order.
DLC_EXPORT Dataset npz(const std::string &path, const std::vector<std::string> &names = {});

struct ImageOptions {
  int64_t height = 224, width = 224;
  /// Scaled so that it covers height x width, and the middle taken; else stretched to fit.
  bool crop = true;
  /// 3: red, green, blue; 1: grey.
  int64_t channels = 3;
  /// Of pixels in [0, 1]: (pixel - mean) / deviation. One number stands for all channels.
  std::vector<float> mean = {0.f}, deviation = {1.f};
};
/// One class per subfolder, numbered in the order of their names; .jpg, .jpeg and .png below them,
/// in the order of theirs. Fields: "x", f32 [channels, height, width], and "target", i64 [].
DLC_EXPORT Dataset images(const std::string &folder, const ImageOptions &options = {});

/// `sample(index)` for 0 <= index < size, called from the loader's workers, several at once. Fields
/// without description are taken from sample 0 and named "x", "target", "field2" and so on.
DLC_EXPORT Dataset function(int64_t size, std::function<Sample(int64_t)> sample,
                            std::vector<TensorSpec> fields = {});
/// A new generator for each epoch; one worker calls it, one sample after another.
DLC_EXPORT Dataset generator(std::function<Generator(uint64_t epoch)> start,
                             std::vector<TensorSpec> fields);

/// The arrays of a .npz file in its order; read-only memory.
DLC_EXPORT NamedTensors readNpz(const std::string &path);
DLC_EXPORT Tensor readNpy(const std::string &path);

struct LoaderOptions {
  int64_t batch = 1;
  bool shuffle = false;
  uint64_t seed = 0;
  /// Threads that make batches; 0: next() makes them itself.
  int workers = 1;
  /// How many batches may be ready or in the making beside the one in use.
  int prefetch = 2;
  /// Leaves out a last batch that is not full.
  bool dropLast = false;
  /// This process's share of each epoch. Of as many samples as fill a batch of each rank, rank 0
  /// has the first, rank 1 those behind, so that the same number of samples is the same whole batch
  /// in every world; the last ones that do not, and a generator's, go round. All ranks get equally
  /// many samples: the first ones stand in where the last are missing (with dropLast, what does not
  /// go round is left out).
  int64_t rank = 0, world = 1;
};

/// Where a batch stands.
struct Position {
  uint64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const Position &) const = default;
};

/// Tensors with the samples along the first dimension. Their memory goes back to the loader when
/// the last of them is gone.
struct Batch {
  std::vector<Tensor> fields;
  std::shared_ptr<const std::vector<TensorSpec>> specs;
  Position position;

  int64_t samples() const { return fields[0].shape()[0]; }
  const Tensor &operator[](size_t field) const { return fields.at(field); }
  /// For Session::run().
  std::map<std::string, Tensor> named() const {
    std::map<std::string, Tensor> result;
    for (size_t i = 0; i < fields.size(); ++i)
      result[(*specs)[i].name] = fields[i];
    return result;
  }
};

/// The order of an epoch: a permutation of [0, size) that (seed, epoch) alone decide, the same on
/// every machine. runtime/data/README.md says how it is made.
DLC_EXPORT std::vector<int64_t> shuffled(int64_t size, uint64_t seed, uint64_t epoch);

/// Reads batches ahead. What it gives depends on dataset, options and position only, never on the
/// number of workers. To be used by one thread at a time.
class DLC_EXPORT Loader {
public:
  Loader(Dataset dataset, const LoaderOptions &options);
  ~Loader();
  Loader(Loader &&) noexcept;
  Loader &operator=(Loader &&) noexcept;

  /// The next batch; nothing at the end of an epoch, after which the next one begins. What a
  /// dataset throws comes out here, with the sample's index; the batch is passed over then.
  std::optional<Batch> next();

  /// Batches of one epoch for this rank; -1 for a generator.
  int64_t batches() const;
  /// Of the batch that next() gives.
  Position position() const;
  /// Continues there: with a checkpoint's position, as if never interrupted.
  void seek(Position position);
  void setEpoch(uint64_t epoch) { seek({epoch, 0}); }
  const Dataset &dataset() const;
  const LoaderOptions &options() const;
  /// How many sets of buffers were ever made: prefetch and those in use, not one per batch.
  size_t buffersMade() const;

  /// Begins to iterate over (the rest of) an epoch; after a loop that was left early, the next one.
  void beginEpoch();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A loader as a range of arrays of N tensors, for structured bindings. Each loop is an epoch.
template <size_t N> class Batches {
public:
  Batches(Dataset dataset, const LoaderOptions &options) : held(std::move(dataset), options) {
    if (size_t found = held.dataset().fields().size(); found != N)
      throw Error("a loader of " + std::to_string(N) + " tensors a batch for a dataset of " +
                  std::to_string(found) + " fields; write loader<" + std::to_string(found) +
                  ">(..)");
  }

  class Iterator {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = std::array<Tensor, N>;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = value_type;

    Iterator() = default;
    explicit Iterator(Loader &loader) : loader(&loader), batch(loader.next()) {}
    value_type operator*() const {
      value_type tensors;
      for (size_t i = 0; i < N; ++i)
        tensors[i] = batch->fields[i];
      return tensors;
    }
    Iterator &operator++() {
      batch.reset(); // its memory serves the batches to come
      batch = loader->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !batch; }

  private:
    Loader *loader = nullptr;
    std::optional<Batch> batch;
  };

  Iterator begin() {
    held.beginEpoch();
    return Iterator(held);
  }
  std::default_sentinel_t end() const { return {}; }

  /// For positions, and batches one by one.
  Loader &loader() { return held; }

private:
  Loader held;
};

/// For datasets of two fields, inputs and targets; loader<3>(..) for three.
template <size_t N = 2> Batches<N> loader(Dataset dataset, const LoaderOptions &options = {}) {
  return Batches<N>(std::move(dataset), options);
}

} // namespace dlc::data

#endif // DLC_DATA_HPP
