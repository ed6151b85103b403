//===- Plugin.h - loads plugin libraries by name -----------------------------===//
#ifndef DLC_RUNTIME_KIND_PLUGIN_H
#define DLC_RUNTIME_KIND_PLUGIN_H

#include <string>
#include <vector>

namespace dlc::runtime {

/// Returns the folders of plugins in search order: those of $DLC_PLUGINS, the folder "dlc" next to
/// this library, and the folder of this library, where the plugins of dlc itself are.
std::vector<std::string> pluginFolders();

struct Plugin {
  /// Path of the library; empty if it was not found.
  std::string path;
  /// Address of the exported function; null if the plugin cannot be used, and `why` is the reason.
  void *function = nullptr;
  std::string why;
};

/// Loads the plugin library libdlc_NAME.so and looks up its exported function. The library is never
/// unloaded.
Plugin openPlugin(const std::string &name, const std::string &function);

} // namespace dlc::runtime

#endif // DLC_RUNTIME_KIND_PLUGIN_H
