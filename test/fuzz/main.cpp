//===- main.cpp - fuzzes file readers in child processes ------------------------------===//
#include "test/ProcessorTime.h"
#include "test/fuzz/Readers.h"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc::fuzz;

namespace {

constexpr int secondsPerMutant = 20;

/// Progress of the child process, in shared memory.
struct Shared {
  volatile size_t index, seeds, taken, refused;
};

std::string mutantOf(const Format &format, size_t index, uint64_t seed) {
  // The seeds are run unchanged first. A seed that is rejected would make useless mutants.
  if (index < format.seeds.size())
    return format.seeds[index];
  Engine engine(seed * 1000003 + index * 7919 + format.name.size());
  const std::string &original = format.seeds[below(engine, format.seeds.size())];
  if (format.special && below(engine, 2) == 0)
    return format.special(original, engine);
  return format.isText ? mutateText(original, format.seeds, engine)
                       : mutateBytes(original, format.seeds, engine);
}

void write(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

/// Reads mutants, starting with number `first`, until the end or a crash.
[[noreturn]] void child(const Format &format, size_t first, size_t count, uint64_t seed,
                        const std::string &folder, Shared &shared) {
  // Discards the messages of libraries about invalid files.
  if (!std::freopen("/dev/null", "w", stdout) ||
      !std::freopen((folder + "/stderr").c_str(), "w", stderr))
    _exit(3);
  for (size_t i = first; i < count; ++i) {
    shared.index = i;
    dlc::limitProcessorTime(secondsPerMutant);
    try {
      format.read(mutantOf(format, i, seed), folder);
      shared.taken = shared.taken + 1;
      shared.seeds = shared.seeds + (i < format.seeds.size());
    } catch (const std::exception &error) {
      if (*error.what())
        shared.refused = shared.refused + 1;
      else
        _exit(4);
    }
  }
  shared.index = count;
  // _exit skips the destructors of objects that belong to the parent process. The unit tests check
  // for leaks.
  _exit(0);
}

size_t fuzz(const Format &format, size_t count, uint64_t seed, const std::string &folder,
            const std::string &keep) {
  auto *shared = static_cast<Shared *>(
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  size_t failures = 0, first = 0;
  while (first < count && failures < 20) {
    pid_t pid = fork();
    if (pid == 0)
      child(format, first, count, seed, folder, *shared);
    int status = 0;
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
      break;
    ++failures;
    size_t index = shared->index;
    std::string path = keep + "/" + format.name + "-" + std::to_string(index) + "." + format.name;
    write(path, mutantOf(format, index, seed));
    std::string what =
        !WIFSIGNALED(status)
            ? (WEXITSTATUS(status) == 4
                   ? "was refused without a message"
                   : "ended the process with status " + std::to_string(WEXITSTATUS(status)))
        : WTERMSIG(status) == SIGPROF ? "hangs"
                                      : std::string("crashes: ") + strsignal(WTERMSIG(status));
    std::printf("FAIL %s: mutant %zu %s; kept as %s\n", format.name.c_str(), index, what.c_str(),
                path.c_str());
    std::ifstream log(folder + "/stderr");
    std::string line;
    for (int lines = 0; lines < 12 && std::getline(log, line); ++lines)
      std::printf("    %s\n", line.c_str());
    first = index + 1;
  }
  if (shared->seeds == 0) {
    std::printf("FAIL %s: not one of its %zu seeds is taken as it is\n", format.name.c_str(),
                format.seeds.size());
    ++failures;
  }
  std::printf("%-12s %6zu mutants of %zu seeds (%zu taken): %zu refused with a message, %zu taken, "
              "%zu failed\n",
              format.name.c_str(), count, format.seeds.size(), size_t(shared->seeds),
              size_t(shared->refused), size_t(shared->taken), failures);
  std::fflush(stdout);
  munmap(shared, sizeof(Shared));
  return failures;
}

} // namespace

int main(int argc, char **argv) {
  size_t count = 0;
  uint64_t seed = 1;
  std::string only, replay, keep, seeds, models, source = DLC_SOURCE, packages = DLC_VENV;
  for (int i = 1; i < argc; ++i) {
    std::string a = argv[i];
    auto value = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (a == "--count")
      count = std::stoul(value());
    else if (a == "--seed")
      seed = std::stoul(value());
    else if (a == "--format")
      only = value();
    else if (a == "--replay")
      replay = value();
    else if (a == "--keep")
      keep = value();
    else if (a == "--seeds")
      seeds = value();
    else if (a == "--models")
      models = value();
    else {
      std::fprintf(stderr,
                   "usage: fuzz [--count N] [--seed N] [--format "
                   "onnx|dlcx|mlir|npy|safetensors|quantized.onnx] [--replay FILE] [--keep DIR] "
                   "[--seeds DIR] [--models DIR]\n");
      return 2;
    }
  }
  char pattern[] = "/tmp/dlc-fuzz-XXXXXX";
  std::string folder = mkdtemp(pattern);
  if (keep.empty())
    keep = "fuzz-failures";
  std::filesystem::create_directories(keep);
  if (!seeds.empty())
    std::filesystem::create_directories(seeds);
    // Readers must reject absurd sizes instead of allocating them. No small file needs more than 16
    // GiB of address space. Sanitizers reserve more.
#if !defined(__SANITIZE_ADDRESS__)
  rlimit limit{16ull << 30, 16ull << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
  rlimit noCore{0, 0};
  setrlimit(RLIMIT_CORE, &noCore);

  size_t failures = 0, total = 0;
  for (const Format &format : makeFormats(source, packages, seeds, models, folder)) {
    if (!replay.empty()) {
      if (replay.size() < format.name.size() ||
          replay.substr(replay.size() - format.name.size()) != format.name)
        continue;
      std::ifstream file(replay, std::ios::binary);
      std::string bytes((std::istreambuf_iterator<char>(file)), {});
      try {
        format.read(bytes, folder);
        std::printf("taken\n");
      } catch (const std::exception &error) {
        std::printf("refused: %s\n", error.what());
      }
      continue;
    }
    if (!only.empty() && only != format.name)
      continue;
    size_t n = count ? count : format.count;
    total += n;
    failures += fuzz(format, n, seed, folder, keep);
  }
  std::filesystem::remove_all(folder);
  if (replay.empty())
    std::printf("fuzz: %zu mutants, %zu failures\n", total, failures);
  return failures != 0;
}
