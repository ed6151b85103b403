//===- Profiles.cpp - choice of a machine profile -------------------------===//
#include "codegen/machine/Profiles.h"

#include "codegen/machine/Processor.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/xxhash.h"

#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <sstream>

namespace dlc {

namespace {

constexpr const char *kTexts[] = {
#include "codegen/machine/Profiles.inc"
};

/// Revision of the measurement, which is part of the file name of a measured profile. Must be
/// incremented when the speed of kernels or the measured cases change.
constexpr int kMeasurement = 1;

bool hasAmxTiles(const cpu::Target &target) { return target.has(runtime::Feature::AmxTile); }

std::optional<Profile> readProfile(const std::string &file, std::string &error) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    error = "cannot be opened";
    return std::nullopt;
  }
  std::stringstream text;
  text << stream.rdbuf();
  return parseProfile(text.str(), error);
}

const Profile *findBuiltinProfile(llvm::StringRef name) {
  for (const Profile &profile : getBuiltinProfiles())
    if (profile.name == name)
      return &profile;
  return nullptr;
}

/// Profiles that were read from files, by file name, and the mutex of the map. Null if a file could
/// not be read.
std::mutex filesLock;
std::map<std::string, std::shared_ptr<const Profile>> files;
/// All profiles that were read from files. They are never freed, because compilations in progress
/// may refer to them.
std::vector<std::shared_ptr<const Profile>> kept;

const Profile *getProfileFromFile(const std::string &file) {
  if (file.empty())
    return nullptr;
  std::lock_guard guard(filesLock);
  auto [at, isNew] = files.try_emplace(file);
  if (isNew) {
    std::string error;
    if (auto profile = readProfile(file, error)) {
      at->second = std::make_shared<const Profile>(std::move(*profile));
      kept.push_back(at->second);
    }
  }
  return at->second.get();
}

} // namespace

llvm::ArrayRef<Profile> getBuiltinProfiles() {
  static const std::vector<Profile> profiles = [] {
    std::vector<Profile> list;
    for (const char *text : kTexts) {
      std::string error;
      auto profile = parseProfile(text, error);
      if (!profile)
        llvm::report_fatal_error(llvm::Twine("a profile that ships: ") + error);
      list.push_back(std::move(*profile));
    }
    return list;
  }();
  return profiles;
}

const Profile *findExactProfile(const cpu::Target &target) {
  for (const Profile &profile : getBuiltinProfiles())
    if (profile.tiles == hasAmxTiles(target) && profile.vectorBits == target.vectorBits &&
        llvm::is_contained(profile.cpus, target.cpu))
      return &profile;
  return nullptr;
}

const Profile &findNearestProfile(const cpu::Target &target) {
  auto isZen = [](llvm::StringRef cpu) { return cpu.starts_with("znver"); };
  const Profile *nearest = nullptr;
  int best = -1;
  for (const Profile &profile : getBuiltinProfiles()) {
    int likeness = 4 * (profile.tiles == hasAmxTiles(target)) +
                   2 * (profile.vectorBits == target.vectorBits) +
                   (isZen(profile.cpus.front()) == isZen(target.cpu));
    if (likeness > best) {
      best = likeness;
      nearest = &profile;
    }
  }
  return *nearest;
}

std::string getMeasuredProfilePath(const std::string &cacheDir) {
  if (cacheDir.empty())
    return "";
  std::string facts = processorModel() + "\n" + processorCaches() + "\n" +
                      std::to_string(kMeasurement) + "\n" + LLVM_VERSION_STRING;
  return cacheDir + "/machine-" +
         llvm::utohexstr(llvm::xxh3_64bits(facts), /*LowerCase=*/true).substr(0, 12) + ".json";
}

bool ProfileChoice::isMissing(const cpu::Target &target) const {
  bool isWanted = asked == "measured" || (asked.empty() && !findExactProfile(target));
  return isWanted && !cacheDir.empty() && !getProfileFromFile(getMeasuredProfilePath(cacheDir));
}

std::string ProfileChoice::problem() const {
  if (asked.empty() || asked == "measured" || findBuiltinProfile(asked))
    return "";
  std::string names, error;
  for (const Profile &profile : getBuiltinProfiles())
    names += profile.name + ", ";
  if (!std::filesystem::exists(asked))
    return "profile '" + asked + "' is unknown; required: " + names +
           "'measured', or a file that dlc tune --machine wrote";
  return readProfile(asked, error) ? "" : "profile '" + asked + "': " + error;
}

const Profile &chooseProfile(const ProfileChoice &choice, const cpu::Target &target) {
  if (!choice.asked.empty() && choice.asked != "measured") {
    if (const Profile *shipped = findBuiltinProfile(choice.asked))
      return *shipped;
    if (const Profile *file = getProfileFromFile(choice.asked))
      return *file;
  }
  if (choice.asked != "measured")
    if (const Profile *shipped = findExactProfile(target))
      return *shipped;
  if (const Profile *own = getProfileFromFile(getMeasuredProfilePath(choice.cacheDir)))
    return *own;
  return findNearestProfile(target);
}

void clearProfileCache() {
  std::lock_guard guard(filesLock);
  files.clear();
}

} // namespace dlc
