//===- data.hpp - datasets, and a loader that prefetches batches -------------===//
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

/// One sample: one tensor per field.
using Sample = std::vector<Tensor>;
/// Function that returns the next sample at each call, and std::nullopt at the end.
using Generator = std::function<std::optional<Sample>()>;

/// A collection of samples with the same fields. Copies share the underlying source.
class DLC_EXPORT Dataset {
public:
  struct Source;
  explicit Dataset(std::shared_ptr<const Source> source);

  /// Number of samples; -1 for a generator, whose length is unknown.
  int64_t size() const;
  /// Name, element type and shape (of one sample) of each field.
  const std::vector<TensorSpec> &fields() const;
  /// Class names of an image folder, indexed by the value of its "target" field. Empty for other
  /// datasets.
  const std::vector<std::string> &classes() const;
  Sample operator[](int64_t index) const;
  /// Returns the subset of samples [begin, end).
  Dataset slice(int64_t begin, int64_t end) const;

  const Source &source() const { return *held; }

private:
  std::shared_ptr<const Source> held;
};

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Dataset over in-memory arrays, which are not copied. The first dimension of each array indexes
/// the samples.
DLC_EXPORT Dataset arrays(const NamedTensors &fields);
DLC_EXPORT Dataset arrays(Tensor x, Tensor target);
/// Dataset with one .npy file per field: {{"x", "images.npy"}, {"target", "labels.npy"}}.
DLC_EXPORT Dataset npy(const std::vector<std::pair<std::string, std::string>> &files);
/// Dataset over the named arrays of an .npz file, in the order of `names`. If `names` is empty, all
/// arrays are used in the order of the file.
DLC_EXPORT Dataset npz(const std::string &path, const std::vector<std::string> &names = {});

struct ImageOptions {
  int64_t height = 224, width = 224;
  /// If true, the image is scaled to cover height x width, keeping its aspect ratio, and cropped at
  /// the center. Otherwise it is stretched to height x width.
  bool crop = true;
  /// Number of channels: 3 (red, green, blue) or 1 (gray).
  int64_t channels = 3;
  /// Normalization of pixels in [0, 1]: (pixel - mean) / deviation. A single number applies to all
  /// channels.
  std::vector<float> mean = {0.f}, deviation = {1.f};
};
/// Dataset over an image folder with one class per subfolder. Classes are numbered in the order of
/// the subfolders' names; the .jpg, .jpeg and .png files below each subfolder are read in the order
/// of their names. Fields: "x", f32 [channels, height, width], and "target", i64 [].
DLC_EXPORT Dataset images(const std::string &folder, const ImageOptions &options = {});

/// Dataset that calls `sample(index)` for 0 <= index < size, concurrently from the workers of the
/// loader. If `fields` is empty, the fields are derived from sample 0 and named "x", "target",
/// "field2" and so on.
DLC_EXPORT Dataset function(int64_t size, std::function<Sample(int64_t)> sample,
                            std::vector<TensorSpec> fields = {});
/// Dataset that creates a new generator for each epoch. One worker calls the generator
/// sequentially.
DLC_EXPORT Dataset generator(std::function<Generator(uint64_t epoch)> start,
                             std::vector<TensorSpec> fields);

/// Reads the arrays of an .npz file in the order of the file. Their memory is read-only.
DLC_EXPORT NamedTensors readNpz(const std::string &path);
DLC_EXPORT Tensor readNpy(const std::string &path);

struct LoaderOptions {
  int64_t batch = 1;
  bool shuffle = false;
  uint64_t seed = 0;
  /// Number of worker threads that assemble batches. 0: Loader::next() assembles them in the
  /// calling thread.
  int workers = 1;
  /// Maximum number of batches that are ready or being assembled, in addition to the one in use.
  int prefetch = 2;
  /// Drops the last batch if it is not full.
  bool dropLast = false;
  /// Rank of this process and number of ranks that share each epoch. Each global batch of batch *
  /// world samples is split into contiguous parts: rank 0 has the first part, rank 1 the second.
  /// Global batches of the same size thus hold the same samples in worlds of any size. The
  /// remaining samples, and those of a generator, are distributed round-robin. All ranks get the
  /// same number of samples: if the last round is not full, it is filled with the first samples
  /// (with dropLast, it is dropped).
  int64_t rank = 0, world = 1;
};

