//===- ProfileTest.cpp - cost-model profiles of machines --------------------===//
#include "codegen/machine/Profiles.h"
#include "codegen/machine/Work.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

using namespace dlc;

namespace {

Profile sample() {
  Profile profile = getBuiltinProfiles().front();
  profile.name = "measured";
  profile.samples = {{"fast", "matmul f32", {0, 5, 5, 5}, -0.5},
                     {"slow", "matmul f32", {0, 5, 5, 5}, 1}};
  for (const CostSample &each : profile.samples)
    profile.corrections.add(each);
  return profile;
}

cpu::Target target(const char *cpu, const char *features, int64_t bits) {
  return {.cpu = cpu, .features = features, .vectorBits = bits};
}

} // namespace

TEST(Profile, IsReadAsItWasWritten) {
  Profile profile = sample();
  std::string error;
  auto again = parseProfile(formatProfile(profile), error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(formatProfile(*again), formatProfile(profile));
  EXPECT_EQ(again->samples, profile.samples);
  for (const CostParameter &figure : getCostParameters())
    EXPECT_NEAR(again->machine.*figure.field, profile.machine.*figure.field,
                1e-3 * profile.machine.*figure.field)
        << figure.name.str();
}

TEST(Profile, DamageIsNamed) {
  std::string text = formatProfile(sample()), error;
  auto refused = [&](const std::string &from, const std::string &to) {
    std::string damaged = text;
    size_t at = damaged.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    damaged.replace(at, from.size(), to);
    EXPECT_FALSE(parseProfile(damaged, error)) << to;
    return error;
  };
  EXPECT_NE(refused("\"wake\"", "\"awake\"").find("wake"), std::string::npos);
  EXPECT_NE(refused("profile\": 1", "profile\": 7").find("version"), std::string::npos);
  EXPECT_NE(refused("\"wake\": 1.5", "\"wake\": -1").find("wake"), std::string::npos);
  EXPECT_FALSE(parseProfile("[]", error));
  EXPECT_FALSE(parseProfile(text.substr(0, text.size() / 2), error));
}

TEST(Profile, WhatShipsStandsForItsProcessor) {
  const Profile *zen = findExactProfile(target("znver5", "+avx512f", 512));
  ASSERT_TRUE(zen);
  EXPECT_EQ(zen->name, "zen5");
  const Profile *tiles = findExactProfile(target("sapphirerapids", "+avx512f,+amx-tile", 512));
  ASSERT_TRUE(tiles);
  EXPECT_TRUE(tiles->tiles);
  EXPECT_FALSE(findExactProfile(target("znver5", "+avx2", 256)));
  const Profile *short256 = findExactProfile(target("znver3", "+avx2,+fma", 256));
  ASSERT_TRUE(short256);
  EXPECT_EQ(short256->name, "zen3");
  EXPECT_EQ(findNearestProfile(target("alderlake", "+avx2,+fma", 256)).name, "zen3");
  EXPECT_FALSE(findExactProfile(target("a processor of tomorrow", "+avx512f", 512)));
  EXPECT_TRUE(findNearestProfile(target("tomorrow", "+amx-tile", 512)).tiles);
  EXPECT_FALSE(findNearestProfile(target("tomorrow", "+avx512f", 512)).tiles);
}

TEST(Profile, RatesOfMultiplicationsFollowTheVectors) {
  const Profile &profile = *findExactProfile(target("znver5", "+avx512f", 512));
  Machine same = scaleToVectorWidth(profile, 512), half = scaleToVectorWidth(profile, 256);
  EXPECT_EQ(same.vectorsGflops, profile.machine.vectorsGflops);
  EXPECT_EQ(half.vectorsGflops, profile.machine.vectorsGflops / 2);
  EXPECT_EQ(half.memoryGigabytes, profile.machine.memoryGigabytes);
}

TEST(Profile, WhatIsAskedForCounts) {
  auto folder = std::filesystem::path(testing::TempDir()) / "profiles";
  std::filesystem::create_directories(folder);
  cpu::Target zen = target("znver5", "+avx512f", 512),
              unknown = target("tomorrow", "+avx512f", 512);
  EXPECT_EQ(chooseProfile({"", ""}, zen).name, "zen5");
  EXPECT_EQ(chooseProfile({"sapphirerapids", ""}, zen).name, "sapphirerapids");
  ProfileChoice any{"", folder.string()};
  std::filesystem::remove(getMeasuredProfilePath(any.cacheDir));
  clearProfileCache();
  EXPECT_TRUE(any.isMissing(unknown));
  EXPECT_FALSE(any.isMissing(zen));
  EXPECT_FALSE((ProfileChoice{"", ""}.isMissing(unknown)));
  std::ofstream(getMeasuredProfilePath(any.cacheDir)) << formatProfile(sample());
  clearProfileCache();
  EXPECT_FALSE(any.isMissing(unknown));
  EXPECT_EQ(chooseProfile(any, unknown).name, "measured");
  EXPECT_EQ(chooseProfile({"measured", any.cacheDir}, zen).name, "measured");
  EXPECT_EQ(ProfileChoice{"zen5"}.problem(), "");
  EXPECT_NE(ProfileChoice{"nobody's"}.problem().find("zen5"), std::string::npos);
}

TEST(CostCorrections, HoldNearWhereTheyWereMeasured) {
  CostCorrections corrections;
  EXPECT_EQ(corrections.factor("fast", {"matmul f32", {0, 5, 5, 5}}), 1);
  for (const CostSample &each : sample().samples)
    corrections.add(each);
  WorkFeatures here{"matmul f32", {0, 5, 5, 5}}, far{"matmul f32", {0, 15, 15, 15}};
  double fast = corrections.factor("fast", here), slow = corrections.factor("slow", here),
         unseen = corrections.factor("unseen", here);
  EXPECT_LT(fast, 0.8);
  EXPECT_GT(slow, 1.8);
  EXPECT_GT(unseen, fast);
  EXPECT_LT(unseen, slow);
  // For distant sizes the corrections have less weight but keep their order.
  EXPECT_LT(corrections.factor("slow", far), slow);
  EXPECT_GT(corrections.factor("slow", far), corrections.factor("fast", far));
  EXPECT_EQ(corrections.factor("fast", {"conv f32", {0, 5, 5, 5}}), 1);
}
