//===- Compile.cpp - dlc-emulated-cc, which compiles CUDA source to a host image -===//
#include "runtime/device/cuda/Nvrtc.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

int main(int argc, char **argv) {
  std::string text, output, architecture = "sm_90a";
  std::vector<std::string> options;
  for (int i = 1; i < argc; ++i) {
    std::string argument = argv[i];
    if (argument == "-o" && i + 1 < argc)
      output = argv[++i];
    else if (argument.compare(0, 6, "-arch=") == 0)
      architecture = argument.substr(6);
    else if (argument[0] == '-')
      options.push_back(argument);
    else
      text = argument;
  }
  if (text.empty() || output.empty()) {
    std::fprintf(stderr,
                 "usage: dlc-emulated-cc TEXT.cu -o IMAGE.so [-arch=sm_90a] [-DNAME=VALUE]\n");
    return 2;
  }
  std::filesystem::path here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  setenv("DLC_CUDA_NVRTC", (here.parent_path() / "lib" / "libdlc_emulated_gpu.so").c_str(), 0);
  std::ifstream in(text, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "dlc-emulated-cc: cannot read '%s'\n", text.c_str());
    return 1;
  }
  std::string source{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  dlc::cuda::NvrtcResult result = dlc::cuda::compileCuda(source, text, architecture, options);
  if (!result.error.empty()) {
    std::fprintf(stderr, "%s\n", result.error.c_str());
    return 1;
  }
  std::ofstream(output, std::ios::binary)
      .write(result.cubin.data(), static_cast<std::streamsize>(result.cubin.size()));
  return 0;
}
