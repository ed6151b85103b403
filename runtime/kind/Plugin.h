//===- Plugin.h - libraries found by their names ------------------------------===//
#ifndef DLC_RUNTIME_KIND_PLUGIN_H
#define DLC_RUNTIME_KIND_PLUGIN_H

#include <string>
#include <vector>

namespace dlc::runtime {

/// Where plugins lie, in the order in which they are looked for: those of $DLC_PLUGINS, and dlc's
/// own; the last folder is for those that come with dlc.
std::vector<std::string> pluginFolders();

struct Plugin {
  /// Where it was found; empty: nowhere.
  std::string path;
  /// Null: it cannot be used, and `why`.
  void *function = nullptr;
  std::string why;
};

/// The function that libdlc_NAME.so exports. Stays open.
Plugin openPlugin(const std::string &name, const std::string &function);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_PLUGIN_H
