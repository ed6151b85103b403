//===- SharesTest.cpp - checkpoints of state that is split over ranks ---------===//
#include "runtime/session/state/Shares.h"
#include "dlc/Error.h"
#include "runtime/session/Session.h"
#include "runtime/session/state/Checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <thread>

using namespace dlc::runtime;
using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

using Floats = std::vector<float>;

/// Returns a program with no commands, a replicated state, and the rank's share of two split states
/// of shapes [2, 3] and [4].
std::shared_ptr<const Program> programOf(int ranks) {
  const int64_t share = (10 + ranks - 1) / ranks;
  Program program;
  program.manifest = {
      {"format", 1},
      {"state",
       {{{"name", "w"}, {"dtype", "f32"}, {"shape", {2}}},
        {{"name", "m.share0"},
         {"dtype", "f32"},
         {"shape", {share}},
         {"shares",
          {{"of", ranks},
           {"parts",
            {{{"name", "m.a"}, {"shape", {2, 3}}}, {{"name", "m.b"}, {"shape", {4}}}}}}}}}}};
  return std::make_shared<const Program>(std::move(program));
}

class Shares : public testing::Test {
protected:
  Shares() {
    fs::remove_all(folder);
    fs::create_directories(folder);
  }
  ~Shares() override { fs::remove_all(folder); }

  /// Runs the body on all ranks, which are threads.
  static void onRanks(int ranks,
                      const std::function<void(World &, Session &, const Plan &)> &body) {
    auto worlds = createLoopbackWorlds(ranks);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        std::unique_ptr<World> world = std::move(worlds[size_t(rank)]);
        SessionOptions options;
        options.world = world.get();
        Session session(programOf(ranks), options);
        body(*world, session, session.plan());
      });
    for (std::thread &thread : threads)
      thread.join();
  }

  /// Saves split state whose element i has the value `first` + i. The padding has a different
  /// value.
  void save(int ranks, float first) {
    onRanks(ranks, [&](World &world, Session &session, const Plan &plan) {
      Floats w{first, -first}, m(plan.states[1].bytes / 4);
      for (size_t i = 0; i < m.size(); ++i) {
        size_t element = size_t(world.rank()) * m.size() + i;
        m[i] = element < 10 ? first + float(element) : -77;
      }
      session.states().set(0, w.data());
      session.states().set(1, m.data());
      saveShared(world, session.states(), plan, path, {{"note", "here"}});
    });
  }

  void expectLoads(int ranks, float first) {
    onRanks(ranks, [&](World &world, Session &session, const Plan &plan) {
      session.states().load(path, false, false);
      Floats w(2), m(plan.states[1].bytes / 4);
      session.states().get(0, w.data());
      session.states().get(1, m.data());
      EXPECT_EQ(w, (Floats{first, -first}));
      for (size_t i = 0; i < m.size(); ++i)
        if (size_t element = size_t(world.rank()) * m.size() + i; element < 10)
          EXPECT_EQ(m[i], first + float(element)) << ranks << " ranks, element " << element;
    });
  }

  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto &entry : fs::directory_iterator(folder))
      names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
  }

  std::string errorOfReading() const {
    try {
      readCheckpoint(path);
    } catch (const dlc::Error &error) {
      return error.what();
    }
    return "";
  }

  const std::string folder =
      (fs::temp_directory_path() / ("dlc-shares-" + std::to_string(getpid()))).string();
  const std::string path = folder + "/run.safetensors";
};

TEST_F(Shares, AreReadByAnyNumberOfRanks) {
  for (int writers : {1, 2, 3, 4}) {
    save(writers, float(100 * writers));
    EXPECT_EQ(files().size(), size_t(writers) + 1);
    for (int readers : {1, 2, 3, 4, 10, 12})
      expectLoads(readers, float(100 * writers));
  }
  Checkpoint checkpoint = readCheckpoint(path);
  EXPECT_EQ(checkpoint.metadata.at("note"), "here");
  EXPECT_EQ(checkpoint.tensors.at("m.a").shape, (std::vector<int64_t>{2, 3}));
  Floats all(6);
  checkpoint.tensors.at("m.a").read(0, 6, all.data());
  EXPECT_EQ(all, (Floats{400, 401, 402, 403, 404, 405}));
}

