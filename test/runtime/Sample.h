//===- Sample.h - small hand-written programs for tests -----------------------===//
#ifndef DLC_TEST_RUNTIME_SAMPLE_H
#define DLC_TEST_RUNTIME_SAMPLE_H

#include "dlc/Error.h"
#include "runtime/program/Program.h"
#include "runtime/session/Session.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <unistd.h>
#include <vector>

namespace dlc::test {

using nlohmann::json;
using runtime::Program;
using runtime::Session;
using runtime::SessionOptions;

inline std::vector<uint8_t> readFile(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  return std::vector<uint8_t>(std::istreambuf_iterator<char>(in), {});
}

inline void writeFile(const std::string &path, const std::vector<uint8_t> &bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char *>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

/// A temporary folder for one test. The destructor removes it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlc-test-XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
  }

private:
  std::filesystem::path path;
};

/// The image of kernels/kernels.c and the offsets of its kernels.
runtime::Span kernelImage();
json kernelTable();
int kernelIndex(const std::string &name);

/// Returns a program without commands that has the image and its kernels.
Program emptyProgram();

json tensor(const std::string &name, const std::string &dtype, std::vector<int64_t> shape);
json buffer(const std::string &space, int index, uint64_t bytes, uint64_t offset = 0);

/// Program y = 2 * x + 1 + c for n elements, with an intermediate value in the arena. The constant
/// c has n elements of 0.5.
Program affineProgram(int64_t n);
/// The same program with bounded dynamic size: the input `n` specifies how many of the n elements
/// are valid.
Program countedProgram(int64_t n);

/// Returns the message of the dlc::Error that `body` throws, or "" if it throws none.
std::string errorOf(const std::function<void()> &body);

/// Runs the session once on arrays given by address.
inline void runOnce(Session &session, std::vector<const void *> inputs,
                    std::vector<void *> outputs) {
  session.run(inputs, outputs);
}

inline std::shared_ptr<const Program> share(Program program) {
  return std::make_shared<const Program>(std::move(program));
}

} // namespace dlc::test

#endif // DLC_TEST_RUNTIME_SAMPLE_H
