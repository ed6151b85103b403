//===- TuningFile.cpp - what was measured before, on disk -----------------===//
#include "codegen/select/TuningFile.h"

#include <nlohmann/json.hpp>

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

using nlohmann::json;

namespace dlc {

namespace {

constexpr int kFormat = 1;

std::string pathIn(const std::string &folder) { return folder + "/tuning.json"; }

std::string textOf(const json &object, const char *name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double numberOf(const json &object, const char *name) {
  auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : -1;
}

/// Nothing for what no writer of ours would write.
std::optional<TunedCandidate> readCandidate(const json &object) {
  if (!object.is_object())
    return std::nullopt;
  TunedCandidate candidate{textOf(object, "kernel"), textOf(object, "implementation"), numberOf(object, "min_us"),
                           numberOf(object, "median_us"), int(std::clamp(numberOf(object, "runs"), 0.0, 1e9)),
                           textOf(object, "rejected")};
  bool measured = std::isfinite(candidate.minMicroseconds) && candidate.minMicroseconds >= 0;
  if (candidate.kernel.empty() || candidate.implementation.empty() || (candidate.rejected.empty() && !measured))
    return std::nullopt;
  return candidate;
}

/// The file's entries; false when it is damaged. No file is no entries.
bool read(const std::string &path, std::map<std::string, TunedEntry> &entries) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return true;
  llvm::StringRef text = (*file)->getBuffer();
  json root = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (!root.is_object() || numberOf(root, "format") != kFormat || !root.contains("entries") || !root["entries"].is_object())
    return false;
  for (auto &[key, list] : root["entries"].items()) {
    if (!list.is_array())
      return false;
    TunedEntry entry;
    for (const json &object : list) {
      auto candidate = readCandidate(object);
      if (!candidate)
        return false;
      entry.push_back(*candidate);
    }
    entries.try_emplace(key, std::move(entry));
  }
  return true;
}

json toJson(const std::map<std::string, TunedEntry> &entries) {
  json all = json::object();
  for (auto &[key, entry] : entries) {
    json list = json::array();
    for (const TunedCandidate &candidate : entry) {
      json object{{"kernel", candidate.kernel}, {"implementation", candidate.implementation}};
      if (!candidate.rejected.empty()) {
        object["rejected"] = candidate.rejected;
      } else {
        object["min_us"] = candidate.minMicroseconds;
        object["median_us"] = candidate.medianMicroseconds;
        object["runs"] = candidate.runs;
      }
      list.push_back(object);
    }
    all[key] = list;
  }
  return {{"format", kFormat}, {"entries", all}};
}

bool writeAll(int descriptor, llvm::StringRef text) {
  while (!text.empty()) {
    ssize_t n = ::write(descriptor, text.data(), text.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    text = text.drop_front(size_t(n));
  }
  return true;
}

/// Held while the file is read, merged and replaced. It is a file of its own: the other one is renamed over.
class Lock {
public:
  explicit Lock(const std::string &path) : descriptor(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    while (descriptor >= 0 && ::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~Lock() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  Lock(const Lock &) = delete;
  Lock &operator=(const Lock &) = delete;

private:
  int descriptor;
};

} // namespace

TuningFile::TuningFile(const std::string &folder, std::string &warning) : folder(folder) {
  if (folder.empty() || read(pathIn(folder), entries))
    return;
  entries.clear();
  warning = "'" + pathIn(folder) + "' is damaged and is not used; dlc compile --tune writes it anew";
}

const TunedEntry *TuningFile::find(const std::string &key) const {
  auto found = entries.find(key);
  return found == entries.end() ? nullptr : &found->second;
}

void TuningFile::put(const std::string &key, TunedEntry entry) {
  entries[key] = entry;
  added[key] = std::move(entry);
}

void TuningFile::save(std::string &warning) {
  if (folder.empty() || added.empty())
    return;
  auto fail = [&](const std::string &reason) {
    warning = "'" + pathIn(folder) + "' cannot be written (" + reason + "); what was measured is used for this model only";
  };
  if (auto error = llvm::sys::fs::create_directories(folder))
    return fail(error.message());
  Lock lock(pathIn(folder) + ".lock");
  std::map<std::string, TunedEntry> merged = added, others;
  if (read(pathIn(folder), others))
    merged.merge(others);
  std::string text = toJson(merged).dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  int descriptor;
  llvm::SmallString<128> temporary;
  if (auto error = llvm::sys::fs::createUniqueFile(pathIn(folder) + ".%%%%%%%%", descriptor, temporary))
    return fail(error.message());
  bool whole = writeAll(descriptor, text);
  whole &= ::fsync(descriptor) == 0;
  whole &= ::close(descriptor) == 0;
  int error = errno;
  if (!whole || llvm::sys::fs::rename(temporary, pathIn(folder))) {
    llvm::sys::fs::remove(temporary);
    return fail(std::strerror(error));
  }
  added.clear();
}

} // namespace dlc
