//===- GgufTest.cpp - valid and invalid GGUF files -----------------------===//
#include "runtime/program/models/Gguf.h"

#include "dlc/Error.h"
#include "test/runtime/models/SampleGguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace dlc;
using namespace dlc::runtime;
using dlc::test::GgufBytes;
using testing::HasSubstr;

namespace {

class Gguf : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/dlc-gguf-XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string put(const std::string &bytes, const std::string &name = "a.gguf") const {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
    return folder + "/" + name;
  }
  ModelTable read(const std::string &bytes) const { return readGguf(put(bytes)); }
  /// Returns the message with which a file is refused; it contains the path.
  std::string errorOf(const std::string &bytes) const {
    try {
      read(bytes);
    } catch (const Error &e) {
      EXPECT_THAT(e.what(), HasSubstr(folder + "/a.gguf"));
      return e.what();
    }
    ADD_FAILURE() << "the file was accepted";
    return "";
  }

  std::string folder;
};

TEST_F(Gguf, MetadataOfEachType) {
  for (uint32_t version : {2u, 3u}) {
    ModelTable table = read(test::sampleGguf(version));
    EXPECT_EQ(table.string("general.architecture"), "llama");
    EXPECT_EQ(table.integer("u8", 0, 255), 200);
    EXPECT_EQ(table.integer("i8", -128, 127), -3);
    EXPECT_EQ(table.integer("u16", 0, 65535), 65535);
    EXPECT_EQ(table.integer("i16", -1000, 0), -300);
    EXPECT_EQ(table.integer("i32", -100000, 0), -70000);
    EXPECT_EQ(table.integer("u64", 0, INT64_MAX), int64_t(1) << 40);
    EXPECT_EQ(table.integer("i64", -1, 1), -1);
    EXPECT_EQ(table.real("f32", 0, 2), 1.5);
    EXPECT_EQ(table.real("f64", 0, 2), 0.25);
    EXPECT_TRUE(table.boolean("bool", false));
    EXPECT_EQ(table.integer("absent", 0, 9, 7), 7);
    EXPECT_THAT(table.find("tokens")->strings, testing::ElementsAre("a", "", "\xc3\xbc"));
    EXPECT_EQ(table.find("scores")->real(1), -1.0);
    EXPECT_THAT(*table.integers("heads", 2, 0, 8), testing::ElementsAre(4, 2));
    EXPECT_THAT(*table.integers("u8", 3, 0, 255), testing::ElementsAre(200, 200, 200));
  }
}

TEST_F(Gguf, TensorsOfEachFormat) {
  ModelTable table = read(test::sampleGguf());
  EXPECT_EQ(table.tensors.size(), blockFormats().size());
  for (const BlockFormatInfo &format : blockFormats()) {
    const ModelTensor *tensor = table.findTensor(std::string("tensor.") + format.name);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->format, format.format);
    EXPECT_THAT(tensor->shape, testing::ElementsAre(3, 2 * format.elements));
    ASSERT_EQ(tensor->data.bytes, 6 * format.bytes);
    EXPECT_EQ(static_cast<const char *>(tensor->data.data)[0], 1);
    EXPECT_EQ(static_cast<const char *>(tensor->data.data)[6 * format.bytes - 1], 1);
  }
}

TEST_F(Gguf, GettersNameTheKey) {
  ModelTable table = read(test::sampleGguf());
  auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(message([&] { table.integer("none", 0, 1); }), HasSubstr("the metadata key 'none'"));
  EXPECT_THAT(message([&] { table.integer("u8", 0, 100); }),
              HasSubstr("'u8': required: an integer from 0 to 100; found: 200"));
  EXPECT_THAT(message([&] { table.integer("f32", 0, 100); }), HasSubstr("'f32': required"));
  EXPECT_THAT(message([&] { table.integer("heads", 0, 100); }), HasSubstr("a list of 2"));
  EXPECT_THAT(message([&] { table.integers("heads", 3, 0, 9); }), HasSubstr("3 elements"));
  EXPECT_THAT(message([&] { table.string("u8"); }), HasSubstr("'u8': required: a string"));
  EXPECT_THAT(message([&] { table.real("f64", 1, 2); }), HasSubstr("'f64': required: a number"));
  EXPECT_THAT(message([&] { table.boolean("f64", true); }), HasSubstr("'f64': required: a bool"));
}

TEST_F(Gguf, EveryTruncationIsRefused) {
  std::string whole = test::sampleGguf();
  for (size_t size = 0; size < whole.size(); size += size < 400 ? 1 : 23)
    EXPECT_NE(errorOf(whole.substr(0, size)), "");
}

TEST_F(Gguf, OtherFilesAreNamed) {
  EXPECT_THAT(errorOf("PK\3\4 and more"), HasSubstr("magic number GGUF"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, 0, 1).bytes), HasSubstr("version 2 or 3; found: 1"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, 0, 0x03000000).bytes), HasSubstr("big-endian"));
}

