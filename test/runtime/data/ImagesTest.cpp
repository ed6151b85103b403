//===- ImagesTest.cpp - datasets of image folders -----------------------------===//
#include "test/runtime/Sample.h"

#include "dlc/data.hpp"
#include "runtime/data/Picture.h"

#include <png.h>
#include <turbojpeg.h>

#include <cmath>

using namespace dlc;
using namespace dlc::data;
using namespace dlc::test;

namespace {

void writePng(const std::string &path, int width, int height, const std::vector<uint8_t> &pixels,
              uint32_t format = PNG_FORMAT_RGB) {
  png_image image = {};
  image.version = PNG_IMAGE_VERSION;
  image.width = static_cast<uint32_t>(width);
  image.height = static_cast<uint32_t>(height);
  image.format = format;
  ASSERT_TRUE(png_image_write_to_file(&image, path.c_str(), 0, pixels.data(), 0, nullptr))
      << image.message;
}

void writeJpeg(const std::string &path, int width, int height, const std::vector<uint8_t> &pixels) {
  tjhandle handle = tjInitCompress();
  unsigned char *bytes = nullptr;
  unsigned long size = 0;
  ASSERT_EQ(tjCompress2(handle, pixels.data(), width, 0, height, TJPF_RGB, &bytes, &size,
                        TJSAMP_444, 95, 0),
            0);
  writeFile(path, {bytes, bytes + size});
  tjFree(bytes);
  tjDestroy(handle);
}

std::vector<uint8_t> plain(int pixels, uint8_t r, uint8_t g, uint8_t b) {
  std::vector<uint8_t> rgb;
  for (int i = 0; i < pixels; ++i)
    rgb.insert(rgb.end(), {r, g, b});
  return rgb;
}

struct Images : testing::Test {
  TemporaryFolder folder;
  void classFolder(const std::string &name) { std::filesystem::create_directory(folder / name); }
  std::string errorOf(const ImageOptions &options = {}) {
    try {
      Dataset data = images(folder / "", options);
      for (int64_t i = 0; i < data.size(); ++i)
        data[i];
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  }
};

} // namespace

TEST_F(Images, ClassesAndValues) {
  classFolder("dog");
  classFolder("cat");
  writePng(folder / "cat/b.PNG", 4, 4, plain(16, 255, 0, 51));
  writePng(folder / "cat/a.png", 4, 4, plain(16, 0, 102, 0));
  writeJpeg(folder / "dog/x.jpg", 9, 7, plain(63, 200, 100, 50));
  writeFile(folder / "dog/notes.txt", {'h', 'i'});
  Dataset data =
      images(folder / "", {.height = 2, .width = 3, .mean = {0.5f}, .deviation = {0.5f, 1.f, 2.f}});
  EXPECT_EQ(data.classes(), (std::vector<std::string>{"cat", "dog"}));
  ASSERT_EQ(data.size(), 3);
  EXPECT_EQ(data.fields()[0].shape, (std::vector<int64_t>{3, 2, 3}));
  auto value = [&](int64_t sample, int64_t channel) {
    return data[sample][0].data<float>()[channel * 6 + 5];
  };
  EXPECT_NEAR(value(0, 0), -1, 1e-6); // a.png precedes b.PNG
  EXPECT_NEAR(value(0, 1), -0.1, 1e-6);
  EXPECT_NEAR(value(1, 0), 1, 1e-6);
  EXPECT_NEAR(value(1, 2), -0.15, 1e-6);
  EXPECT_NEAR(value(2, 0), (200 / 255. - .5) / .5,
              0.03); // JPEG is lossy, so the tolerance is larger
  EXPECT_EQ(*data[1][1].data<int64_t>(), 0);
  EXPECT_EQ(*data[2][1].data<int64_t>(), 1);

  Dataset grey = images(folder / "", {.height = 4, .width = 4, .channels = 1});
  EXPECT_NEAR(grey[0][0].data<float>()[0], 0.587 * 0.4, 1e-6);

  int64_t batches = 0;
  for (auto [x, t] : loader(data, {.batch = 2, .workers = 2}))
    batches += x.shape()[1] == 3 && t.dtype() == DType::I64;
  EXPECT_EQ(batches, 2);
}

TEST_F(Images, TransparencyIsLeftOut) {
  classFolder("a");
  std::vector<uint8_t> rgba;
  for (int i = 0; i < 4; ++i)
    rgba.insert(rgba.end(), {100, 150, 200, static_cast<uint8_t>(i)});
  writePng(folder / "a/a.png", 2, 2, rgba, PNG_FORMAT_RGBA);
  Dataset data = images(folder / "", {.height = 2, .width = 2});
  EXPECT_NEAR(data[0][0].data<float>()[3], 100 / 255., 1e-6);
}

TEST(Resize, SameSizeIsTheSame) {
  PictureOf<uint8_t> picture{3, 5, {}};
  for (int i = 0; i < 45; ++i)
    picture.pixels.push_back(static_cast<uint8_t>(i * 5));
  for (bool crop : {false, true}) {
    Picture same = resizePicture(picture, 3, 5, crop);
    for (size_t i = 0; i < 45; ++i)
      EXPECT_NEAR(same.pixels[i], picture.pixels[i], 1e-4);
  }
}

// Expected values are those of Pillow's Image.resize(.., BILINEAR) for the ramp 0, 10 .. 90,
// resized to 4 and to 15 pixels in floats.
TEST(Resize, IsWhatOthersDo) {
  PictureOf<uint8_t> ramp{1, 10, {}};
  for (uint8_t i = 0; i < 10; ++i)
    ramp.pixels.insert(ramp.pixels.end(), 3, static_cast<uint8_t>(10 * i));
  auto red = [&](int64_t width) {
    Picture made = resizePicture(ramp, 1, width, false);
    std::vector<float> values;
    for (size_t i = 0; i < made.pixels.size(); i += 3)
      values.push_back(made.pixels[i]);
    return values;
  };
  std::vector<float> four = red(4), fifteen = red(15);
  const float wantedFour[] = {10.0000f, 32.4000f, 57.6000f, 80.0000f},
              wantedFifteen[] = {0.0000f,  5.0000f,  11.6667f, 18.3333f, 25.0000f,
                                 31.6667f, 38.3333f, 45.0000f, 51.6667f, 58.3333f,
                                 65.0000f, 71.6667f, 78.3333f, 85.0000f, 90.0000f};
  for (size_t i = 0; i < 4; ++i)
    EXPECT_NEAR(four[i], wantedFour[i], 1e-3);
  for (size_t i = 0; i < 15; ++i)
    EXPECT_NEAR(fifteen[i], wantedFifteen[i], 1e-3);
}

TEST(Resize, CropTakesTheMiddle) {
  // The left third is dark, the middle bright, the right third dark. A center crop of the wide
  // picture is bright.
  PictureOf<uint8_t> wide{4, 12, {}};
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 12; ++x)
      wide.pixels.insert(wide.pixels.end(), 3, x >= 4 && x < 8 ? 255 : 0);
  Picture middle = resizePicture(wide, 4, 4, true), squeezed = resizePicture(wide, 4, 4, false);
  for (float value : middle.pixels)
    EXPECT_NEAR(value, 255, 1e-3);
  EXPECT_LT(squeezed.pixels[0], 60);
  Picture one = resizePicture(wide, 1, 1, false);
  EXPECT_GT(one.pixels[0], 0);
}

