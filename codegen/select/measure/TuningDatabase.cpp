//===- TuningDatabase.cpp - file of measured times ------------------------===//
#include "codegen/select/measure/TuningDatabase.h"

#include "runtime/program/AtomicFile.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dlc {

namespace {

const std::string kHeader = "{\"dlc tuning database\":2}";

/// Lock that a process holds while it appends to the file, or reads and replaces it. The lock is a
/// separate file because the database file is replaced by renaming.
class DatabaseLock {
public:
  explicit DatabaseLock(const std::string &file)
      : descriptor(::open((file + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    while (descriptor >= 0 && ::flock(descriptor, LOCK_EX) != 0 && errno == EINTR)
      ;
  }
  ~DatabaseLock() {
    if (descriptor >= 0)
      ::close(descriptor);
  }
  DatabaseLock(const DatabaseLock &) = delete;
  DatabaseLock &operator=(const DatabaseLock &) = delete;

private:
  int descriptor;
};

struct DatabaseContents {
  std::vector<TuningEntry> entries;
  size_t damaged = 0, firstDamaged = 0;
  bool foreign = false; ///< whether the file is not a tuning database
};

/// Reads a database file; a missing file has no entries. If several lines have the same operation,
/// the last one counts.
DatabaseContents readFile(const std::string &path) {
  DatabaseContents contents;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  for (size_t number = 1; std::getline(file, line); ++number) {
    if (number == 1) {
      if (line != kHeader) {
        contents.foreign = true;
        return contents;
      }
    } else if (auto entry = parseEntry(line)) {
      contents.entries.push_back(std::move(*entry));
    } else if (!line.empty() && contents.damaged++ == 0) {
      contents.firstDamaged = number;
    }
  }
  return contents;
}

double roundToDigits(double value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*g", digits, value);
  return std::strtod(text, nullptr);
}

std::string readText(const nlohmann::json &object, const char *name) {
  auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double readNumber(const nlohmann::json &object, const char *name, double otherwise) {
  auto found = object.find(name);
  return found != object.end() && found->is_number() ? found->get<double>() : otherwise;
}

int readCount(const nlohmann::json &object, const char *name) {
  return int(std::clamp(readNumber(object, name, 0), 0.0, 1e9));
}

std::optional<NamedValues> readNamedValues(const nlohmann::json &object, const char *name) {
  auto found = object.find(name);
  if (found == object.end() || !found->is_object())
    return std::nullopt;
  NamedValues facts;
  for (auto &[key, value] : found->items()) {
    if (!value.is_string())
      return std::nullopt;
    facts[key] = value.get<std::string>();
  }
  return facts;
}

/// Reads a JSON list of numbers, in which null means `otherwise`.
std::vector<double> readSeries(const nlohmann::json &object, const char *name, double otherwise) {
  std::vector<double> series;
  if (auto found = object.find(name); found != object.end() && found->is_array())
    for (const nlohmann::json &each : *found)
      series.push_back(each.is_number() ? each.get<double>() : otherwise);
  return series;
}

nlohmann::ordered_json formatSeries(const std::vector<double> &series, int digits) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (double value : series)
    list.push_back(std::isnan(value) ? nlohmann::ordered_json()
                                     : nlohmann::ordered_json(roundToDigits(value, digits)));
  return list;
}

std::optional<TunedCandidate> readCandidate(const nlohmann::json &object, bool unfinished) {
  if (!object.is_object())
    return std::nullopt;
  TunedCandidate c;
  c.kernel = readText(object, "kernel");
  c.implementation = readText(object, "implementation");
  c.rejected = readText(object, "rejected");
  c.checked = readText(object, "checked");
  c.estimate = readNumber(object, "estimate_us", 0);
  c.min = readNumber(object, "min_us", -1);
  c.median = readNumber(object, "median_us", -1);
  c.spread = readNumber(object, "spread", 0);
  c.slowdown = readNumber(object, "behind", 1);
  c.slowdownLow = readNumber(object, "behind_low", c.slowdown);
  c.slowdownHigh = readNumber(object, "behind_high", c.slowdown);
  c.runs = readCount(object, "runs");
  c.disturbed = readCount(object, "disturbed");
  c.error = readNumber(object, "error", -1);
  c.workspace = readNumber(object, "workspace", 0);
  c.sessions = readSeries(object, "sittings", 0);
  c.rounds = readSeries(object, "rounds", std::nan(""));
  bool timed = c.min >= 0 && c.median >= 0 && c.slowdown > 0;
  if (c.kernel.empty() || c.implementation.empty() || (c.rejected.empty() && !timed && !unfinished))
    return std::nullopt;
  if (!c.rejected.empty() || !timed)
    c.min = c.median = 0;
  return c;
}

nlohmann::ordered_json formatCandidate(const TunedCandidate &c) {
  nlohmann::ordered_json object = {{"kernel", c.kernel},
                                   {"implementation", c.implementation},
                                   {"estimate_us", roundToDigits(c.estimate, 4)}};
  if (c.rejected.empty()) {
    object["min_us"] = roundToDigits(c.min, 5);
    object["median_us"] = roundToDigits(c.median, 5);
    object["spread"] = roundToDigits(c.spread, 3);
    object["behind"] = roundToDigits(c.slowdown, 5);
    object["behind_low"] = roundToDigits(c.slowdownLow, 5);
    object["behind_high"] = roundToDigits(c.slowdownHigh, 5);
    object["runs"] = c.runs;
    if (c.disturbed)
      object["disturbed"] = c.disturbed;
    if (!c.sessions.empty())
      object["sittings"] = formatSeries(c.sessions, 5);
    if (!c.rounds.empty())
      object["rounds"] = formatSeries(c.rounds, 5);
  } else {
    object["rejected"] = c.rejected;
  }
  if (c.error >= 0)
    object["error"] = roundToDigits(c.error, 3);
  if (!c.checked.empty())
    object["checked"] = c.checked;
  if (c.workspace > 0)
    object["workspace"] = c.workspace;
  return object;
}

void appendNamedValues(std::string &text, const NamedValues &facts) {
  for (auto &[name, value] : facts)
    text += "\n" + name + "=" + value;
}

std::string formatKeyWithoutMachine(const TuningKey &key) {
  std::string text = key.operation;
  appendNamedValues(text, key.settings);
  return text;
}

} // namespace

std::string TuningKey::identity() const {
  std::string text = operation;
  for (const NamedValues *facts : {&settings, &machine, &versions})
    appendNamedValues(text, *facts);
  return text;
}

std::string TuningKey::id() const {
  // The hash function is FNV-1a, which is independent of library versions and platforms.
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : identity())
    hash = (hash ^ uint8_t(c)) * 0x100000001b3u;
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash));
  return std::string(text, 12);
}

