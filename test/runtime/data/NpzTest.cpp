//===- NpzTest.cpp - NumPy's .npz archives: complete, truncated, inconsistent -===//
#include "test/runtime/Sample.h"

#include "dlc/data.hpp"
#include "runtime/program/arrays/Npy.h"

#include <minizip/zip.h>

#include <algorithm>
#include <cstring>
#include <random>

using namespace dlc;
using namespace dlc::test;

namespace {

struct Entry {
  std::string name;
  std::vector<uint8_t> bytes;
  bool deflate;
};

void writeZip(const std::string &path, const std::vector<Entry> &entries) {
  zipFile file = zipOpen64(path.c_str(), APPEND_STATUS_CREATE);
  for (const Entry &entry : entries) {
    zipOpenNewFileInZip64(file, entry.name.c_str(), nullptr, nullptr, 0, nullptr, 0, nullptr,
                          entry.deflate ? 8 : 0, 6, 1);
    zipWriteInFileInZip(file, entry.bytes.data(), static_cast<unsigned>(entry.bytes.size()));
    zipCloseFileInZip(file);
  }
  zipClose(file, nullptr);
}

std::vector<uint8_t> npy(DType dtype, const std::vector<int64_t> &shape, const void *data) {
  TemporaryFolder folder;
  runtime::writeNpy(folder / "a.npy", dtype, shape, data);
  return readFile(folder / "a.npy");
}

std::string errorOf(const std::string &path) {
  try {
    data::readNpz(path);
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

struct Npz : testing::Test {
  TemporaryFolder folder;
  std::string path = folder / "a.npz";
  std::vector<float> x;
  int64_t t[5] = {4, 3, 2, 1, 0};

  void SetUp() override {
    for (int i = 0; i < 5 * 300; ++i)
      x.push_back(float(i % 17));
  }
  void write(bool deflate) {
    // A name of odd length puts the following data at an odd address.
    writeZip(path, {{"odd.npy", npy(DType::F32, {5, 300}, x.data()), deflate},
                    {"target.npy", npy(DType::I64, {5}, t), deflate}});
  }
};

} // namespace

TEST_F(Npz, StoredAndDeflated) {
  for (bool deflate : {false, true}) {
    write(deflate);
    data::NamedTensors all = data::readNpz(path);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].first, "odd");
    EXPECT_EQ(all[0].second.shape(), (std::vector<int64_t>{5, 300}));
    EXPECT_TRUE(std::equal(x.begin(), x.end(), all[0].second.data<float>()));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(all[0].second.raw()) % 4, 0u);
    EXPECT_EQ(all[1].second.data<int64_t>()[1], 3);

    data::Dataset dataset = data::npz(path, {"target", "odd"});
    EXPECT_EQ(dataset.fields()[0].name, "target");
    EXPECT_EQ(*dataset[4][0].data<int64_t>(), 0);
    EXPECT_EQ(dataset[4][1].data<float>()[299], x.back());
    EXPECT_EQ(data::npz(path).fields()[0].name, "odd");
    try {
      data::npz(path, {"labels"});
      FAIL();
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find("the arrays are: [odd, target]"), std::string::npos)
          << error.what();
    }
  }
}

TEST_F(Npz, ManyMembersAndNone) {
  std::vector<Entry> entries;
  for (int i = 0; i < 40; ++i)
    entries.push_back({"m" + std::to_string(i) + ".npy", npy(DType::I64, {5}, t), i % 2 == 0});
  writeZip(path, entries);
  EXPECT_EQ(data::readNpz(path).size(), 40u);
  writeZip(path, {});
  EXPECT_TRUE(data::readNpz(path).empty());
  EXPECT_THROW(data::npz(path), Error);
}

TEST_F(Npz, OtherFilesAreErrors) {
  EXPECT_NE(errorOf(folder / "none.npz").find("none.npz"), std::string::npos);
  writeFile(path, {'P', 'K', 3, 4, 1, 2, 3});
  EXPECT_NE(errorOf(path).find("not a .npz file"), std::string::npos);
  writeFile(path, {});
  EXPECT_NE(errorOf(path).find("not a .npz file"), std::string::npos);
  writeZip(path, {{"readme.txt", {1, 2}, false}});
  EXPECT_NE(errorOf(path).find("'readme.txt' is not an array"), std::string::npos);
  writeZip(path, {{"a.npy", {1, 2}, false}});
  EXPECT_NE(errorOf(path).find("a.npz:a.npy' is not a .npy file"), std::string::npos);
  auto array = npy(DType::I64, {5}, t);
  writeZip(path, {{"a.npy", array, false}, {"a.npy", array, false}});
  EXPECT_NE(errorOf(path).find("two arrays are named 'a'"), std::string::npos);
}

TEST_F(Npz, CutFilesAreErrors) {
  for (bool deflate : {false, true}) {
    write(deflate);
    std::vector<uint8_t> whole = readFile(path);
    // The last two bytes are the length of the archive's comment, which the reader ignores.
    for (size_t size = 0; size + 2 < whole.size(); size += 1 + whole.size() / 97) {
      writeFile(path, {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
      EXPECT_NE(errorOf(path), "no error") << size;
    }
  }
}

TEST_F(Npz, AFlippedBitOfDataIsFound) {
  for (bool deflate : {false, true}) {
    write(deflate);
    std::vector<uint8_t> whole = readFile(path);
    // Flips a bit of the first member's data, after the .npy header.
    whole[deflate ? 120 : 3000] ^= 4;
    writeFile(path, whole);
    EXPECT_NE(errorOf(path).find("damaged"), std::string::npos) << errorOf(path);
  }
}

TEST_F(Npz, DamageNeverHurts) {
  std::mt19937 engine(1);
  for (bool deflate : {false, true}) {
    write(deflate);
    std::vector<uint8_t> whole = readFile(path);
    int refused = 0;
    for (int round = 0; round < 400; ++round) {
      std::vector<uint8_t> mutant = whole;
      // Half of the damage is done to the central directory at the end of the file, which has the
      // most fields to falsify.
      size_t directory = whole.size() - 200;
      for (unsigned i = 0, n = 1 + engine() % 3; i < n; ++i) {
        size_t at = engine() % 2 ? directory + engine() % 200 : engine() % whole.size();
        mutant[at] = static_cast<uint8_t>(engine() % 2 ? 255 : engine());
      }
      writeFile(path, mutant);
      refused += errorOf(path) != "no error";
    }
    EXPECT_GT(refused, 200);
  }
}

TEST_F(Npz, APromiseTooLargeIsALie) {
  write(true);
  std::vector<uint8_t> bytes = readFile(path);
  // The uncompressed size is at offset 24 of an entry in the central directory.
  const uint8_t signature[] = {'P', 'K', 1, 2};
  auto entry = std::search(bytes.begin(), bytes.end(), signature, signature + 4);
  ASSERT_NE(entry, bytes.end());
  const uint8_t huge[] = {0xf0, 0xff, 0xff, 0x7f};
  std::copy(huge, huge + 4, entry + 24);
  writeFile(path, bytes);
  EXPECT_NE(errorOf(path), "no error");
}
