//===- FilePagesTest.cpp - dropping and reloading pages of mapped files ---===//
#include "ir/tensor/FilePages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace dlc::ref {
namespace {

constexpr size_t kPages = 4096;

/// A mapped file of kPages pages, each filled with one letter.
struct MappedLetters {
  MappedLetters() {
    int file = mkstemp(path.data());
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    for (size_t i = 0; i < kPages; ++i) {
      std::string letters(page, letter(i));
      if (write(file, letters.data(), page) != ssize_t(page))
        abort();
    }
    close(file);
    buffer = registerFilePages(std::move(*llvm::MemoryBuffer::getFile(path, false, false)));
  }
  ~MappedLetters() { unlink(path.c_str()); }

  static char letter(size_t page) { return char('a' + page % 26); }

  /// Reads all elements and checks them.
  bool isWhole() const {
    size_t page = buffer->getBufferSize() / kPages;
    for (size_t i = 0; i < kPages; ++i) {
      auto bytes = buffer->getBuffer().substr(i * page, page);
      if (!std::all_of(bytes.begin(), bytes.end(), [&](char c) { return c == letter(i); }))
        return false;
    }
    return true;
  }

  std::string path = "/tmp/dlc-file-pages-XXXXXX";
  std::shared_ptr<llvm::MemoryBuffer> buffer;
};

/// Returns the number of file pages that the process has in memory.
size_t filePages() {
  std::ifstream status("/proc/self/statm");
  size_t all = 0, resident = 0, files = 0;
  status >> all >> resident >> files;
  return files;
}

TEST(FilePages, LeaveMemoryAndAreReadAgain) {
  MappedLetters letters;
  ASSERT_EQ(letters.buffer->getBufferKind(), llvm::MemoryBuffer::MemoryBuffer_MMap);
  ASSERT_TRUE(letters.isWhole());
  size_t before = filePages();
  // Half of the file, from the middle of a page to the middle of another one.
  const char *start = letters.buffer->getBufferStart();
  dropFilePages(start + 1, letters.buffer->getBufferSize() / 2);
  EXPECT_LT(filePages(), before - kPages / 3);
  EXPECT_TRUE(letters.isWhole());
}

TEST(FilePages, OtherMemoryStays) {
  std::vector<char> numbers(size_t(1) << 20, 7);
  dropFilePages(numbers.data(), numbers.size());
  EXPECT_TRUE(std::all_of(numbers.begin(), numbers.end(), [](char c) { return c == 7; }));
  const char *was = nullptr;
  size_t bytes = 0;
  {
    MappedLetters letters;
    was = letters.buffer->getBufferStart();
    bytes = letters.buffer->getBufferSize();
  }
  dropFilePages(was, bytes); // no longer mapped
  // A range beyond the mapped file is an error of the caller and has no effect.
  MappedLetters letters;
  dropFilePages(letters.buffer->getBufferStart(), letters.buffer->getBufferSize() * 2);
  EXPECT_TRUE(letters.isWhole());
}

} // namespace
} // namespace dlc::ref