TEST_F(Images, ErrorsNameTheFile) {
  EXPECT_NE(errorOf().find("a subfolder for each class"), std::string::npos);
  classFolder("empty");
  EXPECT_NE(errorOf().find("at least one .jpg"), std::string::npos);
  std::filesystem::remove(folder / "empty");
  classFolder("a");
  writeFile(folder / "a/text.png", {'t', 'e', 'x', 't'});
  EXPECT_NE(errorOf().find("text.png': required: a JPEG or PNG file"), std::string::npos);
  std::filesystem::remove(folder / "a/text.png");

  for (const char *name : {"a/p.png", "a/j.jpg"}) {
    std::vector<uint8_t> noise;
    for (int i = 0; i < 60 * 60 * 3; ++i)
      noise.push_back(static_cast<uint8_t>(i * i / 7));
    if (name[2] == 'p')
      writePng(folder / name, 60, 60, noise);
    else
      writeJpeg(folder / name, 60, 60, noise);
    EXPECT_EQ(errorOf(), "no error");
    std::vector<uint8_t> whole = readFile(folder / name);
    for (size_t size : {whole.size() / 2, whole.size() - 40, size_t(20)}) {
      writeFile(folder / name, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      EXPECT_NE(errorOf().find(name), std::string::npos) << size << " " << errorOf();
    }
    std::filesystem::remove(folder / name);
  }
  EXPECT_NE(errorOf({.channels = 2}).find("1 or 3 channels"), std::string::npos);
  EXPECT_NE(errorOf({.height = 0}).find("found: 0 x 224"), std::string::npos);
  EXPECT_NE(errorOf({.deviation = {0.f}}).find("above 0"), std::string::npos);
  EXPECT_NE(errorOf({.mean = {1, 2}}).find("one for each of 3"), std::string::npos);
  EXPECT_THROW(images(folder / "nowhere"), Error);
}
