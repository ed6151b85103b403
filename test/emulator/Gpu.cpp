//===- Gpu.cpp - settings of the emulated GPUs and loading of images ----------===//
#include "test/emulator/Gpu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace dlc_emulated {

namespace {

uint64_t bytesOf(const std::string &text) {
  char *end = nullptr;
  uint64_t bytes = std::strtoull(text.c_str(), &end, 10);
  switch (*end) {
  case 'K':
    return bytes << 10;
  case 'M':
    return bytes << 20;
  case 'G':
    return bytes << 30;
  default:
    return bytes;
  }
}

/// Returns the size of a shared library, which ends with its section header table.
uint64_t lengthOf(const Elf64_Ehdr &header) {
  return header.e_shoff + uint64_t{header.e_shnum} * header.e_shentsize;
}

bool writeAll(int file, const char *bytes, uint64_t length) {
  while (length) {
    ssize_t written = write(file, bytes, length);
    if (written <= 0)
      return false;
    bytes += written;
    length -= static_cast<uint64_t>(written);
  }
  return true;
}

} // namespace

Gpu &gpu() {
  // The object is never destroyed, because streams may still hold work when the process ends.
  static Gpu *one = new Gpu();
  return *one;
}

bool Gpu::drop(const std::string &text) {
  Dropped which;
  bool told = std::sscanf(text.c_str(), "%d:%d:%d:%d", &which.device, &which.stream, &which.wait,
                          &which.of) == 4;
  if ((!told && !text.empty()) || which.of < 1)
    return false;
  scheduler.drop(which);
  return true;
}

bool Gpu::configure(const std::string &setting, const std::string &value) {
  int number = std::atoi(value.c_str());
  if (setting == "devices")
    deviceCount = number;
  else if (setting == "memory")
    capacity = bytesOf(value);
  else if (setting == "capability")
    return std::sscanf(value.c_str(), "%d.%d", &major, &minor) == 2;
  else if (setting == "version")
    version = number;
  else if (setting == "nccl")
    ncclVersion = number;
  else if (setting == "init")
    initResult = number;
  else if (setting == "null")
    ignoresWork = number != 0;
  else if (setting == "revive")
    for (auto &device : devices)
      device->lost = 0;
  else if (setting == "seed")
    scheduler.random.seed(std::strtoull(value.c_str(), nullptr, 10));
  else if (setting == "drop")
    return drop(value);
  else if (setting == "order" && value == "late")
    scheduler.order = Order::Late;
  else if (setting == "order" && value == "random")
    scheduler.order = Order::Random;
  else if (setting == "order" && value == "eager")
    scheduler.order = Order::Eager;
  else if (setting == "threads" && value == "forward")
    threads = ThreadOrder::Forward;
  else if (setting == "threads" && value == "reverse")
    threads = ThreadOrder::Reverse;
  else
    return false;
  return true;
}

void Gpu::start() {
  if (started)
    return;
  started = true;
  for (const char *setting :
       {"devices", "memory", "capability", "version", "nccl", "init", "order", "seed", "threads"}) {
    std::string name = "DLC_EMULATED_";
    for (const char *c = setting; *c; ++c)
      name += static_cast<char>(*c - 'a' + 'A');
    const char *value = std::getenv(name.c_str());
    if (value && !configure(setting, value)) {
      std::fprintf(stderr, "emulated GPU: $%s cannot be '%s'\n", name.c_str(), value);
      std::abort();
    }
  }
  for (int i = 0; i < deviceCount; ++i) {
    devices.push_back(std::make_unique<Device>(capacity));
    devices.back()->index = i;
  }
  scheduler.pause = [this] {
    mutex.unlock();
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    mutex.lock();
  };
  scheduler.failed = [this](int device, Result result) {
    if (!devices[device]->lost)
      devices[device]->lost = result;
  };
}

void complain(int device, const std::string &text) {
  std::fprintf(stderr, "emulated cuda:%d: %s\n", device, text.c_str());
}

Module::~Module() {
  if (library)
    dlclose(library);
}

Result openImage(const void *bytes, int major, Module &to, std::string &log) {
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof(header));
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    log = "the image is no ELF file";
    return InvalidImage;
  }
  if (header.e_machine != EM_X86_64) {
    log = "the image is for a real GPU, and this one is emulated: compile with the emulator's "
          "NVRTC ($DLC_CUDA_NVRTC)";
    return NoBinary;
  }
  int file = memfd_create("dlc-emulated-image", MFD_CLOEXEC);
  if (file < 0 || !writeAll(file, static_cast<const char *>(bytes), lengthOf(header))) {
    log = "the image cannot be written to memory";
    return OutOfMemory;
  }
  // dlopen identifies libraries by path. A path that an open image already uses must not be reused.
  std::vector<int> files = {file};
  auto path = [&] { return "/proc/self/fd/" + std::to_string(files.back()); };
  while (void *other = dlopen(path().c_str(), RTLD_LAZY | RTLD_NOLOAD)) {
    dlclose(other);
    files.push_back(dup(file));
  }
  to.library = dlopen(path().c_str(), RTLD_NOW | RTLD_LOCAL);
  const char *why = to.library ? nullptr : dlerror();
  for (int open : files)
    close(open);
  if (!to.library) {
    log = why ? why : "the image does not open";
    return InvalidImage;
  }
  to.image = static_cast<const Image *>(dlsym(to.library, "dlc_emulated_image"));
  if (!to.image) {
    log = "the library is no image of the emulator";
    return InvalidImage;
  }
  // In "sm_90a" the last digit and the letter after it are the minor version.
  if (int made = std::atoi(to.image->architecture + 3) / 10; made != major) {
    log = std::string("the image is for ") + to.image->architecture;
    return NoBinary;
  }
  for (int i = 0; i < to.image->kernelCount; ++i) {
    const Kernel &kernel = to.image->kernels[i];
    auto function = std::make_unique<Function>();
    function->module = &to;
    function->kernel = &kernel;
    to.functions[kernel.name] = std::move(function);
  }
  return Success;
}

} // namespace dlc_emulated
