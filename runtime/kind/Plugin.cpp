//===- Plugin.cpp - loads plugin libraries by name ---------------------------===//
#include "runtime/kind/Plugin.h"

#include <algorithm>
#include <cstdlib>
#include <dlfcn.h>
#include <string_view>
#include <unistd.h>

namespace dlc::runtime {

std::vector<std::string> pluginFolders() {
  std::vector<std::string> folders;
  const char *given = std::getenv("DLC_PLUGINS");
  std::string_view list = given ? given : "";
  while (!list.empty()) {
    size_t end = std::min(list.find(':'), list.size());
    if (end > 0)
      folders.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  Dl_info info;
  if (dladdr(reinterpret_cast<const void *>(&pluginFolders), &info) && info.dli_fname) {
    std::string path = info.dli_fname;
    size_t slash = path.rfind('/');
    std::string here = slash == std::string::npos ? "." : path.substr(0, slash);
    folders.push_back(here + "/dlc");
    folders.push_back(here);
  }
  return folders;
}

Plugin openPlugin(const std::string &name, const std::string &function) {
  std::string file = "libdlc_" + name + ".so", looked;
  Plugin plugin;
  for (const std::string &folder : pluginFolders()) {
    looked += looked.empty() ? "" : ", ";
    looked += folder;
    std::string path = folder;
    path.append("/").append(file);
    if (access(path.c_str(), F_OK) != 0)
      continue;
    plugin.path = path;
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      plugin.why = "the plugin cannot be loaded: " + std::string(dlerror());
    else if (plugin.function = dlsym(library, function.c_str()); !plugin.function)
      plugin.why.append("the plugin ")
          .append(path)
          .append(" exports no function ")
          .append(function);
    return plugin;
  }
  plugin.why = "no " + file + " in " + looked + "; set $DLC_PLUGINS to search more folders";
  return plugin;
}

} // namespace dlc::runtime
