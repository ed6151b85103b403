//===- Usage.cpp - error messages of wrong command lines ------------------===//
#include "tools/dlc/Usage.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>

namespace dlc::cli {

CLI::Validator withRequiredText(const CLI::Validator &check, const std::string &required) {
  CLI::Validator result = check;
  result.operation([check, required](std::string &text) {
    return check(text).empty() ? std::string()
                               : "required: " + required + "; found: '" + text + "'";
  });
  return result;
}

/// Joins texts as in "a, b or c".
static std::string alternatives(const std::vector<std::string> &texts) {
  std::string result;
  for (size_t i = 0; i < texts.size(); ++i)
    result += (i == 0 ? "" : i + 1 == texts.size() ? " or " : ", ") + texts[i];
  return result;
}

CLI::Validator oneOf(const std::vector<std::string> &names) {
  return withRequiredText(CLI::IsMember(names), alternatives(names));
}

CLI::Validator atLeastOne() {
  return withRequiredText(CLI::PositiveNumber, "a number of 1 or more");
}

CLI::Validator finite() {
  // Without a description, so that --help shows the type alone.
  return CLI::Validator(
      [](std::string &text) {
        double value;
        bool isNumber = CLI::detail::lexical_cast(text, value) && std::isfinite(value);
        return isNumber ? std::string() : "required: a finite number; found: '" + text + "'";
      },
      "");
}

/// Returns the candidate that is most similar to `text`, or an empty text if none is similar.
static std::string mostSimilar(llvm::StringRef text, const std::vector<std::string> &candidates) {
  std::string best;
  unsigned limit = 1 + unsigned(text.size()) / 4;
  for (const std::string &candidate : candidates) {
    unsigned distance = text.edit_distance(candidate, /*AllowReplacements=*/true, limit + 1);
    if (distance <= limit) {
      best = candidate;
      limit = distance - (distance > 0);
    }
  }
  return best;
}

/// Returns the innermost command that the command line names.
static const CLI::App *chosen(const CLI::App *app) {
  std::vector<CLI::App *> commands = app->get_subcommands();
  return commands.empty() ? app : chosen(commands.front());
}

/// Returns the name of a command as a user types it, such as "dlc tune-db show".
static std::string commandName(const CLI::App &app) {
  const CLI::App *parent = app.get_parent();
  return parent ? commandName(*parent) + " " + app.get_name() : app.get_name();
}

static std::vector<std::string> commandNames(const CLI::App &app) {
  std::vector<std::string> names;
  for (const CLI::App *command : app.get_subcommands({}))
    names.push_back(command->get_name());
  return names;
}

/// Returns the message for an argument that is no option of the command.
static std::string unexpected(const CLI::App &command, llvm::StringRef argument) {
  std::string name = commandName(command), help = "; run " + name + " --help for a list";
  if (!argument.starts_with("-"))
    return "unexpected argument '" + argument.str() + "' of " + name +
           "; remove it, or write --OPTION before the value of an option" + help;
  llvm::StringRef option = argument.split('=').first;
  std::vector<std::string> known;
  for (const CLI::Option *each : command.get_options())
    for (const std::string &longName : each->get_lnames())
      known.push_back("--" + longName);
  std::string similar = mostSimilar(option, known);
  return "unknown option '" + option.str() + "' of " + name +
         (similar.empty() ? help : "; did you mean " + similar + "?");
}

/// Returns the message for a command line without a command, or with an unknown one.
static std::string noCommand(const CLI::App &app) {
  std::vector<std::string> names = commandNames(app), rest = app.remaining();
  std::string required = "; required: " + alternatives(names) + "; run " + commandName(app) +
                         " --help for what they do";
  for (const std::string &argument : rest) {
    if (llvm::StringRef(argument).starts_with("-"))
      continue;
    std::string similar = mostSimilar(argument, names);
    return "unknown command '" + argument + "'" +
           (similar.empty() ? required
                            : "; did you mean " + commandName(app) + " " + similar + "?");
  }
  return "no command" + required;
}

/// Returns the message for a missing argument or option, with its description.
static std::string missing(const CLI::App &command, llvm::StringRef name) {
  const CLI::Option *option = command.get_option_no_throw(name.str());
  return commandName(command) + ": '" + name.str() + "' is missing" +
         (option ? "; required: " + option->get_description() : std::string());
}

std::string usageError(const CLI::App &app, const CLI::ParseError &error) {
  const CLI::App &command = *chosen(&app);
  llvm::StringRef text = error.what();
  if (dynamic_cast<const CLI::ExtrasError *>(&error)) {
    std::vector<std::string> rest = app.remaining(/*recurse=*/true);
    auto isOption = [](llvm::StringRef argument) { return argument.starts_with("-"); };
    auto first = llvm::find_if(rest, isOption);
    if (!rest.empty())
      return unexpected(command, first == rest.end() ? rest.front() : *first);
  }
  if (dynamic_cast<const CLI::RequiredError *>(&error)) {
    if (text.starts_with("A subcommand"))
      return noCommand(command);
    if (text.consume_back(" is required"))
      return missing(command, text);
  }
  if (dynamic_cast<const CLI::RequiresError *>(&error))
    return text.str() + "; add " + text.rsplit(' ').second.str() + ", or remove " +
           text.split(' ').first.str();
  if (dynamic_cast<const CLI::ExcludesError *>(&error)) {
    auto [one, other] = text.split(" excludes ");
    return one.str() + " and " + other.str() + " cannot be combined; remove one of them";
  }
  if (dynamic_cast<const CLI::ConversionError *>(&error) &&
      text.consume_front("Could not convert: ")) {
    auto [name, value] = text.split(" = ");
    return name.str() + ": required: a number; found: '" + value.str() + "'";
  }
  if (dynamic_cast<const CLI::ArgumentMismatch *>(&error)) {
    auto [name, rest] = text.split(": ");
    if (rest.ends_with("missing"))
      return name.str() + ": required: a value after the option; found: none";
    if (rest.starts_with("At Most 1 "))
      return name.str() + ": required: the option once; found: several times; remove all but one";
  }
  return text.str() + "; run " + commandName(command) + " --help for the options";
}

} // namespace dlc::cli
