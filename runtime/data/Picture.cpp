//===- Picture.cpp - reads and resizes image files ---------------------------===//
#include "runtime/data/Picture.h"

#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"

#include <png.h>
#include <turbojpeg.h>

#include <cmath>
#include <cstring>
#include <memory>

namespace dlc::data {

using runtime::fail;
using runtime::MappedFile;
using Bytes = PictureOf<uint8_t>;

namespace {

/// Maximum number of pixels of a picture. Rejects corrupt or malicious files before memory is
/// allocated.
constexpr int64_t kMaxPixels = int64_t(1) << 28;

Bytes allocateImage(int64_t height, int64_t width, const std::string &path) {
  if (height < 1 || width < 1 || height > kMaxPixels / width)
    fail("'", path, "': an image of ", width, " x ", height, " pixels; required: at most ",
         kMaxPixels, " pixels");
  return {height, width, std::vector<uint8_t>(static_cast<size_t>(3 * height * width))};
}

Bytes readJpeg(const MappedFile &file) {
  std::unique_ptr<void, int (*)(tjhandle)> handle(tjInitDecompress(), tjDestroy);
  auto check = [&](int status) {
    // Ignore warnings, such as an extra byte, because the picture is complete; but a truncated file
    // is an error.
    if (status != 0 && tjGetErrorCode(handle.get()) == TJERR_FATAL)
      fail("'", file.path(), "': not a usable JPEG file: ", tjGetErrorStr2(handle.get()));
    if (status != 0 && std::strstr(tjGetErrorStr2(handle.get()), "Premature end"))
      fail("'", file.path(), "': the JPEG file is truncated");
  };
  if (!handle)
    throw std::bad_alloc();
  int width = 0, height = 0, sampling = 0, space = 0;
  check(tjDecompressHeader3(handle.get(), file.data(), file.size(), &width, &height, &sampling,
                            &space));
  Bytes picture = allocateImage(height, width, file.path());
  check(tjDecompress2(handle.get(), file.data(), file.size(), picture.pixels.data(), width, 0,
                      height, TJPF_RGB, TJFLAG_ACCURATEDCT));
  return picture;
}

Bytes readPng(const MappedFile &file) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  std::unique_ptr<png_image, void (*)(png_image *)> owned(&image, png_image_free);
  auto check = [&](int done) {
    if (!done)
      fail("'", file.path(), "': not a usable PNG file: ", image.message);
  };
  check(png_image_begin_read_from_memory(&image, file.data(), file.size()));
  Bytes picture = allocateImage(image.height, image.width, file.path());
  // Read with alpha and drop it, because libpng would otherwise blend with a background.
  image.format = PNG_FORMAT_RGBA;
  std::vector<uint8_t> rgba(PNG_IMAGE_SIZE(image));
  check(png_image_finish_read(&image, nullptr, rgba.data(), 0, nullptr));
  for (size_t i = 0; i < rgba.size() / 4; ++i)
    std::memcpy(&picture.pixels[3 * i], &rgba[4 * i], 3);
  return picture;
}

/// Filter weights of the source pixels that contribute to one resized pixel, along one dimension.
struct Tap {
  int64_t first;
  std::vector<float> weights;
};

/// Returns the filter taps of the resized pixels [skip, skip + count) of a dimension that is
/// resized from `from` to `full` pixels.
std::vector<Tap> computeFilterTaps(int64_t from, double full, double skip, int64_t count) {
  double step = double(from) / full, reach = std::max(step, 1.0);
  std::vector<Tap> taps;
  for (int64_t i = 0; i < count; ++i) {
    double centre = (double(i) + skip + 0.5) * step;
    int64_t first = std::max<int64_t>(0, int64_t(std::llround(centre - reach))),
            last = std::min(from, int64_t(std::llround(centre + reach)));
    Tap tap{std::min(first, from - 1), {}};
    double sum = 0;
    for (int64_t j = tap.first; j < std::max(last, tap.first + 1); ++j) {
      double weight = std::max(0.0, 1 - std::abs((double(j) + 0.5 - centre) / reach));
      tap.weights.push_back(float(weight));
      sum += weight;
    }
    for (float &weight : tap.weights)
      weight = sum > 0 ? float(weight / sum) : 1.f / float(tap.weights.size());
    taps.push_back(std::move(tap));
  }
  return taps;
}

} // namespace

Bytes readPicture(const std::string &path) {
  MappedFile file(path);
  if (file.size() >= 3 && std::memcmp(file.data(), "\xff\xd8\xff", 3) == 0)
    return readJpeg(file);
  if (file.size() >= 8 && std::memcmp(file.data(), "\x89PNG\r\n\x1a\n", 8) == 0)
    return readPng(file);
  fail("'", path, "': required: a JPEG or PNG file; found ", file.size(),
       " bytes that begin with neither signature");
}

Picture resizePicture(const Bytes &picture, int64_t height, int64_t width, bool crop) {
  double fullHeight = double(height), fullWidth = double(width);
  if (crop) {
    double scale = std::max(fullHeight / double(picture.height), fullWidth / double(picture.width));
    fullHeight = scale * double(picture.height);
    fullWidth = scale * double(picture.width);
  }
  std::vector<Tap> columns =
      computeFilterTaps(picture.width, fullWidth, (fullWidth - double(width)) / 2, width);
  std::vector<Tap> rows =
      computeFilterTaps(picture.height, fullHeight, (fullHeight - double(height)) / 2, height);
  // The filter is separable: first resize the needed source rows horizontally, then combine rows
  // vertically.
  std::vector<float> narrow(static_cast<size_t>(picture.height * width * 3));
  for (int64_t y = rows.front().first; y < picture.height; ++y)
    for (int64_t x = 0; x < width; ++x)
      for (int64_t c = 0; c < 3; ++c) {
        const Tap &tap = columns[static_cast<size_t>(x)];
        float sum = 0;
        for (size_t k = 0; k < tap.weights.size(); ++k)
          sum += tap.weights[k] * picture.pixels[static_cast<size_t>(
                                      (y * picture.width + tap.first + int64_t(k)) * 3 + c)];
        narrow[static_cast<size_t>((y * width + x) * 3 + c)] = sum;
      }
  Picture result{height, width, std::vector<float>(static_cast<size_t>(height * width * 3))};
  size_t line = static_cast<size_t>(width * 3);
  for (int64_t y = 0; y < height; ++y) {
    const Tap &tap = rows[static_cast<size_t>(y)];
    float *out = &result.pixels[static_cast<size_t>(y) * line];
    for (size_t k = 0; k < tap.weights.size(); ++k) {
      const float *from = &narrow[(static_cast<size_t>(tap.first) + k) * line];
      for (size_t i = 0; i < line; ++i)
        out[i] += tap.weights[k] * from[i];
    }
  }
  return result;
}

} // namespace dlc::data
