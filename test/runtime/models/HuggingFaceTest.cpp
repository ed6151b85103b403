//===- HuggingFaceTest.cpp - valid and invalid model folders -------------===//
#include "runtime/program/models/HuggingFace.h"

#include "dlc/Error.h"
#include "runtime/program/arrays/Safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace dlc;
using namespace dlc::runtime;
using testing::HasSubstr;

namespace {

class HuggingFace : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/dlc-folder-XXXXXX";
    folder = mkdtemp(name);
    put("config.json", R"({"model_type": "llama", "hidden_size": 8, "rms_norm_eps": 1e-5,
      "tie_word_embeddings": true, "eos_token_id": [1, 2], "rope_scaling": {"factor": 4.0},
      "layer_types": ["a", "b"], "mixed": [1, "b"], "none": null, "negative": -2})");
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void put(const std::string &name, const std::string &bytes) const {
    std::ofstream(folder + "/" + name, std::ios::binary) << bytes;
  }
  void weights(const std::string &name, const std::string &tensor, DType dtype = DType::F32) const {
    static const char zeros[64] = {};
    TensorViews views;
    views.tensors[tensor] = {dtype, {2, 2}, zeros, 4 * dtypeBytes(dtype)};
    writeSafetensors(folder + "/" + name, views);
  }
  std::string error() const {
    try {
      readHuggingFaceFolder(folder);
    } catch (const Error &e) {
      EXPECT_THAT(e.what(), HasSubstr(folder));
      return e.what();
    }
    ADD_FAILURE() << "the folder was accepted";
    return "";
  }

  std::string folder;
};

TEST_F(HuggingFace, ConfigurationIsFlattened) {
  weights("model.safetensors", "w", DType::BF16);
  ModelTable table = readHuggingFaceFolder(folder);
  EXPECT_EQ(table.string("model_type"), "llama");
  EXPECT_EQ(table.integer("hidden_size", 0, 9), 8);
  EXPECT_EQ(table.integer("negative", -9, 9), -2);
  EXPECT_DOUBLE_EQ(table.real("rms_norm_eps", 0, 1), 1e-5);
  EXPECT_TRUE(table.boolean("tie_word_embeddings", false));
  EXPECT_EQ(table.real("rope_scaling.factor", 0, 9), 4);
  EXPECT_THAT(*table.integers("eos_token_id", 2, 0, 9), testing::ElementsAre(1, 2));
  EXPECT_THAT(table.find("layer_types")->strings, testing::ElementsAre("a", "b"));
  EXPECT_FALSE(table.find("mixed") || table.find("none"));
  EXPECT_THAT(table.nulls, testing::ElementsAre("none"));
  EXPECT_EQ(table.findTensor("w")->format, BlockFormat::BF16);
}

TEST_F(HuggingFace, GenerationConfigurationHasAPrefix) {
  weights("model.safetensors", "w");
  put("generation_config.json", R"({"eos_token_id": [3, 4], "hidden_size": 9})");
  ModelTable table = readHuggingFaceFolder(folder);
  EXPECT_THAT(*table.integers("generation_config.eos_token_id", 2, 0, 9),
              testing::ElementsAre(3, 4));
  EXPECT_THAT(*table.integers("eos_token_id", 2, 0, 9), testing::ElementsAre(1, 2));
  EXPECT_EQ(table.integer("hidden_size", 0, 9), 8);
  put("generation_config.json", "[]");
  EXPECT_THAT(error(), HasSubstr("generation_config.json: required: a JSON object"));
}

TEST_F(HuggingFace, ShardsAreJoined) {
  weights("model-1.safetensors", "a");
  weights("model-2.safetensors", "b", DType::F16);
  put("model.safetensors.index.json",
      R"({"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}})");
  EXPECT_EQ(readHuggingFaceFolder(folder).tensors.size(), 2u);
  weights("model-2.safetensors", "a");
  EXPECT_THAT(error(), HasSubstr("'a' is also in another file"));
  for (std::string name : {"../model.safetensors", "/tmp/a.safetensors", "model.bin"}) {
    put("model.safetensors.index.json", R"({"weight_map": {"a": ")" + name + R"("}})");
    EXPECT_THAT(error(), HasSubstr("a .safetensors file in the folder; found: '" + name));
  }
  put("model.safetensors.index.json", "{}");
  EXPECT_THAT(error(), HasSubstr("'weight_map'; found none"));
}

TEST_F(HuggingFace, UnsafeFoldersAreRefused) {
  EXPECT_THAT(error(), HasSubstr("model.safetensors; found: none"));
  put("pytorch_model.bin", "pickle");
  EXPECT_THAT(error(), HasSubstr("'pytorch_model.bin', a pickle file"));
  weights("model.safetensors", "w", DType::I64);
  EXPECT_THAT(error(), HasSubstr("'w': required: F32, F16 or BF16"));
  put("config.json", R"({"auto_map": {"AutoModel": "code.Model"}})");
  EXPECT_THAT(error(), HasSubstr("auto_map"));
  put("config.json", R"({"quantization_config": {"bits": 4}})");
  EXPECT_THAT(error(), HasSubstr("quantization_config"));
}

TEST_F(HuggingFace, ConfigurationIsBounded) {
  weights("model.safetensors", "w");
  for (std::string text : {"", "[]", "{", "\"text\"", "{\"a\": 1e999}"}) {
    put("config.json", text);
    EXPECT_THAT(error(), HasSubstr("config.json: required"));
  }
  put("config.json", "{\"a\": " + std::string(100000, '[') + "1" + std::string(100000, ']') + "}");
  EXPECT_THAT(error(), HasSubstr("levels of nesting"));
  put("config.json", "{\"a\": \"" + std::string(1 << 20, 'a') + "\"}");
  EXPECT_THAT(error(), HasSubstr("config.json: required: at most 1048576 bytes; found: 1048585"));
}

} // namespace