TEST_F(Gguf, CountsAreBounded) {
  EXPECT_THAT(errorOf(GgufBytes().start(uint64_t(1) << 40, 0).bytes), HasSubstr("at most 131072"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, uint64_t(1) << 40).bytes), HasSubstr("at most 65536"));
  GgufBytes name;
  name.start(0, 1).number(uint64_t(1) << 62);
  EXPECT_THAT(errorOf(name.bytes), HasSubstr("a metadata key"));
  for (uint32_t type : {0u, 8u, 12u}) {
    GgufBytes list;
    list.start(0, 1).key("list", 9, type).number(uint64_t(1) << 61);
    EXPECT_THAT(errorOf(list.bytes), HasSubstr("the length of a list"));
    GgufBytes shorter;
    shorter.start(0, 1).key("list", 9, type).number(uint64_t(1) << 29);
    EXPECT_THAT(errorOf(shorter.bytes), HasSubstr("truncated"));
  }
  GgufBytes nested;
  nested.start(0, 1).key("list", 9, uint32_t(9)).number(uint64_t(1));
  EXPECT_THAT(errorOf(nested.bytes), HasSubstr("'list' has the type 9"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, 1).key("k", 13, 0).bytes), HasSubstr("the type 13"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, 1).key("k", 7, uint8_t(2)).bytes), HasSubstr("0 or 1"));
  GgufBytes twice;
  twice.start(0, 2).key("k", 0, uint8_t(2)).key("k", 0, uint8_t(3));
  EXPECT_THAT(errorOf(twice.bytes), HasSubstr("'k' occurs twice"));
}

TEST_F(Gguf, AlignmentIsValidated) {
  for (uint32_t alignment : {0u, 48u, 1u << 21, ~0u})
    EXPECT_THAT(errorOf(GgufBytes().start(0, 1).key("general.alignment", 4, alignment).bytes),
                HasSubstr("a power of two"));
  EXPECT_THAT(errorOf(GgufBytes().start(0, 1).key("general.alignment", "32").bytes),
              HasSubstr("a power of two"));
}

TEST_F(Gguf, TensorRecordsAreValidated) {
  auto one = [&](std::vector<uint64_t> dims, uint32_t type, uint64_t offset, size_t bytes) {
    return errorOf(GgufBytes().start(1, 0).tensor("w", dims, type, offset).pad().data(bytes).bytes);
  };
  EXPECT_THAT(one({1, 1, 1, 1, 1}, 0, 0, 4), HasSubstr("at most 4 dimensions; found: 5"));
  EXPECT_THAT(one({4, 0}, 0, 0, 4), HasSubstr("found: 0 as dimension 1"));
  EXPECT_THAT(one({uint64_t(1) << 32, uint64_t(1) << 32}, 0, 0, 4), HasSubstr("fits in memory"));
  EXPECT_THAT(one({uint64_t(1) << 63}, 0, 0, 4), HasSubstr("fits in memory"));
  EXPECT_THAT(one({33}, 2, 0, 18), HasSubstr("a multiple of 32 elements (Q4_0); found: 33"));
  EXPECT_THAT(one({256}, 16, 0, 66), HasSubstr("found: IQ2_XXS (type 16)"));
  EXPECT_THAT(one({256}, 99, 0, 66), HasSubstr("found: ? (type 99)"));
  EXPECT_THAT(one({4}, 0, 32, 64), HasSubstr("the offset 0; found: 32"));
  EXPECT_THAT(one({4}, 0, 0, 15), HasSubstr("16 bytes at offset 0"));
  GgufBytes twice;
  twice.start(2, 0).tensor("w", {4}, 0, 0).tensor("w", {4}, 0, 32).pad().data(64);
  EXPECT_THAT(errorOf(twice.bytes), HasSubstr("'w' occurs twice"));
}

std::string partBytes(uint16_t number, uint16_t count, const std::string &tensor,
                      int32_t total = 2) {
  GgufBytes file;
  file.start(1, 3).key("split.no", 2, number).key("split.count", 2, count);
  file.key("split.tensors.count", 5, total).tensor(tensor, {4}, 0, 0).pad().data(16);
  return file.bytes;
}

TEST_F(Gguf, PartsOfASplitModelAreJoined) {
  put(partBytes(0, 2, "a"), "m-00001-of-00002.gguf");
  put(partBytes(1, 2, "b"), "m-00002-of-00002.gguf");
  for (std::string name : {"/m-00001-of-00002.gguf", "/m-00002-of-00002.gguf"}) {
    ModelTable table = readGguf(folder + name);
    EXPECT_TRUE(table.findTensor("a") && table.findTensor("b"));
    EXPECT_EQ(table.integer("split.no", 0, 9), 0);
  }
}

TEST_F(Gguf, SplitModelsAreValidated) {
  EXPECT_THAT(errorOf(partBytes(0, 2, "a")), HasSubstr("'-00001-of-00002.gguf'"));
  auto refused = [&](const std::string &first, const std::string &second) -> std::string {
    put(first, "m-00001-of-00002.gguf");
    put(second, "m-00002-of-00002.gguf");
    try {
      readGguf(folder + "/m-00001-of-00002.gguf");
    } catch (const Error &e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refused(partBytes(0, 2, "a"), partBytes(0, 2, "b")), HasSubstr("part 2 of 2"));
  EXPECT_THAT(refused(partBytes(0, 2, "a"), partBytes(1, 2, "a")), HasSubstr("an earlier part"));
  EXPECT_THAT(refused(partBytes(0, 2, "a", 3), partBytes(1, 2, "b")), HasSubstr("3 tensors"));
  std::filesystem::remove(folder + "/m-00002-of-00002.gguf");
  EXPECT_THROW(readGguf(folder + "/m-00001-of-00002.gguf"), Error);
}

TEST(BlockFormats, TableIsInOrder) {
  for (size_t i = 0; i < blockFormats().size(); ++i)
    EXPECT_EQ(size_t(blockFormats()[i].format), i);
  EXPECT_EQ(ggufTypeName(40), "NVFP4");
  EXPECT_EQ(findBlockFormat(40), nullptr);
}

} // namespace
