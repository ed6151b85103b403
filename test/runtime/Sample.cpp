//===- Sample.cpp - small hand-written programs for tests ---------------------===//
#include "Sample.h"

#include <sstream>

namespace dlc::test {

runtime::Span kernelImage() {
  std::vector<uint8_t> bytes = readFile(DLC_KERNEL_IMAGE);
  if (bytes.empty())
    throw Error("no kernel image at " DLC_KERNEL_IMAGE);
  return runtime::copyToOwnedSpan(bytes.data(), bytes.size());
}

json kernelTable() {
  // Parses the output of `nm`: address, type, name.
  std::ifstream in(DLC_KERNEL_SYMBOLS);
  json table = json::array();
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string address, type, name;
    words >> address >> type >> name;
    if (type == "T" || type == "t")
      table.push_back({{"name", name}, {"offset", std::stoull(address, nullptr, 16)}});
  }
  return table;
}

int kernelIndex(const std::string &name) {
  json table = kernelTable();
  for (size_t i = 0; i < table.size(); ++i)
    if (table[i]["name"] == name)
      return static_cast<int>(i);
  throw Error("no kernel '" + name + "'");
}

Program emptyProgram() {
  Program program;
  program.manifest = {{"format", 1},
                      {"name", "sample"},
                      {"producer", "test"},
                      {"target", {{"features", {"sse2"}}, {"threads", 2}}},
                      {"arena", {{"cpu", 0}}},
                      {"inputs", json::array()},
                      {"outputs", json::array()},
                      {"constants", json::array()},
                      {"kernels", kernelTable()},
                      {"buffers", json::array()},
                      {"commands", json::array()}};
  program.code = kernelImage();
  return program;
}

json tensor(const std::string &name, const std::string &dtype, std::vector<int64_t> shape) {
  return {{"name", name}, {"dtype", dtype}, {"shape", std::move(shape)}};
}

json buffer(const std::string &space, int index, uint64_t bytes, uint64_t offset) {
  return {{"space", space}, {"index", index}, {"offset", offset}, {"bytes", bytes}};
}

Program affineProgram(int64_t n) {
  Program program = emptyProgram();
  uint64_t bytes = static_cast<uint64_t>(n) * 4;
  json &m = program.manifest;
  m["arena"]["cpu"] = bytes;
  m["inputs"] = {tensor("x", "f32", {n})};
  m["outputs"] = {tensor("y", "f32", {n})};
  m["constants"] = {{{"bytes", bytes}, {"name", "c"}}};
  std::vector<float> half(static_cast<size_t>(n), 0.5f);
  program.constants = {runtime::copyToOwnedSpan(half.data(), bytes)};
  m["buffers"] = {buffer("input", 0, bytes), buffer("arena", 0, bytes),
                  buffer("constant", 0, bytes), buffer("output", 0, bytes)};
  m["commands"] = {{{"op", "launch"},
                    {"name", "affine"},
                    {"loc", "model.py:3"},
                    {"kernel", kernelIndex("affine")},
                    {"buffers", {0, 1}},
                    {"extent", n},
                    {"grain", 64},
                    {"flops", 2.0 * double(n)},
                    {"bytes", 8.0 * double(n)}},
                   {{"op", "launch"},
                    {"name", "add"},
                    {"kernel", kernelIndex("add")},
                    {"buffers", {1, 2, 3}},
                    {"extent", n},
                    {"grain", 64}}};
  program.ir = "// the program as text\n";
  return program;
}

Program countedProgram(int64_t n) {
  Program program = affineProgram(n);
  json &m = program.manifest;
  m["inputs"].push_back(tensor("n", "i64", {}));
  m["outputs"].push_back(tensor("y.size", "i64", {}));
  m["outputs"][0]["counted"] = {{"dimension", 0}, {"by", 1}};
  m["buffers"].push_back(buffer("input", 1, 8));
  m["buffers"].push_back(buffer("output", 1, 8));
  m["commands"].push_back({{"op", "copy"}, {"from", 4}, {"to", 5}, {"bytes", 8}});
  return program;
}

std::string errorOf(const std::function<void()> &body) {
  try {
    body();
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

} // namespace dlc::test
