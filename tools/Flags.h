//===- Flags.h - command-line options generated from settings -------------===//
#ifndef DLC_TOOLS_FLAGS_H
#define DLC_TOOLS_FLAGS_H

#include "passes/Settings.h"

#include <CLI/CLI.hpp>

namespace dlc {

/// Adds a command-line option `--NAME` to `app` for each setting. Invalid values are reported when
/// the command line is parsed.
inline void addSettingFlags(CLI::App &app, const std::vector<Setting> &settings) {
  for (const Setting &setting : settings) {
    std::string name = std::string("--") + setting.name;
    if (setting.isFlag()) {
      app.add_flag(name, **std::get_if<bool *>(&setting.field), setting.help);
      continue;
    }
    if (setting.alone) {
      app.add_flag(name + "{" + setting.alone + "}", **std::get_if<std::string *>(&setting.field),
                   setting.help);
      continue;
    }
    auto take = [setting](const std::vector<std::string> &texts) {
      for (const std::string &text : texts)
        if (std::string problem = setting.set(text); !problem.empty())
          throw CLI::ValidationError("--" + problem);
    };
    CLI::Option *option =
        app.add_option_function<std::vector<std::string>>(name, take, setting.help)
            ->allow_extra_args(false)
            ->default_str(setting.value());
    if (setting.isList())
      option->take_all();
    else
      option->expected(1);
    if (!setting.choices.empty())
      option->type_name("TEXT:{" + CLI::detail::join(setting.choices, ",") + "}");
  }
}

} // namespace dlc

#endif // DLC_TOOLS_FLAGS_H
