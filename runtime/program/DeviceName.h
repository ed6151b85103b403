//===- DeviceName.h - devices as people type them: cpu, cpu:1, cuda:0 ---------===//
#ifndef DLC_RUNTIME_PROGRAM_DEVICENAME_H
#define DLC_RUNTIME_PROGRAM_DEVICENAME_H

#include <optional>
#include <string>
#include <string_view>

namespace dlc::runtime {

struct DeviceName {
  std::string kind;
  int ordinal = 0;

  bool isCpu() const { return kind == "cpu"; }
  bool isHost() const { return isCpu() && ordinal == 0; }
  /// One name for each device: that of cpu:0 is cpu.
  std::string text() const { return isHost() ? kind : kind + ":" + std::to_string(ordinal); }
  bool operator==(const DeviceName &) const = default;
};

/// Also takes cpu:0, and cuda for cuda:0. Nothing where it is no device's name.
inline std::optional<DeviceName> parseDeviceName(std::string_view text) {
  size_t colon = text.find(':');
  DeviceName name{std::string(text.substr(0, colon)), 0};
  if (name.kind != "cpu" && name.kind != "cuda")
    return std::nullopt;
  if (colon == std::string_view::npos)
    return name;
  std::string_view number = text.substr(colon + 1);
  if (number.empty() || number.size() > 4)
    return std::nullopt;
  for (char c : number) {
    if (c < '0' || c > '9')
      return std::nullopt;
    name.ordinal = 10 * name.ordinal + (c - '0');
  }
  return name;
}

} // namespace dlc::runtime

#endif // DLC_RUNTIME_PROGRAM_DEVICENAME_H
