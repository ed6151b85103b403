//===- SafetensorsTest.cpp - valid and invalid .safetensors files ---------===//
#include "frontend/trace/Safetensors.h"
#include "test/frontend/trace/Support.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/resource.h>

using namespace dlc;
using namespace dlc::test;
using nlohmann::json;
using trace::Array;

namespace {

class Safetensors : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/dlc-safetensors-XXXXXX";
    folder = mkdtemp(name);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string path(const std::string &name = "a.safetensors") const { return folder + "/" + name; }
  void put(const std::string &bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  std::string bytes() const {
    std::ifstream in(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Writes a file with this header and the given number of data bytes.
  void putHeader(const std::string &header, size_t data) const {
    std::string text(8, '\0');
    for (int i = 0; i < 8; ++i)
      text[i] = char(uint64_t(header.size()) >> (8 * i));
    put(text + header + std::string(data, '\1'));
  }
  std::string errorFor(const std::string &header, size_t data) const {
    putHeader(header, data);
    std::string text = errorOf([&] { safetensors::read(path()); });
    EXPECT_CONTAINS(text, path());
    return text;
  }
  size_t files() const {
    return size_t(std::distance(std::filesystem::directory_iterator(folder),
                                std::filesystem::directory_iterator()));
  }

  std::string folder;
};

TEST_F(Safetensors, AllTypesComeBack) {
  safetensors::Tensors tensors;
  for (int i = 0; i < kDTypeCount; ++i) {
    DType dtype = static_cast<DType>(i);
    if (isPacked(dtype)) // the format does not have packed types
      continue;
    Array array = Array::of({2, 3}, {0.f, 1.f, 2.f, 100.f, 0.5f, 1.f}).to(dtype);
    tensors["tensor " + std::string(dtypeName(dtype))] = array;
  }
  tensors["scalar"] = Array::of({}, {4.f});
  tensors["empty"] = Array::zeros(DType::F32, {0, 3});
  safetensors::write(path(), tensors, {{"format", "pt"}, {"note", "ü"}});
  safetensors::SafetensorsFile file = safetensors::read(path());
  EXPECT_EQ(file.metadata, (safetensors::Metadata{{"format", "pt"}, {"note", "ü"}}));
  ASSERT_EQ(file.tensors.size(), tensors.size());
  for (const auto &[name, array] : tensors) {
    const Array &found = file.tensors.at(name);
    EXPECT_EQ(found.dtype, array.dtype);
    EXPECT_EQ(found.shape, array.shape);
    EXPECT_EQ(valuesOf(found), valuesOf(array)) << name;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(found.data.get()) % dtypeBytes(array.dtype), 0u);
  }
}

TEST_F(Safetensors, UnalignedTensorsAreRead) {
  putHeader(
      R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U32","shape":[1],"data_offsets":[1,5]}})",
      5);
  Array b = safetensors::read(path()).tensors.at("b");
  EXPECT_EQ(b.at(0), 0x01010101);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b.data.get()) % 4, 0u);
}

TEST_F(Safetensors, TheMappingOutlivesTheFile) {
  safetensors::write(path(), {{"a", Array::of({2}, {1.f, 2.f})}});
  Array a = safetensors::read(path()).tensors.at("a");
  std::filesystem::remove(path());
  EXPECT_EQ(valuesOf(a), (std::vector<double>{1, 2}));
}

TEST_F(Safetensors, WrongHeaders) {
  auto one = [](const std::string &dtype, const std::string &shape, const std::string &offsets) {
    return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  EXPECT_CONTAINS(errorFor("", 0), "JSON");
  EXPECT_CONTAINS(errorFor("[]", 0), "object");
  EXPECT_CONTAINS(errorFor("{\"a\":1}", 0), "object");
  EXPECT_CONTAINS(errorFor("{\"a\":{}}", 0), "'dtype'");
  EXPECT_CONTAINS(errorFor(one("\"F8_E4M3\"", "[1]", "[0,1]"), 1), "F8_E4M3");
  EXPECT_CONTAINS(errorFor(one("7", "[1]", "[0,1]"), 1), "string");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "1", "[0,1]"), 1), "list");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[-1]", "[0,1]"), 1), "0 or more");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[1.5]", "[0,1]"), 1), "0 or more");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[18446744073709551615]", "[0,1]"), 1), "beyond");
  EXPECT_CONTAINS(errorFor(one("\"F64\"", "[4294967296,4294967296]", "[0,0]"), 1), "memory");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[0]"), 4), "two data_offsets");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[4,0]"), 4), "must have 4 bytes");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[0,3]"), 4), "must have 4 bytes");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[1,5]"), 5), "must be adjacent");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[0,4]"), 3), "is truncated");
  EXPECT_CONTAINS(errorFor(one("\"U8\"", "[4]", "[0,4]"), 5), "after the last");
  EXPECT_CONTAINS(errorFor("{\"__metadata__\":{\"a\":1}}", 0), "__metadata__");
  EXPECT_CONTAINS(
      errorFor(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
          1),
      "occurs twice");
  EXPECT_CONTAINS(errorFor("{\"a\":" + std::string(100000, '['), 0), "nesting");
  EXPECT_CONTAINS(errorFor("{\"\xff\xfe\":{}}", 0), "JSON");
}

