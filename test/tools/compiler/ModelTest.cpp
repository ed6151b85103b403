//===- ModelTest.cpp - programs for each shape, their maximum number, threads, errors -===//
#include "dlc/compiler.hpp"
#include "dlc/nn_layers.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace {

const std::string dynamicModel = INPUTS "/dynamic.mlir", fixedModel = INPUTS "/model.mlir";

dlc::Tensor ramp(int64_t rows) {
  std::vector<float> values(size_t(rows) * 4);
  std::iota(values.begin(), values.end(), 0.0f);
  return dlc::Tensor::of({rows, 4}, values);
}

std::string messageOf(const std::function<void()> &f) {
  try {
    f();
  } catch (const dlc::Error &error) {
    return error.what();
  }
  return "no error";
}

void expectSoftmax(const dlc::Tensor &y, int64_t rows) {
  ASSERT_EQ(y.shape(), (std::vector<int64_t>{rows, 4}));
  for (int64_t i = 0; i < rows; ++i) {
    const float *row = y.data<float>() + 4 * i;
    EXPECT_NEAR(row[0], 0.0320586f, 1e-6);
    EXPECT_NEAR(row[3], 0.6439142f, 1e-6);
  }
}

TEST(Model, MakesAProgramForEachShape) {
  dlc::Model model = dlc::compile(dynamicModel, {.cacheDir = ""});
  EXPECT_EQ(model.inputs().at(0).shape, (std::vector<int64_t>{-1, 4}));
  EXPECT_EQ(model.programs(), 0u);
  for (int64_t rows : {1, 7, 1, 7, 33}) {
    dlc::Tensor x = ramp(rows);
    expectSoftmax(model.run({{"x", x}})["y"], rows);
  }
  EXPECT_EQ(model.programs(), 3u);
}

TEST(Model, KeepsNoMoreThanItMay) {
  dlc::Model model = dlc::compile(dynamicModel, {.maxPrograms = 2, .cacheDir = ""});
  for (int64_t rows : {1, 2, 3, 4})
    model.run({{"x", ramp(rows)}});
  EXPECT_EQ(model.programs(), 2u);
  // The least recently used program was removed. Programs for the sizes 3 and 4 remain.
  EXPECT_EQ(model.prepare({{"x", {4, 4}}}), 0);
  EXPECT_EQ(model.prepare({{"x", {3, 4}}}), 0);
}

