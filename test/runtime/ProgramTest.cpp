//===- ProgramTest.cpp - program files: written, read, damaged ----------------===//
#include "Sample.h"

#include "runtime/program/Checker.h"
#include "runtime/program/Format.h"
#include "runtime/program/Reader.h"
#include "runtime/program/Writer.h"

#include <random>

using namespace dlc;
using namespace dlc::test;
using runtime::checkProgram;
using runtime::readProgram;
using runtime::writeProgram;

namespace {

std::vector<float> runAffine(const Program &program, int64_t n) {
  Session session(share(program));
  std::vector<float> x(n), y(n, -1);
  for (int64_t i = 0; i < n; ++i)
    x[i] = static_cast<float>(i);
  runOnce(session, {x.data()}, {y.data()});
  return y;
}

/// Loads the bytes and checks the program. An error is permitted, a crash is not.
std::string tryBytes(const std::vector<uint8_t> &bytes) {
  return errorOf([&] { checkProgram(readProgram(bytes.data(), bytes.size())); });
}

} // namespace

TEST(Program, RoundTrip) {
  TemporaryFolder folder;
  Program program = affineProgram(1000);
  writeProgram(program, folder / "p.dlcx");
  Program back = readProgram(folder / "p.dlcx");
  EXPECT_EQ(back.ir, program.ir);
  EXPECT_TRUE(back.codeIsExecutable);
  EXPECT_EQ(back.constants.size(), 1u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(back.constants[0].data) % 64, 0u);
  std::vector<float> expected = runAffine(program, 1000), found = runAffine(back, 1000);
  EXPECT_EQ(expected, found);
  EXPECT_EQ(found[10], 21.5f);
  std::vector<uint8_t> bytes = readFile(folder / "p.dlcx");
  EXPECT_EQ(runAffine(readProgram(bytes.data(), bytes.size()), 1000), expected);
}

TEST(Program, RewrittenFileIsTheSame) {
  TemporaryFolder folder;
  writeProgram(affineProgram(100), folder / "a.dlcx");
  writeProgram(readProgram(folder / "a.dlcx"), folder / "b.dlcx");
  EXPECT_EQ(readFile(folder / "a.dlcx"), readFile(folder / "b.dlcx"));
}

TEST(Program, ManyConstantsAreAligned) {
  TemporaryFolder folder;
  Program program = emptyProgram();
  for (int i = 0; i < 9; ++i) {
    std::vector<uint8_t> data(static_cast<size_t>(i * 7), static_cast<uint8_t>(i));
    program.constants.push_back(runtime::copyToOwnedSpan(data.data(), data.size()));
    program.manifest["constants"].push_back({{"bytes", data.size()}});
  }
  writeProgram(program, folder / "p.dlcx");
  Program back = readProgram(folder / "p.dlcx");
  ASSERT_EQ(back.constants.size(), 9u);
  for (int i = 1; i < 9; ++i) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(back.constants[i].data) % 64, 0u);
    EXPECT_EQ(static_cast<const uint8_t *>(back.constants[i].data)[i * 7 - 1], i);
  }
}

TEST(Program, LargeConstantsAreNotHashed) {
  TemporaryFolder folder;
  Program program = emptyProgram();
  std::vector<uint8_t> data(8 << 20, 7);
  program.constants.push_back(runtime::copyToOwnedSpan(data.data(), data.size()));
  program.manifest["constants"].push_back({{"bytes", data.size()}});
  writeProgram(program, folder / "p.dlcx");
  EXPECT_EQ(readProgram(folder / "p.dlcx").constants[0].bytes, data.size());
}

TEST(Program, EveryTruncationIsAnError) {
  TemporaryFolder folder;
  writeProgram(affineProgram(100), folder / "p.dlcx");
  std::vector<uint8_t> whole = readFile(folder / "p.dlcx");
  for (size_t size = 0; size < whole.size(); ++size) {
    std::vector<uint8_t> cut(whole.begin(), whole.begin() + static_cast<long>(size));
    ASSERT_NE(tryBytes(cut), "") << "cut after " << size;
  }
  // Also from a file, which is memory mapped.
  for (size_t size : {0ul, 1ul, 31ul, 100ul, 4095ul, 4096ul, 5000ul, whole.size() - 1}) {
    writeFile(folder / "cut.dlcx", {whole.begin(), whole.begin() + static_cast<long>(size)});
    EXPECT_NE(errorOf([&] { readProgram(folder / "cut.dlcx"); }), "") << "cut after " << size;
  }
}