TEST_F(Safetensors, WrongFiles) {
  EXPECT_CONTAINS(errorOf([&] { safetensors::read(path("none")); }), "cannot open");
  EXPECT_CONTAINS(errorOf([&] { safetensors::read(folder); }), "regular file");
  put("");
  EXPECT_CONTAINS(errorOf([&] { safetensors::read(path()); }), "found 0 bytes");
  put(std::string("\xff\xff\xff\xff\xff\xff\xff\xff", 8) + "{}");
  EXPECT_CONTAINS(errorOf([&] { safetensors::read(path()); }), "must be inside the file");
}

TEST_F(Safetensors, MutatedAndTruncatedFilesEndInAnErrorOrAFile) {
  safetensors::write(path(),
                     {{"a.weight", Array::of({2, 3}, {1.f, 2.f, 3.f, 4.f, 5.f, 6.f})},
                      {"b", Array::of({1}, {7.f})}},
                     {{"format", "pt"}});
  const std::string whole = bytes();
  size_t refused = 0;
  auto tryRead = [&](const std::string &mutant) {
    put(mutant);
    try {
      for (const auto &[name, array] : safetensors::read(path()).tensors)
        for (int64_t i = 0; i < array.size(); ++i)
          (void)array.at(i);
    } catch (const Error &) {
      ++refused;
    }
  };
  for (size_t length = 0; length < whole.size(); ++length)
    tryRead(whole.substr(0, length));
  EXPECT_EQ(refused, whole.size());
  std::mt19937 random(1);
  for (int i = 0; i < 3000; ++i) {
    std::string mutant = whole;
    for (unsigned n = 1 + random() % 4; n--;) {
      size_t at = random() % mutant.size();
      if (random() % 3 == 0)
        mutant.erase(at, 1 + random() % 4);
      else
        mutant[at] = random() % 2 ? char(random()) : "0123456789[]{},:\""[random() % 17];
      if (mutant.empty())
        break;
    }
    tryRead(mutant);
  }
  EXPECT_GT(refused, 2000u);
}

TEST_F(Safetensors, NothingIsLeftWhereWritingFails) {
  put("old");
  // Simulates a full disk: the file cannot grow beyond 1 KiB.
  signal(SIGXFSZ, SIG_IGN);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = {1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string text = errorOf([&] {
    safetensors::write(path(), {{"a", Array::zeros(DType::F32, {10000})}});
  });
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_CONTAINS(text, "cannot write");
  EXPECT_EQ(bytes(), "old");
  EXPECT_EQ(files(), 1u);
  EXPECT_CONTAINS(errorOf([&] { safetensors::write(folder + "/none/a", {}); }), "cannot create");
  EXPECT_CONTAINS(errorOf([&] {
                    safetensors::write(path(), {{"\xff", Array::of({1}, {1.f})}});
                  }),
                  "UTF-8");
  EXPECT_CONTAINS(errorOf([&] {
                    safetensors::write(path(), {{"__metadata__", Array::of({1}, {1.f})}});
                  }),
                  "rename");
}

struct Net : nn::Module {
  Linear hidden = add("hidden", Linear(3, 2));
  BatchNorm1d norm = add("norm", BatchNorm1d(2));
  Tensor forward(Tensor x) override { return norm(hidden(x)); }
};

TEST_F(Safetensors, ModulesComeBack) {
  Net a, b;
  a.seed(5);
  a.save(path());
  b.load(path());
  for (const nn::Parameter &parameter : a.parameters())
    EXPECT_EQ(valuesOf(parameter.value()), valuesOf(b.find(parameter.name()).value()))
        << parameter.name();
  // The mapped file is used by the program without a copy.
  Array x = Array::of({1, 3}, {1.f, 2.f, 3.f});
  expectNear(run([&](trace::Tensor t) { return b(t); }, {x})[0],
             run([&](trace::Tensor t) { return a(t); }, {x})[0]);
}

TEST_F(Safetensors, ModulesAndFilesMustAgree) {
  Net net;
  std::vector<double> before = valuesOf(net.hidden.weight.value());
  auto load = [&](const safetensors::Tensors &tensors, const nn::LoadOptions &options = {}) {
    safetensors::write(path(), tensors);
    net.load(path(), options);
  };
  safetensors::Tensors all;
  for (const nn::Parameter &parameter : net.parameters())
    all[parameter.name()] = parameter.value();
  // Values that only training needs may be missing.
  all.erase("norm.num_batches_tracked");
  load(all);

  safetensors::Tensors wrong = all;
  wrong["hidden.weight"] = Array::zeros(DType::F32, {2, 4});
  EXPECT_CONTAINS(errorOf([&] { load(wrong); }), "[2, 3] of the module's parameter; found [2, 4]");
  wrong = all;
  wrong["hidden.weight"] = Array::zeros(DType::F16, {2, 3});
  EXPECT_CONTAINS(errorOf([&] { load(wrong); }), "element type f32; found f16");
  wrong.erase("hidden.bias");
  wrong.erase("hidden.weight");
  EXPECT_CONTAINS(errorOf([&] { load(wrong); }), "'hidden.weight', 'hidden.bias' not found");
  wrong = all;
  wrong["other"] = Array::zeros(DType::F32, {1});
  EXPECT_CONTAINS(errorOf([&] { load(wrong); }), "no parameter for 'other'");
  EXPECT_EQ(valuesOf(net.hidden.weight.value()), before);

  wrong["hidden.weight"] = Array::zeros(DType::F16, {2, 3});
  wrong.erase("hidden.bias");
  load(wrong, {.allowMissing = true, .allowExtra = true, .convert = true});
  EXPECT_EQ(valuesOf(net.hidden.weight.value()), std::vector<double>(6, 0));
}

} // namespace