/// Position of a batch in the sequence of epochs.
struct Position {
  uint64_t epoch = 0;
  int64_t batch = 0;
  bool operator==(const Position &) const = default;
};

/// Tensors whose first dimension indexes the samples of the batch. The loader reuses their memory
/// after the last of these tensors is destroyed.
struct Batch {
  std::vector<Tensor> fields;
  std::shared_ptr<const std::vector<TensorSpec>> specs;
  Position position;

  int64_t samples() const { return fields[0].shape()[0]; }
  const Tensor &operator[](size_t field) const { return fields.at(field); }
  /// Returns the tensors by field name, as Session::run() takes them.
  std::map<std::string, Tensor> named() const {
    std::map<std::string, Tensor> result;
    for (size_t i = 0; i < fields.size(); ++i)
      result[(*specs)[i].name] = fields[i];
    return result;
  }
};

/// Returns the permutation of [0, size) for an epoch. It depends on (size, seed, epoch) alone and
/// is the same on every machine. runtime/data/README.md describes the algorithm.
DLC_EXPORT std::vector<int64_t> shuffled(int64_t size, uint64_t seed, uint64_t epoch);

/// Prefetches batches. Their contents depend on dataset, options and position only, not on the
/// number of workers. Not thread-safe: must be used by one thread at a time.
class DLC_EXPORT Loader {
public:
  Loader(Dataset dataset, const LoaderOptions &options);
  ~Loader();
  Loader(Loader &&) noexcept;
  Loader &operator=(Loader &&) noexcept;

  /// Returns the next batch, or std::nullopt at the end of an epoch; the following call starts the
  /// next epoch. Rethrows an exception of the dataset with the index of the sample, and then skips
  /// this batch.
  std::optional<Batch> next();

  /// Number of batches per epoch for this rank; -1 for a generator.
  int64_t batches() const;
  /// Position of the batch that the following call of next() returns.
  Position position() const;
  /// Moves the loader to a position, for example one restored from a checkpoint: the following
  /// batches are the same as in an uninterrupted run.
  void seek(Position position);
  void setEpoch(uint64_t epoch) { seek({epoch, 0}); }
  const Dataset &dataset() const;
  const LoaderOptions &options() const;
  /// Number of batch buffers ever allocated. Buffers are reused, so this is bounded by `prefetch`
  /// plus the batches in use, not by the number of batches.
  size_t buffersMade() const;

  /// Starts a loop over an epoch: the current epoch if no batch of it was returned since its start
  /// or since seek(), otherwise the next epoch.
  void beginEpoch();

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// A loader as a range of std::array<Tensor, N>, for structured bindings. Each loop over it is one
/// epoch.
template <size_t N> class Batches {
public:
  Batches(Dataset dataset, const LoaderOptions &options) : held(std::move(dataset), options) {
    if (size_t found = held.dataset().fields().size(); found != N)
      throw Error("a loader of " + std::to_string(N) +
                  " tensors per batch does not fit a dataset of " + std::to_string(found) +
                  " fields; write loader<" + std::to_string(found) + ">(..)");
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
      batch.reset(); // release the memory first, so that the loader can reuse it for the next batch
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

  /// The underlying loader, for access to positions and single batches.
  Loader &loader() { return held; }

private:
  Loader held;
};

/// Makes a Batches range. N is the number of fields: 2 for inputs and targets, loader<3>(..) for
/// three fields.
template <size_t N = 2> Batches<N> loader(Dataset dataset, const LoaderOptions &options = {}) {
  return Batches<N>(std::move(dataset), options);
}

} // namespace dlc::data

#endif // DLC_DATA_HPP