TEST(Program, EveryFlippedByteIsAnError) {
  TemporaryFolder folder;
  writeProgram(affineProgram(100), folder / "p.dlcx");
  std::vector<uint8_t> bytes = readFile(folder / "p.dlcx");
  for (size_t at = 0; at < bytes.size(); ++at)
    for (uint8_t mask : {0x01, 0x80, 0xff}) {
      bytes[at] ^= mask;
      ASSERT_NE(tryBytes(bytes), "") << "byte " << at << " ^ " << int(mask);
      bytes[at] ^= mask;
    }
  EXPECT_EQ(tryBytes(bytes), "");
}

TEST(Program, AFileOfAnOlderVersionIsAnError) {
  TemporaryFolder folder;
  writeProgram(affineProgram(100), folder / "p.dlcx");
  std::vector<uint8_t> bytes = readFile(folder / "p.dlcx");
  ASSERT_EQ(bytes[8], runtime::format::kVersion);
  --bytes[8];
  EXPECT_NE(tryBytes(bytes).find("has format version 1; this runtime requires version 2"),
            std::string::npos);
}

TEST(Program, RandomBytesAreAnError) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<uint8_t> bytes(random() % 300);
    for (uint8_t &byte : bytes)
      byte = static_cast<uint8_t>(random());
    const char magic[] = "DLCX\r\n\x1a\n\1\0\0\0";
    if (round % 2 && bytes.size() >= 12)
      std::copy(magic, magic + 12, bytes.begin());
    ASSERT_NE(tryBytes(bytes), "");
  }
}

TEST(Program, MissingFileNamesIt) {
  EXPECT_NE(errorOf([] { readProgram("/nonexistent/p.dlcx"); }).find("/nonexistent/p.dlcx"),
            std::string::npos);
  EXPECT_NE(errorOf([] { readProgram("/"); }).find("regular file"), std::string::npos);
}

TEST(Program, WriterLeavesNothingBehind) {
  TemporaryFolder folder;
  EXPECT_NE(errorOf([&] { writeProgram(affineProgram(10), folder / "no/such/p.dlcx"); }), "");
  std::string full = errorOf([] { writeProgram(affineProgram(10), "/dev/full"); });
  EXPECT_NE(full.find("No space left"), std::string::npos) << full;
  Program wrong = affineProgram(10);
  wrong.manifest["commands"][0]["kernel"] = 99;
  EXPECT_NE(errorOf([&] { writeProgram(wrong, folder / "p.dlcx"); }), "");
  EXPECT_EQ(folder.files(), 0u);
}

namespace {

struct Damage {
  const char *pointer;
  json value;
  const char *expected;
};

} // namespace

TEST(Checker, SaysWhereAndWhat) {
  const Damage damages[] = {
      {"/format", 2, "format: found 2"},
      {"/format", nullptr, "format"},
      {"/commands/0/kernel", 77, "commands[0]: kernel 77 does not exist"},
      {"/commands/0/buffers/1", 9, "commands[0].buffers[1]: buffer 9 does not exist"},
      {"/commands/0/grain", 0,
       "grain (the number of work items that a thread takes at a time) must be at least 1"},
      {"/commands/0/extent", -1, "commands[0].extent"},
      {"/commands/1/op", "jump", "unknown command 'jump'"},
      {"/kernels/0/offset", 1 << 20, "outside the code"},
      {"/buffers/1/offset", 1, "exceeds arena"},
      {"/buffers/1/bytes", json(uint64_t(1) << 63), "buffers[1].bytes"},
      {"/buffers/0/index", 3, "input 3 does not exist"},
      {"/buffers/0/space", "attic", "unknown space 'attic'"},
      {"/inputs/0/dtype", "f33", "unknown element type 'f33'"},
      {"/inputs/0/shape", {1 << 30, 1 << 30}, "too large"},
      {"/inputs/0/value", 0, "" /* a constant of the same size: fine */},
      {"/inputs/0/value", 5, "inputs[0].value"},
      {"/constants/0/bytes", 4, "the manifest lists 4 bytes"},
      {"/constants", json::array(), "contains 1 constants"},
      {"/arena/cpu", "lots", "arena.cpu"},
      {"/commands/0", 5, "commands[0]: required: an object"},
      {"/commands", 5, "commands: required: an array"},
      {"/outputs/0/name", 5, "outputs[0].name"},
  };
  for (const Damage &damage : damages) {
    Program program = affineProgram(16);
    program.manifest[json::json_pointer(damage.pointer)] = damage.value;
    std::string error = errorOf([&] { checkProgram(program); });
    if (!*damage.expected)
      EXPECT_EQ(error, "") << damage.pointer;
    else
      EXPECT_NE(error.find(damage.expected), std::string::npos) << damage.pointer << ": " << error;
  }
}

