//===- Picture.h - an image file's pixels -------------------------------------===//
#ifndef DLC_RUNTIME_DATA_PICTURE_H
#define DLC_RUNTIME_DATA_PICTURE_H

#include "dlc/Export.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dlc::data {

/// Rows of red, green, blue, each from 0 to 255.
template <typename T> struct PictureOf {
  int64_t height = 0, width = 0;
  std::vector<T> pixels;
};
using Picture = PictureOf<float>;

/// A JPEG or PNG file, told by its content. Transparency is left out. Throws dlc::Error.
PictureOf<uint8_t> readPicture(const std::string &path);

/// Smoothed where it shrinks (a triangle as wide as the step between the new pixels). With `crop`,
/// scaled by one factor so that it covers the new size, and its middle taken.
DLC_EXPORT Picture resized(const PictureOf<uint8_t> &picture, int64_t height, int64_t width,
                           bool crop);

} // namespace dlc::data

#endif // DLC_RUNTIME_DATA_PICTURE_H
