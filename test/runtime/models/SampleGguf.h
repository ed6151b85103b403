//===- SampleGguf.h - writes small GGUF files for tests ------------------===//
#ifndef DLC_TEST_RUNTIME_MODELS_SAMPLEGGUF_H
#define DLC_TEST_RUNTIME_MODELS_SAMPLEGGUF_H

#include "runtime/program/models/BlockFormat.h"

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace dlc::test {

/// Bytes of a GGUF file, written member by member. Nothing is validated, so that tests can write
/// invalid files.
class GgufBytes {
public:
  template <typename T> GgufBytes &number(T value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
    return *this;
  }
  GgufBytes &text(const std::string &value) {
    number(uint64_t(value.size()));
    bytes += value;
    return *this;
  }
  GgufBytes &start(uint64_t tensors, uint64_t keys, uint32_t version = 3) {
    bytes += "GGUF";
    return number(version).number(tensors).number(keys);
  }
  template <typename T> GgufBytes &key(const std::string &name, uint32_t type, T value) {
    return text(name).number(type).number(value);
  }
  GgufBytes &key(const std::string &name, const std::string &value) {
    return text(name).number(uint32_t(8)).text(value);
  }
  /// Adds the record of a tensor. `dims` has the contiguous dimension first.
  GgufBytes &tensor(const std::string &name, const std::vector<uint64_t> &dims, uint32_t type,
                    uint64_t offset) {
    text(name).number(uint32_t(dims.size()));
    for (uint64_t d : dims)
      number(d);
    return number(type).number(offset);
  }
  GgufBytes &pad(size_t alignment = 32) {
    bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
    return *this;
  }
  GgufBytes &data(size_t count) {
    bytes.append(count, '\1');
    return *this;
  }

  std::string bytes;
};

/// Returns a valid file with metadata of each type and a tensor of each format.
inline std::string sampleGguf(uint32_t version = 3) {
  auto formats = runtime::blockFormats();
  GgufBytes file;
  file.start(formats.size(), 15, version);
  file.key("general.architecture", "llama").key("general.alignment", 4, uint32_t(64));
  file.key("u8", 0, uint8_t(200)).key("i8", 1, int8_t(-3)).key("u16", 2, uint16_t(65535));
  file.key("i16", 3, int16_t(-300)).key("i32", 5, int32_t(-70000)).key("f32", 6, 1.5f);
  file.key("bool", 7, uint8_t(1)).key("u64", 10, uint64_t(1) << 40).key("i64", 11, int64_t(-1));
  file.key("f64", 12, 0.25);
  file.key("tokens", 9, uint32_t(8)).number(uint64_t(3)).text("a").text("").text("\xc3\xbc");
  file.key("scores", 9, uint32_t(6)).number(uint64_t(2)).number(0.5f).number(-1.0f);
  file.key("heads", 9, uint32_t(5)).number(uint64_t(2)).number(int32_t(4)).number(int32_t(2));
  uint64_t offset = 0;
  for (const runtime::BlockFormatInfo &format : formats) {
    file.tensor(std::string("tensor.") + format.name, {2 * format.elements, 3}, format.ggufType,
                offset);
    offset = (offset + 6 * format.bytes + 63) / 64 * 64;
  }
  for (const runtime::BlockFormatInfo &format : formats)
    file.pad(64).data(6 * format.bytes);
  return file.bytes;
}

/// Returns a complete decoder of the family llama: one layer, 4 tokens, embeddings of 8 elements.
inline std::string sampleDecoder() {
  struct Matrix {
    const char *name;
    std::vector<uint64_t> dims;
  };
  const Matrix matrices[] = {
      {"token_embd.weight", {8, 4}},        {"output_norm.weight", {8}},
      {"blk.0.attn_norm.weight", {8}},      {"blk.0.attn_q.weight", {8, 8}},
      {"blk.0.attn_k.weight", {8, 4}},      {"blk.0.attn_v.weight", {8, 4}},
      {"blk.0.attn_output.weight", {8, 8}}, {"blk.0.ffn_norm.weight", {8}},
      {"blk.0.ffn_gate.weight", {8, 8}},    {"blk.0.ffn_up.weight", {8, 8}},
      {"blk.0.ffn_down.weight", {8, 8}},
  };
  GgufBytes file;
  file.start(std::size(matrices), 8).key("general.architecture", "llama");
  for (auto [key, value] : std::initializer_list<std::pair<const char *, uint32_t>>{
           {"llama.block_count", 1},
           {"llama.context_length", 16},
           {"llama.embedding_length", 8},
           {"llama.feed_forward_length", 8},
           {"llama.attention.head_count", 2},
           {"llama.attention.head_count_kv", 1}})
    file.key(key, 4, value);
  file.key("llama.attention.layer_norm_rms_epsilon", 6, 1e-5f);
  uint64_t offset = 0;
  for (const Matrix &matrix : matrices) {
    file.tensor(matrix.name, matrix.dims, 0, offset);
    uint64_t bytes = 4 * matrix.dims[0] * (matrix.dims.size() == 2 ? matrix.dims[1] : 1);
    offset += (bytes + 31) / 32 * 32;
  }
  file.pad().data(offset);
  return file.bytes;
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_MODELS_SAMPLEGGUF_H
