//===- NpyTest.cpp - NumPy's .npy array files ---------------------------------===//
#include "Sample.h"

#include "runtime/program/arrays/Npy.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace dlc;
using namespace dlc::test;
using runtime::NpyArray;
using runtime::NpyRows;
using runtime::parseNpy;
using runtime::readNpy;
using runtime::writeNpy;

namespace {

std::vector<uint8_t> npy(const std::string &header, const std::vector<uint8_t> &data,
                         int version = 1) {
  std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', static_cast<uint8_t>(version), 0};
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes.push_back(static_cast<uint8_t>(header.size() >> (8 * i)));
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

NpyArray parse(const std::vector<uint8_t> &bytes) {
  return parseNpy(runtime::copyToOwnedSpan(bytes.data(), bytes.size()), "test.npy");
}

} // namespace

TEST(Npy, RoundTripOfEveryType) {
  TemporaryFolder folder;
  for (int i = 0; i < kDTypeCount; ++i) {
    DType type = static_cast<DType>(i);
    if (isPacked(type))
      continue;
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 2, 3, 4}}) {
      size_t count = 1;
      for (int64_t dim : shape)
        count *= static_cast<size_t>(dim);
      std::vector<uint8_t> data(count * dtypeBytes(type));
      for (size_t j = 0; j < data.size(); ++j)
        data[j] = static_cast<uint8_t>(j * 37);
      writeNpy(folder / "a.npy", type, shape, data.data());
      NpyArray back = readNpy(folder / "a.npy");
      EXPECT_EQ(back.dtype, type);
      EXPECT_EQ(back.shape, shape);
      ASSERT_EQ(back.data.bytes, data.size());
      EXPECT_TRUE(
          std::equal(data.begin(), data.end(), static_cast<const uint8_t *>(back.data.data)));
      EXPECT_EQ(data.empty() ? 0 : reinterpret_cast<uintptr_t>(back.data.data) % 64, 0u);
    }
  }
}

TEST(Npy, PackedIntegersHaveBytesInFiles) {
  TemporaryFolder folder;
  const std::vector<int64_t> shape = {2, 3};
  const uint8_t packed[] = {0x8f, 0x07, 0x21, 0x0e}, bytes[] = {255, 248, 7, 1, 2, 254};
  writeNpy(folder / "a.npy", DType::I4, shape, packed);
  NpyArray back = readNpy(folder / "a.npy");
  EXPECT_EQ(back.dtype, DType::I8);
  ASSERT_EQ(back.data.bytes, sizeof bytes);
  EXPECT_EQ(std::memcmp(back.data.data, bytes, sizeof bytes), 0);
  NpyArray again = packArray(back, DType::I4, "a.npy");
  EXPECT_EQ(again.dtype, DType::I4);
  EXPECT_EQ(again.shape, shape);
  ASSERT_EQ(again.data.bytes, sizeof packed);
  EXPECT_EQ(std::memcmp(again.data.data, packed, sizeof packed), 0);
  // NumPy writes ml_dtypes' int4 and uint4 as raw bytes of type V1.
  NpyArray bits = parse(
      npy("{'descr': '<V1', 'fortran_order': False, 'shape': (2, 3), }\n", {15, 8, 7, 1, 2, 14}));
  EXPECT_EQ(bits.dtype, DType::U4);
  EXPECT_EQ(std::memcmp(packArray(bits, DType::I4, "").data.data, packed, sizeof packed), 0);
  NpyArray large =
      parse(npy("{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }\n", {1, 16, 2}));
  try {
    packArray(large, DType::U4, "b.npy");
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "'b.npy': required: u4; found: 16 (element 1); give integers from 0 "
                               "to 15");
  }
  // Other types are left to the caller's checks.
  EXPECT_EQ(packArray(large, DType::I4, "").dtype, DType::U8);
  EXPECT_EQ(packArray(large, DType::F32, "").dtype, DType::U8);
}

TEST(Npy, RowsAreWrittenBeforeTheirNumberIsKnown) {
  TemporaryFolder folder;
  const std::string path = folder / "rows.npy";
  const float row[] = {1, 2, 3};
  for (int64_t count : {0, 1, 200}) {
    NpyRows rows(path, DType::F32, 3);
    for (int64_t i = 0; i < count; ++i)
      rows.append(row);
    rows.commit();
    const NpyArray back = readNpy(path);
    EXPECT_EQ(back.dtype, DType::F32);
    EXPECT_EQ(back.shape, (std::vector<int64_t>{count, 3}));
    const auto *values = static_cast<const float *>(back.data.data);
    for (int64_t i = 0; i < 3 * count; ++i)
      ASSERT_EQ(values[i], row[i % 3]);
  }
  // A writer without commit() keeps the previous file.
  NpyRows(path, DType::F32, 3).append(row);
  EXPECT_EQ(readNpy(path).shape[0], 200);
}

TEST(Npy, RowsOfAPipeAreWrittenByCommit) {
  TemporaryFolder folder;
  const std::string path = folder / "pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  NpyRows rows(path, DType::F32, 3);
  const float row[] = {1, 2, 3};
  rows.append(row);
  rows.commit();
  std::vector<uint8_t> bytes(4096);
  const ssize_t size = read(reader, bytes.data(), bytes.size());
  close(reader);
  ASSERT_GT(size, 0);
  bytes.resize(size_t(size));
  EXPECT_EQ(parse(bytes).shape, (std::vector<int64_t>{1, 3}));
}

TEST(Npy, FortranOrder) {
  NpyArray array = parse(
      npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", {1, 2, 3, 4, 5, 6}));
  const uint8_t expected[] = {1, 3, 5, 2, 4, 6};
  EXPECT_EQ(std::memcmp(array.data.data, expected, 6), 0);
}

TEST(Npy, OtherVersionsAndSpellings) {
  EXPECT_EQ(parse(npy("{'shape':(1,),'fortran_order':False,\"descr\":'<i2'}", {1, 2}, 2)).dtype,
            DType::I16);
  EXPECT_EQ(parse(npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", {1, 2}, 3)).dtype,
            DType::BF16);
}

TEST(Npy, WrongFiles) {
  const char *headers[] = {
      "",
      "{",
      "{}",
      "{'descr': '<f4', 'fortran_order': False}",
      "{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
      "{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}"};
  for (const char *header : headers)
    EXPECT_NE(errorOf([&] { parse(npy(header, {0, 0, 0, 0})); }), "") << header;
}

TEST(Npy, TruncationsAndFlipsNeverCrash) {
  std::vector<uint8_t> good = npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                                  std::vector<uint8_t>(24, 1));
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(errorOf([&] { parse({good.begin(), good.begin() + static_cast<long>(size)}); }), "");
  for (size_t at = 0; at < good.size() - 24; ++at)
    for (int value = 0; value < 256; ++value) {
      std::vector<uint8_t> bad = good;
      bad[at] = static_cast<uint8_t>(value);
      errorOf([&] { parse(bad); });
    }
}
