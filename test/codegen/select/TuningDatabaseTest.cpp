//===- TuningDatabaseTest.cpp - database file of tuning measurements --------===//
#include "codegen/select/measure/TuningDatabase.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace dlc;

namespace {

TuningEntry entryOf(const std::string &operation, int runs = 10, const std::string &cpu = "z80") {
  TuningEntry entry;
  entry.key = {operation, {{"threads", "2"}}, {{"cpu", cpu}, {"model", "Z80"}}, {{"dlc", "1"}}};
  entry.name = "/" + operation;
  entry.certain = true;
  TunedCandidate fast{"contract", "contract", 12, 10,   11,    0.01, 1, 1,
                      1,          runs,       0,  3e-7, "f64", 64,   ""};
  TunedCandidate slow{"onednn", "onednn:jit", 9, 10.1, 11.1,  0.01, 1.01, 1,
                      1.02,     runs,         2, 2e-7, "f64", 0,    ""};
  TunedCandidate wrong{"generated", "generated",     80, 0, 0, 0, 1, 1, 1, 0, 0, 0.5, "f64",
                       0,           "wrong: differs"};
  entry.candidates = {fast, slow, wrong};
  return entry;
}

struct Folder {
  Folder() : path(std::filesystem::temp_directory_path() / ("dlc-db-" + std::to_string(getpid()))) {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string file(const char *name) const { return path / name; }
  std::filesystem::path path;
};

std::string textOf(const std::string &path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TuningDatabase opened(const std::string &path, std::string *told = nullptr, bool readOnly = false) {
  std::string warning;
  TuningDatabase database(path, readOnly, warning);
  if (told)
    *told = warning;
  else
    EXPECT_EQ(warning, "");
  return database;
}

void put(TuningDatabase &database, const TuningEntry &entry) {
  std::string warning;
  database.put(entry, warning);
  EXPECT_EQ(warning, "");
}

} // namespace

TEST(TuningDatabase, LinesComeBackAsTheyWere) {
  TuningEntry entry = entryOf("conv");
  auto back = parseEntry(formatEntry(entry));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->key, entry.key);
  EXPECT_EQ(back->candidates, entry.candidates);
  EXPECT_EQ(back->certain, entry.certain);
  EXPECT_EQ(formatEntry(*back), formatEntry(entry));
  EXPECT_FALSE(parseEntry(formatEntry(entry).substr(0, 90)));
  EXPECT_FALSE(parseEntry("{}"));
}

TEST(TuningDatabase, AContestThatGoesOnIsFoundAfterAKill) {
  Folder folder;
  TuningEntry going = entryOf("conv");
  going.unfinished = true;
  going.candidates[0].rounds = {10.5, std::nan(""), 10.25};
  going.candidates[0].sessions = {1, 1.5};
  going.candidates[1].median = going.candidates[1].min = 0; // not measured yet
  std::string warning;
  {
    TuningDatabase database = opened(folder.file("a"));
    database.note(going, warning);
    EXPECT_FALSE(database.find(going.key));
  }
  TuningDatabase after = opened(folder.file("a"));
  EXPECT_FALSE(after.find(going.key));
  ASSERT_TRUE(after.begun(going.key));
  const TunedCandidate &first = after.begun(going.key)->candidates[0];
  ASSERT_EQ(first.rounds.size(), 3u);
  EXPECT_EQ(first.rounds[0], 10.5);
  EXPECT_TRUE(std::isnan(first.rounds[1]));
  EXPECT_EQ(first.sessions, (std::vector<double>{1, 1.5}));
  // Previous measurements remain valid while an entry is measured again.
  put(after, entryOf("conv"));
  EXPECT_FALSE(after.begun(going.key));
  after.note(going, warning);
  after.compact(warning);
  TuningDatabase both = opened(folder.file("a"));
  EXPECT_TRUE(both.find(going.key));
  EXPECT_TRUE(both.begun(going.key));
  put(both, entryOf("conv", 20));
  both.compact(warning);
  EXPECT_FALSE(opened(folder.file("a")).begun(going.key));
  EXPECT_EQ(warning, "");
}

TEST(TuningDatabase, WhatIsPutIsInTheFileAtOnce) {
  Folder folder;
  TuningDatabase database = opened(folder.file("a"));
  put(database, entryOf("conv"));
  EXPECT_TRUE(opened(folder.file("a")).find(entryOf("conv").key));
  // If an entry is measured again, the later measurements are used.
  put(database, entryOf("conv", 77));
  EXPECT_EQ(opened(folder.file("a")).find(entryOf("conv").key)->candidates[0].runs, 77);
  EXPECT_EQ(opened(folder.file("a")).all().size(), 1u);
}

TEST(TuningDatabase, TidyFilesDoNotDependOnTheOrderOfWriting) {
  Folder folder;
  std::string warning;
  for (auto [file, first, second] : {std::tuple{"a", "x", "y"}, std::tuple{"b", "y", "x"}}) {
    TuningDatabase database = opened(folder.file(file));
    put(database, entryOf(first));
    put(database, entryOf(second));
    database.compact(warning);
  }
  EXPECT_EQ(textOf(folder.file("a")), textOf(folder.file("b")));
}

TEST(TuningDatabase, AnotherMachineIsAnotherKey) {
  Folder folder;
  TuningDatabase database = opened(folder.file("a"));
  put(database, entryOf("conv", 10, "z80"));
  TuningKey here = entryOf("conv", 10, "6502").key;
  EXPECT_FALSE(database.find(here));
  ASSERT_TRUE(database.findElsewhere(here));
  EXPECT_EQ(database.findElsewhere(here)->key.machine.at("cpu"), "z80");
  here.settings["threads"] = "1";
  EXPECT_FALSE(database.findElsewhere(here));
}

TEST(TuningDatabase, AKillCostsTheLineThatWasWritten) {
  Folder folder;
  TuningDatabase database = opened(folder.file("a"));
  put(database, entryOf("x"));
  put(database, entryOf("y"));
  std::filesystem::resize_file(folder.file("a"), std::filesystem::file_size(folder.file("a")) - 20);
  std::string told;
  TuningDatabase after = opened(folder.file("a"), &told);
  EXPECT_EQ(after.all().size(), 1u);
  EXPECT_NE(told.find("damaged"), std::string::npos);
  // The next entry starts on a new line.
  put(after, entryOf("z"));
  EXPECT_TRUE(opened(folder.file("a"), &told).find(entryOf("z").key));
  std::string warning;
  after.compact(warning);
  EXPECT_EQ(opened(folder.file("a")).all().size(), 2u);
}

TEST(TuningDatabase, AFileOfSomethingElseIsNotTouched) {
  Folder folder;
  std::ofstream(folder.file("a")) << "my only copy\n";
  std::string told, warning;
  TuningDatabase database = opened(folder.file("a"), &told);
  EXPECT_NE(told.find("not a tuning database"), std::string::npos);
  database.put(entryOf("x"), warning);
  database.compact(warning);
  EXPECT_TRUE(database.find(entryOf("x").key));
  EXPECT_EQ(textOf(folder.file("a")), "my only copy\n");
}

TEST(TuningDatabase, APinnedFileIsOnlyRead) {
  Folder folder;
  TuningDatabase writer = opened(folder.file("a"));
  put(writer, entryOf("x"));
  std::string before = textOf(folder.file("a")), warning;
  TuningDatabase pinned = opened(folder.file("a"), nullptr, /*readOnly=*/true);
  pinned.put(entryOf("y"), warning);
  pinned.compact(warning);
  EXPECT_TRUE(pinned.find(entryOf("y").key));
  EXPECT_EQ(textOf(folder.file("a")), before);
}

TEST(TuningDatabase, ManyWritersLoseNothing) {
  Folder folder;
  constexpr int writers = 4, entries = 40;
  std::vector<pid_t> children;
  for (int writer = 0; writer < writers; ++writer)
    if (pid_t child = fork(); child == 0) {
      std::string warning;
      TuningDatabase database(folder.file("a"), false, warning);
      for (int i = 0; i < entries; ++i) {
        database.put(entryOf(std::to_string(writer) + "/" + std::to_string(i)), warning);
        if (i % 10 == 9)
          database.compact(warning);
      }
      _exit(warning.empty() ? 0 : 1);
    } else {
      children.push_back(child);
    }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(opened(folder.file("a")).all().size(), size_t(writers * entries));
}

TEST(TuningDatabase, KilledWritersLoseOneEntryAtMost) {
  Folder folder;
  for (int round = 0; round < 20; ++round) {
    std::string file = folder.file(("k" + std::to_string(round)).c_str());
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
      std::string warning;
      TuningDatabase database(file, false, warning);
      for (int i = 0;; ++i) {
        database.put(entryOf(std::to_string(i)), warning);
        char done = 1;
        if (write(pipes[1], &done, 1) != 1)
          _exit(1);
        if (i % 7 == 6)
          database.compact(warning);
      }
    }
    close(pipes[1]);
    // The process is killed at an arbitrary time after some entries were written.
    size_t done = 0;
    char each;
    while (done < size_t(3 + round * 2) && read(pipes[0], &each, 1) == 1)
      ++done;
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(pipes[0], &each, 1) == 1)
      ++done;
    close(pipes[0]);
    std::string told;
    TuningDatabase after = opened(file, &told);
    EXPECT_GE(after.all().size(), done) << told;
    put(after, entryOf("after"));
    EXPECT_GE(opened(file, &told).all().size(), done + 1);
  }
}

TEST(TuningDatabase, MergingIsTheSameEitherWay) {
  Folder folder;
  TuningDatabase a = opened(""), b = opened("");
  for (auto [database, mine, runs] : {std::tuple{&a, "x", 10}, std::tuple{&b, "y", 20}}) {
    database->take(entryOf(mine));
    database->take(entryOf("both", runs));
  }
  TuningDatabase ab = a, ba = b;
  for (auto &[identity, entry] : b.all())
    ab.take(entry);
  for (auto &[identity, entry] : a.all())
    ba.take(entry);
  ab.writeTo(folder.file("ab"));
  ba.writeTo(folder.file("ba"));
  EXPECT_EQ(textOf(folder.file("ab")), textOf(folder.file("ba")));
  EXPECT_EQ(ab.all().size(), 3u);
  EXPECT_EQ(ab.find(entryOf("both").key)->candidates[0].runs, 20);
}
