//===- NodeRun.cpp - runs ONNX test models through the whole compiler ---------------===//
//
//   dlc-onnx-run [--list FILE] [--rtol R] [--atol A] [--seconds S] [--threads N] [--write]
//   [--nchwc-block 8|16] DIRECTORY...
//
// Each directory has model.onnx and test_data_set_0 with input_N.npy and output_N.npy. Prints one
// line for each model: PASS, or FAIL and the reason. Each model runs in its own process, so that a
// crash or a hang is one failure. With --write the elements of the outputs are written to
// found_N.bin, and only their types and shapes are compared.
//
//===----------------------------------------------------------------------------------===//
#include "dlc/compiler.hpp"
#include "runtime/program/Packed.h"
#include "runtime/program/arrays/Npy.h"
#include "test/Isolated.h"

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <unistd.h>

namespace {

struct Options {
  double rtol = 1e-3, atol = 1e-7;
  unsigned seconds = 120;
  int threads = 0, nchwcBlock = 0;
  bool write = false;
};

double halfValue(uint16_t bits) {
  int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  double value = exponent == 31  ? (mantissa ? NAN : INFINITY)
                 : exponent == 0 ? std::ldexp(mantissa, -24)
                                 : std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/// Returns element `i` as a double. 64-bit integers are compared elsewhere, because double does not
/// represent all of them.
double elementOf(dlc::DType type, const void *data, size_t i) {
  auto at = [&](auto value) {
    std::memcpy(&value, static_cast<const char *>(data) + i * sizeof value, sizeof value);
    return value;
  };
  using dlc::DType;
  switch (type) {
  case DType::F32:
    return at(float());
  case DType::F64:
    return at(double());
  case DType::F16:
    return halfValue(at(uint16_t()));
  case DType::BF16: {
    uint32_t bits = uint32_t(at(uint16_t())) << 16;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  default:
    return 0;
  }
}

/// Converts packed 4-bit integers to 8 bits. Returns other tensors unchanged.
dlc::Tensor unpacked(const dlc::Tensor &x) {
  return dlc::isPacked(x.dtype()) ? x.to(dlc::runtime::unpackedType(x.dtype())) : x;
}

/// Reads an array from a file as a tensor of the given type.
dlc::Tensor readArray(const std::string &path, dlc::DType dtype) {
  auto array = std::make_shared<dlc::runtime::NpyArray>(
      dlc::runtime::packArray(dlc::runtime::readNpy(path), dtype, path));
  return dlc::Tensor::view(const_cast<void *>(array->data.data), array->dtype, array->shape, array);
}

std::string compare(const dlc::Tensor &found, const dlc::Tensor &wanted, const Options &options) {
  if (found.dtype() != wanted.dtype() || found.shape() != wanted.shape())
    return "another type or shape";
  if (options.write)
    return "";
  bool isFloat = found.dtype() <= dlc::DType::F64;
  size_t width = dlc::dtypeBytes(found.dtype());
  int64_t wrong = 0, first = -1;
  for (int64_t i = 0; i < found.elements(); ++i) {
    double a = elementOf(found.dtype(), found.raw(), i),
           b = elementOf(found.dtype(), wanted.raw(), i);
    bool same = isFloat ? a == b || (std::isnan(a) && std::isnan(b)) ||
                              std::abs(a - b) <= options.atol + options.rtol * std::abs(b)
                        : !std::memcmp(static_cast<char *>(found.raw()) + i * width,
                                       static_cast<char *>(wanted.raw()) + i * width, width);
    if (!same && wrong++ == 0)
      first = i;
  }
  if (!wrong)
    return "";
  return std::to_string(wrong) + " of " + std::to_string(found.elements()) +
         " elements differ; element " + std::to_string(first) +
         (isFloat
              ? " is " + std::to_string(elementOf(found.dtype(), found.raw(), first)) +
                    " instead of " + std::to_string(elementOf(found.dtype(), wanted.raw(), first))
              : "");
}

std::string runOne(const std::string &directory, const Options &options) {
  try {
    dlc::Model model = dlc::compile(
        directory + "/model.onnx",
        {.threads = options.threads, .nchwcBlock = options.nchwcBlock, .cacheDir = ""});
    std::string data = directory + "/test_data_set_0/";
    std::map<std::string, dlc::Tensor> inputs;
    for (size_t i = 0; i < model.inputs().size(); ++i) {
      const dlc::ModelValue &input = model.inputs()[i];
      inputs[input.name] = readArray(data + "input_" + std::to_string(i) + ".npy",
                                     input.dtype.value_or(dlc::DType::F32));
    }
    std::map<std::string, dlc::Tensor> outputs = model.run(inputs);
    for (size_t i = 0; i < model.outputs().size(); ++i) {
      const dlc::Tensor &found = outputs.at(model.outputs()[i].name);
      if (options.write)
        std::ofstream(data + "found_" + std::to_string(i) + ".bin", std::ios::binary)
            .write(static_cast<const char *>(found.raw()), std::streamsize(found.bytes()));
      dlc::Tensor wanted = readArray(data + "output_" + std::to_string(i) + ".npy", found.dtype());
      std::string difference = compare(unpacked(found), unpacked(wanted), options);
      if (!difference.empty())
        return "output " + std::to_string(i) + ": " + difference;
    }
    return "";
  } catch (const std::exception &error) {
    return *error.what() ? error.what() : "an error without a message";
  }
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  std::vector<std::string> directories;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--list") {
      dlc::readList(value(), directories);
    } else if (argument == "--rtol") {
      options.rtol = std::stod(value());
    } else if (argument == "--atol") {
      options.atol = std::stod(value());
    } else if (argument == "--seconds") {
      options.seconds = unsigned(std::stoul(value()));
    } else if (argument == "--write") {
      options.write = true;
    } else if (argument == "--nchwc-block") {
      options.nchwcBlock = std::stoi(value());
    } else if (argument == "--threads") {
      options.threads = std::stoi(value());
    } else {
      directories.push_back(argument);
    }
  }
  return dlc::runEach(directories, [&](const std::string &directory, const dlc::Say &) {
    alarm(options.seconds);
    return runOne(directory, options);
  });
}
