//===- Convolution.h - f32 convolution on tiles: description and call -----===//
#ifndef DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H
#define DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H

#include "runtime/library/describe/Convolution.h"
#include "runtime/library/describe/PostOps.h"
#include "runtime/library/tiles/Kernel.h"

namespace dlc::tiles {

/// Parsed and checked description of a convolution (schema/Convolution.def).
struct DLC_EXPORT Convolution : describe::Convolution {
  int parts = 2;
  describe::PostOps posts;

  /// Parses the description of a convolution. Throws dlc::Error if it is not valid.
  static Convolution parse(const nlohmann::json &desc);
  static Convolution of(const schema::TilesConvolution &fields);

  /// Returns true if there are so few channels that the columns of the window and the channels are
  /// merged into one reduction dimension (im2col along the row). A packed pixel then includes its
  /// neighbors in the row.
  bool unfoldsRows() const;
  int64_t depth() const { return unfoldsRows() ? window.sizes[1] * channels : channels; }
  int64_t taps(int dim) const { return dim == 1 && unfoldsRows() ? 1 : window.sizes[dim]; }
  int64_t taps() const { return taps(0) * taps(1); }
  /// The pixels are packed into padded images. reach(dim) is the distance of the window's last tap
  /// in packed positions. sharedPlaces() is the number of padding positions that a row shares with
  /// the next row. pitch() is the stride between two packed rows, in positions.
  int64_t reach(int dim) const;
  int64_t sharedPlaces() const;
  int64_t pitch() const { return dst[1] + reach(1) - sharedPlaces(); }
  /// Range of the window's rows or columns that overlap the image for any result from `first` to
  /// `last`; the others only read padding.
  struct Range {
    int64_t begin = 0, end = 0;
  };
  Range liveTaps(int dim, int64_t first, int64_t last) const;

  uint64_t packedBytes() const;
  void packWeights(const float *weights, void *packed, int threads) const;
};

std::unique_ptr<runtime::LibraryCall> makeConvolution(const nlohmann::json &desc,
                                                      std::span<const runtime::BufferInfo> buffers,
                                                      int threads);

} // namespace dlc::tiles

#endif // DLC_RUNTIME_LIBRARY_TILES_CONVOLUTION_H