std::string TuningKey::machineText() const {
  auto get = [&](const char *name) {
    auto found = machine.find(name);
    return found == machine.end() ? std::string("?") : found->second;
  };
  std::string text = get("cpu") + " (" + get("model") + ", caches " + get("caches") +
                     ", features " + get("features") + ")";
  for (auto &[name, value] : versions)
    text += ", " + name + " " + value;
  return text;
}

const TunedCandidate *TuningEntry::find(const std::string &implementation) const {
  for (const TunedCandidate &c : candidates)
    if (c.implementation == implementation)
      return &c;
  return nullptr;
}

int TuningEntry::samples() const {
  return std::accumulate(candidates.begin(), candidates.end(), 0,
                         [](int sum, const TunedCandidate &c) { return sum + c.runs; });
}

std::string formatEntry(const TuningEntry &entry) {
  nlohmann::ordered_json object = {{"id", entry.key.id()},
                                   {"name", entry.name},
                                   {"operation", entry.key.operation},
                                   {"settings", entry.key.settings},
                                   {"machine", entry.key.machine},
                                   {"versions", entry.key.versions},
                                   {"certain", entry.certain}};
  if (entry.open)
    object["open"] = true;
  if (entry.unfinished)
    object["unfinished"] = true;
  object["candidates"] = nlohmann::json::array();
  for (const TunedCandidate &c : entry.candidates)
    object["candidates"].push_back(formatCandidate(c));
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::optional<TuningEntry> parseEntry(const std::string &line) {
  nlohmann::json object = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object() || !object.contains("candidates") || !object["candidates"].is_array())
    return std::nullopt;
  TuningEntry entry;
  auto settings = readNamedValues(object, "settings"), machine = readNamedValues(object, "machine"),
       versions = readNamedValues(object, "versions");
  entry.key.operation = readText(object, "operation");
  if (entry.key.operation.empty() || !settings || !machine || !versions)
    return std::nullopt;
  entry.key.settings = *settings;
  entry.key.machine = *machine;
  entry.key.versions = *versions;
  entry.name = readText(object, "name");
  entry.certain = object.value("certain", nlohmann::json()) == true;
  entry.open = object.value("open", nlohmann::json()) == true;
  entry.unfinished = object.value("unfinished", nlohmann::json()) == true;
  for (const nlohmann::json &each : object["candidates"]) {
    auto candidate = readCandidate(each, entry.unfinished);
    if (!candidate)
      return std::nullopt;
    entry.candidates.push_back(*candidate);
  }
  return entry;
}

TuningDatabase::TuningDatabase(const std::string &path, bool readOnly, std::string &warning)
    : path(path), writable(!readOnly) {
  if (path.empty())
    return;
  DatabaseContents contents = readFile(path);
  if (contents.foreign) {
    writable = false;
    warning = "'" + path +
              "' is damaged or not a tuning database; it is neither used nor changed; required: a "
              "first line " +
              kHeader;
  } else if (contents.damaged) {
    warning = "'" + path + "' is damaged: " + std::to_string(contents.damaged) +
              " of its lines are ignored, the first is line " +
              std::to_string(contents.firstDamaged) +
              "; run dlc tune to measure those operations again";
  }
  for (TuningEntry &entry : contents.entries) {
    std::string identity = entry.key.identity();
    if (entry.unfinished) {
      unfinished.insert_or_assign(identity, std::move(entry));
      continue;
    }
    index(entry);
    unfinished.erase(identity);
    entries.insert_or_assign(identity, std::move(entry));
  }
}

