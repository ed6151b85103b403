//===- Dump.cpp - writes the table of a model file as text and arrays ----===//
// usage: dlc_model_dump FILE-OR-FOLDER OUTPUT-FOLDER
// Prints the metadata, and writes each tensor, dequantized, as an .npy file of the tensor's name.
#include "runtime/program/arrays/Npy.h"
#include "runtime/program/models/Gguf.h"
#include "runtime/program/models/HuggingFace.h"

#include <cstdio>
#include <exception>
#include <filesystem>

using namespace dlc::runtime;

static void printValue(const MetaValue &value) {
  if (value.isList)
    std::printf("[%llu]", static_cast<unsigned long long>(value.size()));
  for (uint64_t i = 0; i < value.size() && i < 8; ++i)
    if (value.kind == MetaKind::String)
      std::printf(" '%s'", std::string(value.strings[i]).c_str());
    else
      std::printf(" %.17g", value.real(i));
  std::printf("\n");
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  try {
    ModelTable table =
        std::filesystem::is_directory(argv[1]) ? readHuggingFaceFolder(argv[1]) : readGguf(argv[1]);
    for (const auto &[key, value] : table.metadata) {
      std::printf("%s:", key.c_str());
      printValue(value);
    }
    for (const auto &[name, tensor] : table.tensors) {
      std::vector<float> values(size_t(tensor.elements()));
      dequantize(tensor.format, tensor.data.data,
                 values.size() / blockFormatInfo(tensor.format).elements, values.data());
      writeNpy(std::string(argv[2]) + "/" + name + ".npy", dlc::DType::F32, tensor.shape,
               values.data());
    }
  } catch (const std::exception &e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
