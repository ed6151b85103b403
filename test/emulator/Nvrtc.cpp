//===- Nvrtc.cpp - emulated NVRTC, implemented with the host's compiler -------===//
//
// Emulation of libnvrtc.so, loaded if $DLC_CUDA_NVRTC names this library. The source that a real
// GPU would get is compiled to a shared library for the emulated GPU.
//
//===--------------------------------------------------------------------------===//
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

// The headers are embedded in the library, so that they are those that it was built with.
asm(R"(
.section .rodata
.globl dlc_emulated_headers
.hidden dlc_emulated_headers
dlc_emulated_headers:
.incbin ")" DLC_EMULATOR_FOLDER R"(/Interface.h"
.incbin ")" DLC_EMULATOR_FOLDER R"(/Emulated.h"
.byte 0
.text
)");
extern "C" const char dlc_emulated_headers[];

namespace {

enum Result { Success = 0, InvalidInput = 3, InvalidOption = 5, Compilation = 6 };

struct Program {
  std::string text, name, log, image;
};

constexpr const char *compilerFlags =
    "-std=c++20 -fPIC -shared -fvisibility=hidden -fno-strict-aliasing -ffp-contract=off "
    "-fno-exceptions -fno-rtti -w";

/// Returns the optimization level. Kernels of small tensors take longer to compile than to run, in
/// particular with a sanitizer.
std::string optimization() {
  const char *level = std::getenv("DLC_EMULATED_OPTIMIZE");
  return std::string(" -O") + (level && *level ? level : *DLC_EMULATOR_SANITIZE ? "0" : "1");
}

std::string compiler() {
  const char *named = std::getenv("DLC_EMULATED_CXX");
  std::string name = named && *named ? named : DLC_EMULATOR_CXX;
  // GCC's unique symbols would keep an image in memory after it is closed.
  return name.find("clang") == std::string::npos ? name + " -fno-gnu-unique" : name;
}

/// Rewrites `extern __shared__` arrays, whose size the launch specifies.
std::string withDynamicShared(const std::string &text) {
  static const std::regex pattern(
      R"(extern\s+__shared__\s+((?:__align__\s*\(\s*\d+\s*\)\s*)?)([A-Za-z_][\w: ]*?)\s+(\w+)\s*\[\s*\]\s*;)");
  return std::regex_replace(text, pattern, "$2 *$3 = ($2 *)dlc_emulated::place.dynamicShared;");
}

/// Returns the function names that follow __global__, skipping attributes with arguments in
/// parentheses.
std::vector<std::string> kernelNames(const std::string &text) {
  std::vector<std::string> names;
  for (size_t at = text.find("__global__"); at != std::string::npos;
       at = text.find("__global__", at)) {
    std::string word;
    for (at += std::strlen("__global__"); at < text.size() && text[at] != ';' && text[at] != '{';) {
      char c = text[at];
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
        size_t begin = at;
        while (at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'))
          ++at;
        word = text.substr(begin, at - begin);
        continue;
      }
      if (c == '(') {
        if (word.compare(0, 2, "__") != 0)
          break;
        for (int depth = 0; at < text.size(); ++at) {
          depth += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
          if (depth == 0)
            break;
        }
      }
      ++at;
    }
    if (!word.empty() && at < text.size() && text[at] == '(')
      names.push_back(word);
  }
  return names;
}

/// Returns the source of the image's exported list of kernels.
std::string registration(const std::vector<std::string> &names, const std::string &architecture) {
  std::string text = "\n#line 1 \"kernels of the image\"\nnamespace dlc_emulated {\n"
                     "static constexpr Kernel kernels[] = {\n";
  for (const std::string &name : names)
    text += "  Entry<&::" + name + ">::kernel(\"" + name + "\"),\n";
  text += "};\nextern \"C\" {\n"
          "extern char __start_dlc_shared[] __attribute__((weak, visibility(\"hidden\")));\n"
          "extern char __stop_dlc_shared[] __attribute__((weak, visibility(\"hidden\")));\n"
          "extern __attribute__((visibility(\"default\"))) const Image dlc_emulated_image;\n"
          "const Image dlc_emulated_image = {\"" +
          architecture + "\", &place, &services, kernels, " + std::to_string(names.size()) +
          ", __start_dlc_shared, __stop_dlc_shared};\n}\n}\n";
  return text;
}

std::string readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// Temporary folder of one compilation. The destructor removes it.
struct Folder {
  std::string path;
  Folder() {
    const char *base = std::getenv("TMPDIR");
    path = std::string(base && *base ? base : "/tmp") + "/dlc-emulated-XXXXXX";
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~Folder() {
    if (path.empty())
      return;
    for (const char *file : {"/k.cpp", "/k.so"})
      unlink((path + file).c_str());
    rmdir(path.c_str());
  }
};

int run(const std::string &command, std::string &output) {
  FILE *pipe = popen(command.c_str(), "r");
  if (!pipe)
    return -1;
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof(part), pipe)) > 0;)
    output.append(part, n);
  return pclose(pipe);
}