void TuningDatabase::index(const TuningEntry &entry) {
  std::string identity = entry.key.identity();
  if (!entries.count(identity))
    elsewhere.emplace(formatKeyWithoutMachine(entry.key), identity);
}

const TuningEntry *TuningDatabase::find(const TuningKey &key) const {
  auto found = entries.find(key.identity());
  return found == entries.end() ? nullptr : &found->second;
}

const TuningEntry *TuningDatabase::begun(const TuningKey &key) const {
  auto found = unfinished.find(key.identity());
  return found == unfinished.end() ? nullptr : &found->second;
}

const TuningEntry *TuningDatabase::findElsewhere(const TuningKey &key) const {
  auto [from, to] = elsewhere.equal_range(formatKeyWithoutMachine(key));
  for (auto it = from; it != to; ++it)
    if (auto found = entries.find(it->second); found != entries.end() && found->second.key != key)
      return &found->second;
  return nullptr;
}

void TuningDatabase::append(const std::string &line) {
  if (auto folder = std::filesystem::path(path).parent_path(); !folder.empty())
    std::filesystem::create_directories(folder);
  DatabaseLock lock(path);
  int descriptor = ::open(path.c_str(), O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0666);
  if (descriptor < 0)
    throw std::runtime_error(std::strerror(errno));
  struct stat about {};
  std::string text;
  if (::fstat(descriptor, &about) == 0 && about.st_size == 0) {
    text = kHeader + "\n";
  } else if (char last = 0; ::pread(descriptor, &last, 1, about.st_size - 1) == 1 && last != '\n') {
    // A process was killed while it wrote the last line of the file. The incomplete line is
    // terminated, so that the new entry starts on a separate line.
    text = "\n";
  }
  text += line + "\n";
  size_t done = 0;
  while (done < text.size()) {
    ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0) {
      int error = errno;
      ::close(descriptor);
      throw std::runtime_error(std::strerror(error));
    }
    done += size_t(n);
  }
  ::close(descriptor);
}

void TuningDatabase::write(const TuningEntry &entry, std::string &warning) {
  if (path.empty() || !writable)
    return;
  try {
    append(formatEntry(entry));
    wrote = true;
  } catch (const std::exception &error) {
    writable = false;
    warning = "'" + path + "' cannot be written (" + error.what() +
              "); measurements are used for this model only";
  }
}

const TuningEntry *TuningDatabase::put(TuningEntry entry, std::string &warning) {
  index(entry);
  std::string identity = entry.key.identity();
  write(entry, warning);
  unfinished.erase(identity);
  return &entries.insert_or_assign(identity, std::move(entry)).first->second;
}

void TuningDatabase::note(const TuningEntry &entry, std::string &warning) {
  write(entry, warning);
  unfinished.insert_or_assign(entry.key.identity(), entry);
}

void TuningDatabase::compact(std::string &warning) {
  if (!wrote)
    return;
  try {
    DatabaseLock lock(path);
    DatabaseContents contents = readFile(path);
    // Text of the latest finished entry and of the unfinished benchmark of each operation.
    std::map<std::string, std::pair<std::string, std::string>> lines;
    for (const TuningEntry &entry : contents.entries) {
      auto &[found, unfinished] = lines[entry.key.identity()];
      if (entry.unfinished) {
        unfinished = formatEntry(entry) + "\n";
      } else {
        found = formatEntry(entry) + "\n";
        unfinished.clear();
      }
    }
    std::string text = kHeader + "\n";
    for (auto &[identity, both] : lines)
      text += both.first + both.second;
    runtime::AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  } catch (const std::exception &error) {
    warning = "'" + path + "' is complete but remains unsorted: " + error.what();
  }
}

bool TuningDatabase::take(const TuningEntry &entry) {
  std::string identity = entry.key.identity();
  auto found = entries.find(identity);
  // If both entries have the same number of samples, the text decides, so that the result does not
  // depend on the order of merging.
  if (found != entries.end() && (found->second.samples() > entry.samples() ||
                                 (found->second.samples() == entry.samples() &&
                                  formatEntry(found->second) >= formatEntry(entry))))
    return false;
  index(entry);
  entries.insert_or_assign(identity, entry);
  return true;
}

void TuningDatabase::writeTo(const std::string &path) const {
  DatabaseLock lock(path);
  std::string text = kHeader + "\n";
  for (auto &[identity, entry] : entries)
    text += formatEntry(entry) + "\n";
  runtime::AtomicFile file(path);
  file.write(text.data(), text.size());
  file.commit();
}

} // namespace dlc
