//===- Readers.h - the fuzzed formats: valid files and their readers -----------===//
#ifndef DLC_TEST_FUZZ_READERS_H
#define DLC_TEST_FUZZ_READERS_H

#include "test/fuzz/Mutate.h"

#include <functional>
#include <string>
#include <vector>

namespace dlc::fuzz {

struct Format {
  std::string name;
  std::vector<std::string> seeds;
  bool isText = false;
  /// Reads a file. Throws a std::exception with a message if it rejects the file. The function
  /// writes its own files to `folder`.
  std::function<void(const std::string &bytes, const std::string &folder)> read;
  /// Mutation that is specific to this format, for contents that are protected by a checksum. May
  /// be null.
  std::function<std::string(const std::string &bytes, Engine &engine)> special;
  size_t count = 2500;
};

/// `source` is the repository, whose test/ folder has seeds. `packages` is a folder with the onnx
/// package (may be empty). Compiled programs are written to `seeds`, or read from there if the
/// compiler is not built. `models` is a folder of quantized models (may be empty). Formats without
/// a seed are omitted.
std::vector<Format> makeFormats(const std::string &source, const std::string &packages,
                                const std::string &seeds, const std::string &models,
                                const std::string &folder);

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_READERS_H
