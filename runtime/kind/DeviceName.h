//===- DeviceName.h - device names: cpu, cpu:1, cuda:0 -----------------------===//
#ifndef DLC_RUNTIME_KIND_DEVICENAME_H
#define DLC_RUNTIME_KIND_DEVICENAME_H

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

namespace dlc::runtime {

/// Name of the device kind whose device 0 is the host. The host's canonical name has no ordinal.
constexpr std::string_view kHostName = "cpu";

struct DeviceName {
  std::string kind{kHostName};
  int ordinal = 0;

  bool isHost() const { return kind == kHostName && ordinal == 0; }
  /// Returns the canonical name of the device: "cpu" for cpu:0.
  std::string text() const { return isHost() ? kind : kind + ":" + std::to_string(ordinal); }
  bool operator==(const DeviceName &) const = default;
};

/// Returns whether `text` is a valid name of a device kind: lower-case letters, digits and '_',
/// starting with a letter.
inline bool isKindName(std::string_view text) {
  return !text.empty() && text.size() <= 32 && text[0] >= 'a' && text[0] <= 'z' &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

/// Parses a device name. Also accepts "cpu:0", and "cuda" for cuda:0. Returns std::nullopt if the
/// syntax is invalid. Does not check that the kind exists; see Kind.h.
inline std::optional<DeviceName> parseDeviceName(std::string_view text) {
  size_t colon = text.find(':');
  DeviceName name{std::string(text.substr(0, colon)), 0};
  if (!isKindName(name.kind))
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

#endif // DLC_RUNTIME_KIND_DEVICENAME_H