TEST_F(Shares, LeaveNothingBehind) {
  save(2, 1);
  std::vector<std::string> first = files();
  for (const char *left :
       {"run.safetensors.7-0of2.part", "run.safetensors.3-1of4.part",
        "run.safetensors.9-1of2.part.4711-0.tmp", "run.safetensors.note", "other.7-0of2.part"})
    std::ofstream(folder + "/" + left) << "left";
  save(2, 2);
  // Leftover files of earlier checkpoints are removed, files of other checkpoints remain, and the
  // numbers of checkpoints increase.
  EXPECT_EQ(files(), (std::vector<std::string>{
                         "other.7-0of2.part", "run.safetensors", "run.safetensors.10-0of2.part",
                         "run.safetensors.10-1of2.part", "run.safetensors.note"}));
  expectLoads(2, 2);
}

TEST_F(Shares, WithoutTheFirstFileAreNobodys) {
  save(2, 1);
  fs::copy_file(path, folder + "/kept");
  // The first file of a second checkpoint was not written, so the previous checkpoint remains
  // valid.
  onRanks(2, [&](World &world, Session &session, const Plan &) {
    session.states().savePart(path + ".1-" + std::to_string(world.rank()) + "of2.part");
  });
  expectLoads(2, 1);
  save(2, 3);
  EXPECT_EQ(files().size(), 4u);
  expectLoads(3, 3);
}

TEST_F(Shares, ThatAreMissingOrAnothersAreTold) {
  save(2, 1);
  const std::string part = path + ".0-1of2.part", other = path + ".0-0of2.part";
  fs::rename(part, folder + "/kept");
  EXPECT_THAT(errorOfReading(), HasSubstr("run.safetensors.0-1of2.part"));
  fs::copy_file(other, part);
  EXPECT_THAT(errorOfReading(), HasSubstr("its parts do not contain all of 'm."));
  fs::remove(part);
  std::ofstream(part) << "no such file";
  EXPECT_THAT(errorOfReading(), HasSubstr("not a usable .safetensors file"));
}

TEST_F(Shares, AreNotAll) {
  onRanks(2, [&](World &, Session &session, const Plan &) {
    auto refused = [](const std::function<void()> &saving) {
      try {
        saving();
      } catch (const dlc::Error &error) {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_THAT(refused([&] { session.states().save(path); }),
                HasSubstr("'m.share0' is split over 2 ranks"));
    EXPECT_THAT(refused([&] { session.states().started(); }),
                HasSubstr("'m.share0' is split over 2 ranks"));
  });
}

TEST_F(Shares, MustHaveRoom) {
  auto refused = [](const json &shares) {
    Program program;
    program.manifest = {
        {"format", 1},
        {"state", {{{"name", "m"}, {"dtype", "f32"}, {"shape", {4}}, {"shares", shares}}}}};
    try {
      Session session(std::make_shared<const Program>(std::move(program)));
    } catch (const dlc::Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  json nine = {{{"name", "a"}, {"shape", {3, 3}}}};
  EXPECT_THAT(refused({{"of", 2}, {"parts", nine}}), HasSubstr("is too small for 9 elements"));
  EXPECT_THAT(refused({{"of", 0}, {"parts", json::array()}}), HasSubstr("state[0].shares"));
  json huge = {{{"name", "a"}, {"shape", {uint64_t(1) << 40, uint64_t(1) << 40}}}};
  EXPECT_THAT(refused({{"of", 2}, {"parts", huge}}), HasSubstr("too large"));
}

} // namespace