TEST(Model, RunsFromSeveralThreads) {
  dlc::Model model = dlc::compile(dynamicModel, {.threads = 1, .maxPrograms = 3, .cacheDir = ""});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t, model] {
      for (int i = 0; i < 20; ++i) {
        int64_t rows = 1 + (i + t) % 5;
        dlc::Tensor y = model.run({{"x", ramp(rows)}})["y"];
        wrong += y.shape()[0] != rows || std::abs(y.data<float>()[0] - 0.0320586f) > 1e-6;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Model, SavesWhatTheRuntimeLoads) {
  std::string path = std::filesystem::temp_directory_path() /
                     ("dlc-model-test-" + std::to_string(getpid()) + ".dlcx");
  dlc::compile(dynamicModel, {.cacheDir = ""}).save(path, {{"x", {3, 4}}});
  expectSoftmax(dlc::Session::load(path).run({{"x", ramp(3)}})["y"], 3);
  // A compiled program can be loaded as a model of one shape.
  dlc::Model model = dlc::compile(path);
  expectSoftmax(model.run({{"x", ramp(3)}})["y"], 3);
  EXPECT_NE(messageOf([&] {
              model.run({{"x", ramp(4)}});
            }).find("required: f32[3, 4]; found: the shape 4x4"),
            std::string::npos);
  std::filesystem::remove(path);
}

TEST(Model, FindsSizes) {
  dlc::Model model = dlc::compile(INPUTS "/counted.mlir", {.cacheDir = ""});
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_EQ(model.outputs()[0].shape, (std::vector<int64_t>{-1}));
  auto results = model.run({{"x", dlc::Tensor::of<float>({6}, {0, 1, 0, 0, 2, 0})}});
  ASSERT_EQ(results.size(), 1u);
  const dlc::Tensor &large = results.at("large");
  EXPECT_EQ(large.shape(), (std::vector<int64_t>{2}));
  EXPECT_EQ(large.data<float>()[1], 2);
}

/// Builder of a protobuf message from fields.
struct Message {
  std::string bytes;
  static std::string varint(uint64_t value) {
    std::string text;
    for (; value > 127; value >>= 7)
      text += char(value | 128);
    return text + char(value);
  }
  Message &number(int field, int64_t value) {
    bytes += varint(uint64_t(field) << 3) + varint(uint64_t(value));
    return *this;
  }
  Message &text(int field, const std::string &value) {
    bytes += varint(uint64_t(field) << 3 | 2) + varint(value.size()) + value;
    return *this;
  }
};

/// Returns a ValueInfoProto with one dimension.
std::string onnxValue(const std::string &name, int type, int64_t size) {
  std::string shape = Message().text(1, Message().number(1, size).bytes).bytes;
  std::string tensor = Message().number(1, type).text(2, shape).bytes;
  return Message().text(1, name).text(2, Message().text(1, tensor).bytes).bytes;
}

std::string onnxNode(const std::string &op, const std::vector<std::string> &inputs,
                     const std::string &output) {
  Message node;
  for (const std::string &input : inputs)
    node.text(1, input);
  return node.text(2, output).text(4, op).bytes;
}

/// Returns an ONNX model that reshapes x [6] to the first two of the `count` sizes in s.
std::string reshapingModel(int64_t count) {
  constexpr int kFloat = 1, kInt64 = 7;
  std::string indices =
      Message().number(1, 2).number(2, kInt64).number(7, 0).number(7, 1).text(8, "at").bytes;
  std::string graph =
      Message()
          .text(1, onnxNode("Gather", {"s", "at"}, "shape"))
          .text(1, onnxNode("Reshape", {"x", "shape"}, "y"))
          .text(2, "graph")
          .text(5, indices)
          .text(11, onnxValue("x", kFloat, 6))
          .text(11, onnxValue("s", kInt64, count))
          .text(12, Message()
                        .text(1, "y")
                        .text(2, Message().text(1, Message().number(1, kFloat).bytes).bytes)
                        .bytes)
          .bytes;
  return Message().number(1, 8).text(7, graph).text(8, Message().number(2, 13).bytes).bytes;
}

/// Values of inputs that shapes depend on become constants of the program.
TEST(Model, KeepsNoValuesInTheCallersMemory) {
  // More elements than a dense attribute stores inline.
  constexpr int64_t kCount = 4096;
  std::string path = std::filesystem::temp_directory_path() /
                     ("dlc-model-test-" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << reshapingModel(kCount);
  dlc::Model model = dlc::compile(path, {.cacheDir = ""});
  dlc::Tensor x = dlc::Tensor::of<float>({6}, {0, 1, 2, 3, 4, 5});
  std::vector<int64_t> sizes(kCount);
  std::iota(sizes.begin(), sizes.end(), 2);
  auto view = [&] { return dlc::Tensor::view(sizes.data(), dlc::DType::I64, {kCount}); };
  EXPECT_EQ(model.run({{"x", x}, {"s", view()}})["y"].shape(), (std::vector<int64_t>{2, 3}));
  // Overwrites the memory of the first call, and passes the same values in other memory.
  std::vector<int64_t> same = sizes;
  std::fill(sizes.begin(), sizes.end(), -1);
  sizes.swap(same);
  EXPECT_EQ(model.run({{"x", x}, {"s", view()}})["y"].shape(), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(model.programs(), 1u);
  std::filesystem::remove(path);
}

TEST(Model, SaysWhatIsWrong) {
  dlc::Model model = dlc::compile(fixedModel, {.cacheDir = ""});
  auto has = [](const std::string &message, const char *part) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  has(messageOf([&] { model.run({}); }), "input 'x' is missing; required: f32[1, 3]");
  has(messageOf([&] { model.run({{"z", ramp(1)}}); }), "input 'x' is missing");
  has(messageOf([&] {
        model.run({{"x", dlc::Tensor::of({1, 3}, std::vector<double>(3))}});
      }),
      "required: f32; found: f64");
  has(messageOf([&] { model.run({{"x", ramp(1)}}); }), "required: f32[1, 3]; found: the shape 1x4");
  has(messageOf([&] { dlc::compile("nothing.onnx"); }), "nothing.onnx: cannot be opened");
  has(messageOf([&] { dlc::compile(dynamicModel, {.cacheDir = ""}).prepare(); }),
      "required: all sizes; found: ");
  has(messageOf([&] { dlc::compile(fixedModel, {.device = "moon", .cacheDir = ""}).prepare(); }),
      "moon");
}

TEST(Model, TakesATracedProgram) {
  auto graph = dlc::trace::trace([](dlc::trace::Tensor x) { return dlc::trace::softmax(x); },
                                 {{"x", {2, 4}}});
  dlc::Model model = dlc::compile(std::move(graph), {.cacheDir = ""});
  expectSoftmax(model.run({{"x", ramp(2)}})["y"], 2);
  ASSERT_FALSE(model.commands().empty());
  // The location is that of the call above.
  EXPECT_NE(model.commands()[0].location.find("ModelTest.cpp"), std::string::npos)
      << model.commands()[0].location;
}

} // namespace
