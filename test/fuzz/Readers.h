//===- Readers.h - the six formats: valid files, and reading them ------------------===//
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
  /// Throws std::exception with a message for what it refuses. `folder` is for files that it must
  /// write.
  std::function<void(const std::string &bytes, const std::string &folder)> read;
  /// A damage that only this format knows, or null: for what a checksum would hide from the others.
  std::function<std::string(const std::string &bytes, Engine &engine)> special;
  size_t count = 2500;
};

/// `source` is the repository (for seeds in test/), `packages` a folder with the onnx package (may
/// be empty). Compiled programs are made in `seeds`, or found there where the compiler is not
/// built. `models` is a folder of quantised models (may be empty). Formats without a seed are left
/// out.
std::vector<Format> makeFormats(const std::string &source, const std::string &packages,
                                const std::string &seeds, const std::string &models,
                                const std::string &folder);

} // namespace dlc::fuzz

#endif // DLC_TEST_FUZZ_READERS_H
