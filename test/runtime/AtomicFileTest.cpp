//===- AtomicFileTest.cpp - atomic file writes and cleanup after killed writers ===//
#include "runtime/program/AtomicFile.h"

#include <gmock/gmock.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc::runtime;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> namesIn(const fs::path &folder) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename());
  return names;
}

} // namespace

TEST(AtomicFile, WhatAKilledWriterLeftIsRemovedByTheNext) {
  fs::path folder = fs::path(testing::TempDir()) / ("atomic" + std::to_string(getpid()));
  fs::create_directories(folder);
  std::string path = folder / "state";
  std::ofstream(path + ".other.tmp") << "not ours";
  pid_t child = fork();
  if (child == 0) {
    AtomicFile file(path);
    file.write("half", 4);
    kill(getpid(), SIGKILL);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(namesIn(folder).size(), 2u);
  {
    // The temporary file of a writer that is still active is not removed.
    AtomicFile first(path), second(path);
    EXPECT_EQ(namesIn(folder).size(), 3u);
    first.write("whole", 5);
    first.commit();
  }
  EXPECT_THAT(namesIn(folder), testing::UnorderedElementsAre("state", "state.other.tmp"));
  fs::remove_all(folder);
}
