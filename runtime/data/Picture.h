//===- Picture.h - reads and resizes image files -----------------------------===//
#ifndef DLC_RUNTIME_DATA_PICTURE_H
#define DLC_RUNTIME_DATA_PICTURE_H

#include "dlc/Export.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::data {

/// RGB pixels in row-major order, each value from 0 to 255.
template <typename T> struct PictureOf {
  int64_t height = 0, width = 0;
  std::vector<T> pixels;
};
using Picture = PictureOf<float>;

/// Reads a JPEG or PNG file; the format is detected by its content. The alpha channel is ignored.
/// Throws dlc::Error.
PictureOf<uint8_t> readPicture(const std::string &path);

/// Resizes a picture with linear interpolation; when shrinking, a triangle filter as wide as the
/// step between new pixels prevents aliasing. With `crop`, the picture is scaled to cover the new
/// size, keeping its aspect ratio, and cropped at the center.
DLC_EXPORT Picture resizePicture(const PictureOf<uint8_t> &picture, int64_t height, int64_t width,
                                 bool crop);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_PICTURE_H
