//===- HuggingFace.cpp - reads model folders of Hugging Face transformers ----===//
#include "runtime/program/models/HuggingFace.h"

#include "runtime/program/MappedFile.h"
#include "runtime/program/Message.h"
#include "runtime/program/Quoted.h"
#include "runtime/program/arrays/Safetensors.h"

#include <nlohmann/json.hpp>

#include <bit>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>

namespace dlc::runtime {

using nlohmann::json;

namespace {

/// Limits beyond which a file is regarded as damaged or hostile.
constexpr size_t maxConfigBytes = 1 << 20, maxIndexBytes = 64 << 20, maxShards = 4096;
constexpr int maxDepth = 8;

/// Reads a JSON object from a file of at most `maxBytes`.
json readJson(const std::string &path, size_t maxBytes) {
  MappedFile file(path);
  if (file.size() > maxBytes)
    fail(path, ": required: at most ", maxBytes, " bytes; found: ", file.size());
  const char *text = reinterpret_cast<const char *>(file.data());
  auto limitDepth = [&](int depth, json::parse_event_t, json &) {
    if (depth > maxDepth)
      fail(path, ": required: at most ", maxDepth, " levels of nesting; found: more");
    return true;
  };
  try {
    json value = json::parse(text, text + file.size(), limitDepth);
    if (!value.is_object())
      fail(path, ": required: a JSON object; found another value");
    return value;
  } catch (const json::exception &e) {
    fail(path, ": required: JSON; ", e.what());
  }
}

/// Numbers and strings that the metadata values of a configuration refer to. Elements of a deque
/// keep their addresses.
struct ConfigValues {
  std::deque<std::string> texts;
  std::deque<std::vector<uint8_t>> numbers;
};

/// Adds a configuration value with its elements. Lists of objects and lists of mixed kinds are
/// skipped, because the importer does not read such keys.
void addValue(ModelTable &table, ConfigValues &memory, const std::string &key,
              const std::vector<const json *> &elements, bool isList) {
  MetaValue value;
  value.isList = isList;
  value.count = elements.size();
  auto all = [&](bool (json::*is)() const noexcept) {
    for (const json *e : elements)
      if (!(e->*is)())
        return false;
    return true;
  };
  if (all(&json::is_string)) {
    value.kind = MetaKind::String;
    for (const json *e : elements)
      value.strings.emplace_back(memory.texts.emplace_back(e->get<std::string>()));
  } else if (all(&json::is_boolean)) {
    value.kind = MetaKind::Bool;
    value.elementBytes = 1;
    auto &bytes = memory.numbers.emplace_back();
    for (const json *e : elements)
      bytes.push_back(e->get<bool>() ? 1 : 0);
    value.numbers = bytes.data();
  } else if (all(&json::is_number)) {
    value.kind = all(&json::is_number_unsigned)  ? MetaKind::Unsigned
                 : all(&json::is_number_integer) ? MetaKind::Integer
                                                 : MetaKind::Real;
    value.elementBytes = 8;
    auto &bytes = memory.numbers.emplace_back(elements.size() * 8);
    for (size_t i = 0; i < elements.size(); ++i) {
      uint64_t bits = value.kind == MetaKind::Real
                          ? std::bit_cast<uint64_t>(elements[i]->get<double>())
                      : value.kind == MetaKind::Integer ? uint64_t(elements[i]->get<int64_t>())
                                                        : elements[i]->get<uint64_t>();
      std::memcpy(bytes.data() + 8 * i, &bits, 8);
    }
    value.numbers = bytes.data();
  } else {
    return;
  }
  table.metadata.emplace(key, std::move(value));
}

/// Adds all members of an object. The key of a member of a nested object is `OUTER.INNER`.
void flatten(ModelTable &table, ConfigValues &memory, const json &object,
             const std::string &prefix) {
  for (const auto &[name, value] : object.items()) {
    std::string key = prefix + name;
    if (value.is_object())
      flatten(table, memory, value, key + ".");
    else if (value.is_array()) {
      std::vector<const json *> elements;
      for (const json &element : value)
        elements.push_back(&element);
      addValue(table, memory, key, elements, true);
    } else if (value.is_null()) {
      table.nulls.insert(key);
    } else {
      addValue(table, memory, key, {&value}, false);
    }
  }
}

/// Returns the names of the `.safetensors` files: those that `model.safetensors.index.json` lists,
/// or else model.safetensors.
std::set<std::string> listShards(const std::string &folder) {
  const std::string index = folder + "/model.safetensors.index.json";
  std::error_code ignored;
  if (!std::filesystem::exists(index, ignored)) {
    if (std::filesystem::exists(folder + "/model.safetensors", ignored))
      return {"model.safetensors"};
    std::string found = "none";
    // A range-based loop would throw std::filesystem::filesystem_error if the folder cannot be
    // read.
    for (auto it = std::filesystem::directory_iterator(folder, ignored);
         it != std::filesystem::directory_iterator(); it.increment(ignored)) {
      std::string extension = it->path().extension().string();
      if (extension == ".bin" || extension == ".pt" || extension == ".pth" || extension == ".pkl")
        found = formatQuoted(it->path().filename().string()) +
                ", a pickle file, which can execute code when it is read";
    }
    fail(folder, ": required: weights in model.safetensors; found: ", found,
         "; save the model with save_pretrained(.., safe_serialization=True)");
  }
  json object = readJson(index, maxIndexBytes);
  auto map = object.find("weight_map");
  if (map == object.end() || !map->is_object())
    fail(index, ": required: an object 'weight_map'; found none");
  std::set<std::string> names;
  for (const auto &[tensor, file] : map->items()) {
    std::string name = file.is_string() ? file.get<std::string>() : "";
    if (!name.ends_with(".safetensors") || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos)
      fail(
          index, ": tensor ", formatQuoted(tensor),
          ": required: the name of a .safetensors file in the folder; found: ", formatQuoted(name));
    names.insert(name);
  }
  if (names.size() > maxShards)
    fail(index, ": required: at most ", maxShards, " files; found: ", names.size());
  return names;
}

void addTensors(ModelTable &table, const std::string &path) {
  for (auto &[name, tensor] : readSafetensors(path).tensors) {
    ModelTensor added;
    switch (tensor.dtype) {
    case DType::F32:
      added.format = BlockFormat::F32;
      break;
    case DType::F16:
      added.format = BlockFormat::F16;
      break;
    case DType::BF16:
      added.format = BlockFormat::BF16;
      break;
    default:
      fail(path, ": tensor ", formatQuoted(name),
           ": required: F32, F16 or BF16; found: ", dtypeName(tensor.dtype),
           "; save the model in one of these types");
    }
    added.shape = tensor.shape;
    added.data = tensor.data;
    if (!table.tensors.emplace(name, std::move(added)).second)
      fail(path, ": tensor ", formatQuoted(name), " is also in another file of the folder");
  }
}

} // namespace

ModelTable readHuggingFaceFolder(const std::string &folder) {
  ModelTable table;
  table.path = folder;
  table.format = ModelFormat::HuggingFace;
  json config = readJson(folder + "/config.json", maxConfigBytes);
  if (config.contains("auto_map"))
    table.fail("config.json names Python code of the model (auto_map), which dlc does not execute; "
               "use a model whose class belongs to transformers");
  if (config.contains("quantization_config"))
    table.fail("config.json has a quantization_config; required: weights in f32, f16 or bf16, or "
               "a GGUF file; convert the model to one of them");
  auto memory = std::make_shared<ConfigValues>();
  flatten(table, *memory, config, "");
  const std::string generation = folder + "/generation_config.json";
  std::error_code ignored;
  if (std::filesystem::exists(generation, ignored))
    flatten(table, *memory, readJson(generation, maxConfigBytes), "generation_config.");
  table.owners.push_back(memory);
  for (const std::string &shard : listShards(folder)) {
    std::string path = folder;
    path.append("/").append(shard);
    addTensors(table, path);
  }
  return table;
}

} // namespace dlc::runtime
