//===- Images.cpp - image folders with one class per subfolder ---------------===//
#include "runtime/data/Picture.h"
#include "runtime/data/Source.h"

#include "runtime/program/Message.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace dlc::data {

using runtime::fail;
namespace fs = std::filesystem;

namespace {

struct ImageSource : Dataset::Source {
  ImageOptions options;
  std::vector<std::pair<std::string, int64_t>> files; // path and class index of each image

  void read(int64_t index, void *const *to) const override {
    const auto &[path, label] = files[static_cast<size_t>(index)];
    Picture picture = resizePicture(readPicture(path), options.height, options.width, options.crop);
    float *out = static_cast<float *>(to[0]);
    size_t pixels = static_cast<size_t>(options.height * options.width);
    for (size_t c = 0; c < static_cast<size_t>(options.channels); ++c) {
      float mean = options.mean[c], scale = 1.f / options.deviation[c];
      for (size_t i = 0; i < pixels; ++i) {
        const float *p = &picture.pixels[3 * i];
        // Convert to gray with the luma weights of ITU-R BT.601.
        float value = options.channels == 3 ? p[c] : 0.299f * p[0] + 0.587f * p[1] + 0.114f * p[2];
        out[c * pixels + i] = (value / 255.f - mean) * scale;
      }
    }
    std::memcpy(to[1], &label, sizeof label);
  }
};

bool isImage(const fs::path &path) {
  std::string extension = path.extension().string();
  for (char &c : extension)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return extension == ".jpg" || extension == ".jpeg" || extension == ".png";
}

/// Expands a single normalization value to one per channel.
void expandPerChannel(std::vector<float> &values, int64_t channels, const char *what) {
  if (values.size() == 1)
    values.resize(static_cast<size_t>(channels), values[0]);
  if (values.size() != static_cast<size_t>(channels))
    fail("images: required: one ", what, " or one for each of ", channels,
         " channels; found: ", values.size());
}

} // namespace

Dataset images(const std::string &folder, const ImageOptions &given) {
  auto source = std::make_shared<ImageSource>();
  ImageOptions &options = source->options;
  options = given;
  constexpr int64_t most = 1 << 15;
  if (options.height < 1 || options.width < 1 || options.height > most || options.width > most)
    fail("images: required: a height and width from 1 to ", most, "; found: ", options.height,
         " x ", options.width);
  if (options.channels != 1 && options.channels != 3)
    fail("images: required: 1 or 3 channels; found: ", options.channels);
  expandPerChannel(options.mean, options.channels, "mean");
  expandPerChannel(options.deviation, options.channels, "deviation");
  for (float deviation : options.deviation)
    if (!(deviation > 0))
      fail("images: required: standard deviations above 0; found: ", deviation);

  try {
    for (const fs::directory_entry &entry : fs::directory_iterator(folder))
      if (entry.is_directory())
        source->classes.push_back(entry.path().filename().string());
    std::sort(source->classes.begin(), source->classes.end());
    for (size_t label = 0; label < source->classes.size(); ++label) {
      size_t first = source->files.size();
      for (const fs::directory_entry &entry :
           fs::recursive_directory_iterator(fs::path(folder) / source->classes[label]))
        if (entry.is_regular_file() && isImage(entry.path()))
          source->files.emplace_back(entry.path().string(), static_cast<int64_t>(label));
      std::sort(source->files.begin() + static_cast<std::ptrdiff_t>(first), source->files.end());
      if (source->files.size() == first)
        fail("'", (fs::path(folder) / source->classes[label]).string(),
             "': required: at least one .jpg, .jpeg or .png for the class; found none");
    }
  } catch (const fs::filesystem_error &error) {
    fail("'", folder, "': the images cannot be listed: ", error.code().message());
  }
  if (source->classes.empty())
    fail("'", folder, "': required: a subfolder for each class, with its images; found none");
  source->size = static_cast<int64_t>(source->files.size());
  source->fields = {{"x", DType::F32, {options.channels, options.height, options.width}},
                    {"target", DType::I64, {}}};
  return Dataset(source);
}

} // namespace dlc::data