TEST(Checker, SizesThatTheRunFinds) {
  EXPECT_EQ(errorOf([] { checkProgram(countedProgram(16)); }), "");
  EXPECT_EQ(checkProgram(countedProgram(16)).results(), 1u);
  const Damage damages[] = {
      {"/outputs/0/counted/dimension", 1, "outputs[0].counted: 'y' has no dimension 1"},
      {"/outputs/0/counted/by", 2, "output 'y': an output that holds a dynamic size"},
      {"/outputs/0/counted/by", 0, "output 'y': an output that holds a dynamic size"},
      {"/outputs/0/counted/by", -1, "outputs[0].counted.by"},
      {"/outputs/1/shape",
       {1},
       "output 'y.size': an output that holds a dynamic size must be an i64 scalar"},
      {"/outputs/1/dtype", "u64",
       "output 'y.size': an output that holds a dynamic size must be an i64 scalar"},
  };
  for (const Damage &damage : damages) {
    Program program = countedProgram(16);
    program.manifest[json::json_pointer(damage.pointer)] = damage.value;
    std::string error = errorOf([&] { checkProgram(program); });
    EXPECT_NE(error.find(damage.expected), std::string::npos) << damage.pointer << ": " << error;
  }
}

TEST(Checker, CommandsThatWriteMayNotWriteInputs) {
  for (int target : {0, 2}) {
    Program program = affineProgram(16);
    program.manifest["commands"].push_back({{"op", "fill"}, {"to", target}, {"byte", 0}});
    EXPECT_NE(errorOf([&] { checkProgram(program); }).find("is written"), std::string::npos);
  }
}

TEST(Checker, LoopsMustEndAndNestingIsBounded) {
  Program program = affineProgram(16);
  program.manifest["commands"] = {{{"op", "loop"}, {"body", json::array()}}};
  EXPECT_NE(errorOf([&] { checkProgram(program); }).find("never end"), std::string::npos);
  json nested = json::array();
  for (int i = 0; i < 5000; ++i)
    nested = json::array({{{"op", "loop"}, {"max", 1}, {"body", std::move(nested)}}});
  program.manifest["commands"] = std::move(nested);
  EXPECT_NE(errorOf([&] { checkProgram(program); }).find("nested"), std::string::npos);
}

/// Replaces every value of the manifest with values of every other kind. Expects an error or a
/// program that passes the check, never a crash.
TEST(Checker, AnyValueAnywhere) {
  const json values[] = {nullptr,
                         -1,
                         0,
                         1,
                         1e300,
                         uint64_t(-1),
                         "x",
                         json::array(),
                         json::object(),
                         true,
                         json::array({1}),
                         int64_t(1) << 45};
  Program program = countedProgram(16);
  json flat = program.manifest.flatten();
  int refused = 0;
  for (auto &[pointer, old] : flat.items())
    for (const json &value : values) {
      Program changed = program;
      changed.manifest[json::json_pointer(pointer)] = value;
      refused += !errorOf([&] { checkProgram(changed); }).empty();
    }
  EXPECT_GT(refused, 100);
}
