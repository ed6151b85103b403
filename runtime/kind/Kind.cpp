//===- Kind.cpp - registry of device kinds; loads plugins by name ------------===//
#include "runtime/kind/Kind.h"

#include "dlc/Error.h"
#include "runtime/kind/Plugin.h"
#include "runtime/kind/StreamNumbers.h"

#include <dirent.h>
#include <map>
#include <memory>
#include <mutex>
#include <set>

extern "C" const dlc_device_table *dlc_cpu_device_table(char *error, size_t size);

namespace dlc::runtime {

namespace {

/// A device kind that is part of dlc.
struct Row {
  const char *name;
  DLDeviceType dlpack;
  /// DLPack type of the host memory that is pinned for this kind; kDLCPU if there is none.
  DLDeviceType pinned;
  /// Function that returns the kind's device table; null if the table is loaded from a plugin.
  dlc_device_table_function table;
  /// Stream numbers of DLPack; unset if callers cannot pass streams of the kind to dlc.
  std::optional<StreamNumbers> streams;
};

/// Stream numbers that DLPack forbids for CUDA: 0 could be the legacy default stream (1) or the
/// per-thread default stream (2).
constexpr int64_t kForbiddenOfCuda[] = {0};

constexpr Row kRows[] = {
    {"cpu", kDLCPU, kDLCPU, dlc_cpu_device_table, std::nullopt},
    {"cuda", kDLCUDA, kDLCUDAHost, nullptr, StreamNumbers{1, kForbiddenOfCuda}}};

/// Number of low bits of a kDLExtDev device ID that hold the device's ordinal. The plugin's number
/// is in the high bits.
constexpr int kNumberBits = 16;

const Row *findRow(std::string_view kind) {
  for (const Row &row : kRows)
    if (kind == row.name)
      return &row;
  return nullptr;
}

/// Returns the name of the first function that is null although the table's capabilities require
/// it; null if there is none.
const char *findMissingFunction(const dlc_device_table &table) {
  struct Required {
    const char *name;
    bool given;
    uint32_t by; ///< capability that requires the function; 0: required for every kind
  };
#define DLC_REQUIRED(name, by)                                                                     \
  { #name, table.name != nullptr, by }
  const Required all[] = {DLC_REQUIRED(count, 0),
                          DLC_REQUIRED(open, 0),
                          DLC_REQUIRED(close, 0),
                          DLC_REQUIRED(properties, 0),
                          DLC_REQUIRED(allocate, 0),
                          DLC_REQUIRED(release, 0),
                          DLC_REQUIRED(stream_create, 0),
                          DLC_REQUIRED(stream_destroy, 0),
                          DLC_REQUIRED(stream_synchronize, 0),
                          DLC_REQUIRED(event_create, 0),
                          DLC_REQUIRED(event_destroy, 0),
                          DLC_REQUIRED(event_record, 0),
                          DLC_REQUIRED(event_wait, 0),
                          DLC_REQUIRED(event_synchronize, 0),
                          DLC_REQUIRED(event_elapsed, 0),
                          DLC_REQUIRED(copy, 0),
                          DLC_REQUIRED(fill, 0),
                          DLC_REQUIRED(run, DLC_DEVICE_HOST_CODE),
                          DLC_REQUIRED(allocate_pinned, DLC_DEVICE_PINNED),
                          DLC_REQUIRED(release_pinned, DLC_DEVICE_PINNED),
                          DLC_REQUIRED(module_load, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(module_unload, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(function, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(launch, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(library_make, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(library_run, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(library_destroy, DLC_DEVICE_GPU_CODE),
                          DLC_REQUIRED(capture_begin, DLC_DEVICE_GRAPHS),
                          DLC_REQUIRED(capture_end, DLC_DEVICE_GRAPHS),
                          DLC_REQUIRED(graph_launch, DLC_DEVICE_GRAPHS),
                          DLC_REQUIRED(graph_destroy, DLC_DEVICE_GRAPHS),
                          DLC_REQUIRED(group_member, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_invite, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_join, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_run, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_test, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_abort, DLC_DEVICE_COLLECTIVES),
                          DLC_REQUIRED(group_leave, DLC_DEVICE_COLLECTIVES)};
#undef DLC_REQUIRED
  for (const Required &one : all)
    if (!one.given && (table.capabilities & one.by) == one.by)
      return one.name;
  return nullptr;
}

/// Sets the kind's device table if `table` is valid; otherwise sets `kind.why` to the reason.
void setDeviceTable(DeviceKind &kind, const dlc_device_table *table) {
  std::string plugin = "the plugin " + kind.path;
  if (table->version != DLC_DEVICE_TABLE_VERSION)
    kind.why = plugin + " has version " + std::to_string(table->version) +
               "; this runtime requires version " + std::to_string(DLC_DEVICE_TABLE_VERSION) +
               "; build it with the headers of this dlc";
  else if (!table->kind || kind.name != table->kind)
    kind.why = plugin + " has kind '" + (table->kind ? table->kind : "") + "'; required: '" +
               kind.name + "'; rename the file or the kind";
  else if (table->capabilities == 0)
    kind.why = plugin + " has no capabilities; required: host code or GPU code";
  else if (const char *missing = findMissingFunction(*table))
    kind.why = plugin + " has no function '" + missing + "', which its capabilities require";
  else
    kind.table = table;
}

void loadPlugin(DeviceKind &kind) {
  Plugin plugin = openPlugin(kind.name, "dlc_" + kind.name + "_device_table");
  kind.path = plugin.path;
  char error[1024] = "";
  if (plugin.path.empty())
    kind.why = "there are no devices of kind '" + kind.name + "': " + plugin.why;
  else if (!plugin.function)
    kind.why = plugin.why;
  else if (const dlc_device_table *table =
               reinterpret_cast<dlc_device_table_function>(plugin.function)(error, sizeof error))
    setDeviceTable(kind, table);
  else
    kind.why = "the plugin " + kind.path + " cannot be used: " + error;
}

/// Registry of the device kinds that were requested so far. Never destroyed: devices may outlive
/// every static object.
struct KindRegistry {
  std::mutex mutex;
  std::map<std::string, std::unique_ptr<DeviceKind>, std::less<>> kinds;
  std::vector<const DeviceKind *> numbered;

  static KindRegistry &get() {
    static auto &known = *new KindRegistry;
    return known;
  }
};

} // namespace

const DeviceKind &deviceKind(std::string_view name) {
  KindRegistry &known = KindRegistry::get();
  std::lock_guard lock(known.mutex);
  if (auto found = known.kinds.find(name); found != known.kinds.end())
    return *found->second;
  auto made = std::make_unique<DeviceKind>();
  made->name = name;
  const Row *row = findRow(name);
  if (row && row->table)
    setDeviceTable(*made, row->table(nullptr, 0));
  else if (isKindName(name))
    loadPlugin(*made);
  else
    made->why =
        "invalid device kind '" + made->name + "'; required: lower-case letters, digits and '_'";
  if (made->table && !row) {
    known.numbered.push_back(made.get());
    made->number = static_cast<int>(known.numbered.size());
  }
  return *known.kinds.emplace(made->name, std::move(made)).first->second;
}

std::vector<std::string> deviceKinds() {
  std::vector<std::string> kinds;
  for (const Row &row : kRows)
    kinds.emplace_back(row.name);
  std::vector<std::string> folders = pluginFolders();
  // Skip the last folder, which also has dlc's other libraries: a match of libdlc_*.so there need
  // not be a plugin.
  folders.pop_back();
  std::set<std::string> found;
  constexpr std::string_view kBefore = "libdlc_", kAfter = ".so";
  for (const std::string &folder : folders)
    if (DIR *open = opendir(folder.c_str())) {
      while (const dirent *entry = readdir(open)) {
        std::string_view file = entry->d_name;
        if (file.size() <= kBefore.size() + kAfter.size() || !file.starts_with(kBefore) ||
            !file.ends_with(kAfter))
          continue;
        file = file.substr(kBefore.size(), file.size() - kBefore.size() - kAfter.size());
        if (isKindName(file) && !findRow(file))
          found.emplace(file);
      }
      closedir(open);
    }
  kinds.insert(kinds.end(), found.begin(), found.end());
  return kinds;
}

DeviceName requireDeviceName(std::string_view text) {
  auto name = parseDeviceName(text);
  std::string why = name ? deviceKind(name->kind).why : "";
  if (!name || !why.empty())
    throw Error("'" + std::string(text) +
                "' is not a device name; write for example cpu, cpu:1 or cuda:0" +
                (why.empty() ? "" : "; " + why));
  return *name;
}

std::optional<DeviceName> deviceName(DLDevice device) {
  for (const Row &row : kRows)
    if (device.device_type == row.dlpack)
      return DeviceName{row.name, device.device_type == kDLCPU ? 0 : device.device_id};
  if (getPinnedDeviceName(device))
    return DeviceName{};
  if (device.device_type != kDLExtDev || device.device_id < 0)
    return std::nullopt;
  auto number = static_cast<size_t>(device.device_id >> kNumberBits);
  int ordinal = device.device_id & ((1 << kNumberBits) - 1);
  if (number == 0)
    return DeviceName{std::string(kHostName), ordinal};
  KindRegistry &known = KindRegistry::get();
  std::lock_guard lock(known.mutex);
  if (number > known.numbered.size())
    return std::nullopt;
  return DeviceName{known.numbered[number - 1]->name, ordinal};
}

DLDevice toDlpackDevice(const DeviceName &name) {
  if (name.isHost())
    return {kDLCPU, 0};
  if (const Row *row = findRow(name.kind); row && row->dlpack != kDLCPU)
    return {row->dlpack, name.ordinal};
  return {kDLExtDev, (deviceKind(name.kind).number << kNumberBits) | name.ordinal};
}

const StreamNumbers *streamNumbers(std::string_view kind) {
  const Row *row = findRow(kind);
  return row && row->streams ? &*row->streams : nullptr;
}

std::optional<DeviceName> getPinnedDeviceName(DLDevice device) {
  for (const Row &row : kRows)
    if (row.pinned != kDLCPU && device.device_type == row.pinned)
      return DeviceName{row.name, device.device_id};
  return std::nullopt;
}

} // namespace dlc::runtime