Result compile(Program &program, const std::string &architecture, const std::string &macros) {
  std::vector<std::string> names = kernelNames(program.text);
  if (names.empty()) {
    program.log = program.name + ": no kernel (extern \"C\" __global__) in the text\n";
    return Compilation;
  }
  Folder folder;
  if (folder.path.empty()) {
    program.log = "the emulator's NVRTC finds no folder for temporary files; see $TMPDIR\n";
    return Compilation;
  }
  std::ofstream(folder.path + "/k.cpp")
      << dlc_emulated_headers << "#line 1 \"" << program.name << "\"\n"
      << withDynamicShared(program.text) << registration(names, architecture);
  // A preloaded sanitizer must not be loaded into the compiler.
  std::string command = "LD_PRELOAD= " + compiler() + " " + compilerFlags + optimization() +
                        macros + " -o '" + folder.path + "/k.so' '" + folder.path + "/k.cpp' 2>&1";
  if (int status = run(command, program.log)) {
    program.log += "emulator: '" + command + "' ended with " + std::to_string(status) + "\n";
    return Compilation;
  }
  program.image = readFile(folder.path + "/k.so");
  for (const std::string &name : names)
    program.log += "ptxas info    : Compiling entry function '" + name + "' for '" + architecture +
                   "'\nptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                   "spill loads\nptxas info    : Used 1 registers\n";
  return Success;
}

uint32_t hashOf(std::string_view text, uint32_t hash = 2166136261u) {
  for (char c : text)
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

} // namespace

#define DLC_NVRTC extern "C" __attribute__((visibility("default"))) int

/// Returns a version that NVIDIA does not use and that depends on compiler, flags and headers, so
/// that image caches with the version in their key never mix images.
DLC_NVRTC nvrtcVersion(int *major, int *minor) {
  *major = 1000;
  *minor =
      static_cast<int>(hashOf(compiler() + compilerFlags + optimization() + DLC_EMULATOR_SANITIZE,
                              hashOf(dlc_emulated_headers)) >>
                       1);
  return Success;
}

DLC_NVRTC nvrtcCreateProgram(Program **program, const char *text, const char *name, int headers,
                             const char *const *, const char *const *) {
  if (headers)
    return InvalidInput;
  *program = new Program{text, name ? name : "default_program", {}, {}};
  return Success;
}

DLC_NVRTC nvrtcDestroyProgram(Program **program) {
  delete *program;
  *program = nullptr;
  return Success;
}

DLC_NVRTC nvrtcCompileProgram(Program *program, int count, const char *const *options) {
  std::string architecture = "sm_75", macros;
  for (int i = 0; i < count; ++i) {
    std::string_view option = options[i];
    for (std::string_view prefix : {"--gpu-architecture=", "-arch="})
      if (option.substr(0, prefix.size()) == prefix)
        architecture = option.substr(prefix.size());
    if (option.substr(0, 2) == "-D")
      macros += " '" + std::string(option) + "'";
  }
  if (architecture.compare(0, 3, "sm_") != 0) {
    program->log = "nvrtc: error: invalid value for --gpu-architecture (-arch)\n";
    return InvalidOption;
  }
  macros += " -D__CUDA_ARCH__=" + std::to_string(std::atoi(architecture.c_str() + 3) * 10);
  if (const char *sanitize = DLC_EMULATOR_SANITIZE; *sanitize)
    macros += " -g1 -fsanitize=" + std::string(sanitize) + " -fno-sanitize-recover=undefined";
  return compile(*program, architecture, macros);
}

DLC_NVRTC nvrtcGetCUBINSize(Program *program, size_t *size) {
  *size = program->image.size();
  return Success;
}

DLC_NVRTC nvrtcGetCUBIN(Program *program, char *to) {
  std::copy(program->image.begin(), program->image.end(), to);
  return Success;
}

DLC_NVRTC nvrtcGetProgramLogSize(Program *program, size_t *size) {
  *size = program->log.size() + 1;
  return Success;
}

DLC_NVRTC nvrtcGetProgramLog(Program *program, char *to) {
  std::memcpy(to, program->log.c_str(), program->log.size() + 1);
  return Success;
}

extern "C" __attribute__((visibility("default"))) const char *nvrtcGetErrorString(int result) {
  switch (result) {
  case Success:
    return "NVRTC_SUCCESS";
  case InvalidInput:
    return "NVRTC_ERROR_INVALID_INPUT";
  case InvalidOption:
    return "NVRTC_ERROR_INVALID_OPTION";
  case Compilation:
    return "NVRTC_ERROR_COMPILATION";
  default:
    return "NVRTC_ERROR_INTERNAL_ERROR";
  }
}
