//===- TuningDatabaseTest.cpp - the file of measurements --------------------===//
#include "codegen/select/TuningDatabase.h"

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
  auto back = fromLine(toLine(entry));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->key, entry.key);
  EXPECT_EQ(back->candidates, entry.candidates);
  EXPECT_EQ(back->certain, entry.certain);
  EXPECT_EQ(toLine(*back), toLine(entry));
  EXPECT_FALSE(fromLine(toLine(entry).substr(0, 90)));
  EXPECT_FALSE(fromLine("{}"));
}

TEST(TuningDatabase, TheChoiceAmongEqualsIsTheModels) {
  TuningEntry entry = entryOf("conv");
  EXPECT_EQ(entry.choice()->implementation, "onednn:jit");
  // Perhaps behind, perhaps not: as good as equal.
  entry.candidates[1].behind = 1.05;
  EXPECT_EQ(entry.choice()->implementation, "onednn:jit");
  entry.candidates[1].behindLow = 1.03;
  EXPECT_EQ(entry.choice()->implementation, "contract");
}

TEST(TuningDatabase, WhatTwoContestsSayDifferentlyIsUncertain) {
  TuningEntry first = entryOf("conv"), second = entryOf("conv");
  auto stand = [](TunedCandidate &c, double behind, double low, double high) {
    c.behind = behind;
    c.behindLow = low;
    c.behindHigh = high;
  };
  stand(first.candidates[1], 1.10, 1.08, 1.12);
  EXPECT_EQ(combined(first, first).choice()->implementation, "contract");
  EXPECT_TRUE(combined(first, first).certain);
  // The other way round the second time: nobody leads, and the model's choice stands.
  stand(second.candidates[0], 1.06, 1.04, 1.08);
  stand(second.candidates[1], 1, 1, 1);
  TuningEntry both = combined(first, second);
  EXPECT_EQ(both.choice()->implementation, "onednn:jit");
  EXPECT_EQ(both.choice()->runs, 20);
  EXPECT_EQ(both.candidates[0].behind, 1);
  EXPECT_NEAR(both.candidates[1].behind, std::sqrt(1.10 / 1.06), 1e-9);
  // One that was wrong the second time is out.
  second.candidates[0].rejected = "wrong";
  EXPECT_EQ(combined(first, second).candidates.back().rejected.empty(), false);
}

TEST(TuningDatabase, WhatIsPutIsInTheFileAtOnce) {
  Folder folder;
  TuningDatabase database = opened(folder.file("a"));
  put(database, entryOf("conv"));
  EXPECT_TRUE(opened(folder.file("a")).find(entryOf("conv").key));
  // Measured again: the later figures count.
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
    database.tidy(warning);
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
  // The next one starts a line of its own.
  put(after, entryOf("z"));
  EXPECT_TRUE(opened(folder.file("a"), &told).find(entryOf("z").key));
  std::string warning;
  after.tidy(warning);
  EXPECT_EQ(opened(folder.file("a")).all().size(), 2u);
}

TEST(TuningDatabase, AFileOfSomethingElseIsNotTouched) {
  Folder folder;
  std::ofstream(folder.file("a")) << "my only copy\n";
  std::string told, warning;
  TuningDatabase database = opened(folder.file("a"), &told);
  EXPECT_NE(told.find("no tuning database"), std::string::npos);
  database.put(entryOf("x"), warning);
  database.tidy(warning);
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
  pinned.tidy(warning);
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
          database.tidy(warning);
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
          database.tidy(warning);
      }
    }
    close(pipes[1]);
    // Killed anywhere after some were done.
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
