//===- Mutations.cpp - checks that each wait, record and copy is necessary ----===//
//
//   dlc_stream_mutations model.dlcx
//
// Removes each wait, each record and each copy between devices from the program, one at a time.
// Also moves each copy that precedes a loop into the loop's body, on the copy's stream and on the
// loop's. Each mutation must be detected: when the program is loaded, by its results in some order
// of its streams, or by the number of copies in a run.
//
//===---------------------------------------------------------------------------===//
#include "runtime/program/Checker.h"
#include "runtime/program/Reader.h"
#include "runtime/session/Session.h"
#include "runtime/session/state/State.h"

#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <unistd.h>

using namespace dlc::runtime;
using Bytes = std::vector<std::vector<char>>;

namespace {

/// Returns random floats near 0. Other types are filled with 0, which is always a valid index.
std::vector<char> someValue(const TensorInfo &info, const Program &program, std::mt19937 &random) {
  std::vector<char> bytes(info.bytes);
  if (info.value >= 0) {
    std::memcpy(bytes.data(), program.constants[size_t(info.value)].data, info.bytes);
  } else if (info.dtype == dlc::DType::F32) {
    std::uniform_real_distribution<float> values(-1, 1);
    for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
      float value = values(random);
      std::memcpy(bytes.data() + i, &value, 4);
    }
  }
  return bytes;
}

/// Returns outputs and state after two runs of a new session. If `copies` is not null, it gets the
/// number of copies.
Bytes resultsOf(const std::shared_ptr<const Program> &program, const std::string &order,
                size_t *copies = nullptr) {
  SessionOptions options;
  options.streamOrder = order;
  Session session(program, options);
  const Plan &plan = session.plan();
  std::mt19937 random(7);
  Bytes inputs, results;
  std::vector<const void *> from;
  std::vector<void *> to;
  for (const TensorInfo &info : plan.inputs)
    inputs.push_back(someValue(info, *program, random));
  for (const std::vector<char> &input : inputs)
    from.push_back(input.data());
  for (const TensorInfo &info : plan.outputs)
    results.emplace_back(info.bytes);
  for (std::vector<char> &result : results)
    to.push_back(result.data());
  session.setTrace(copies != nullptr);
  for (int round = 0; round < 2; ++round)
    session.run(from, to);
  if (copies) {
    const std::vector<CommandInfo> commands = session.commands();
    *copies = 0;
    for (const TraceEvent &event : session.takeTrace())
      *copies += commands[event.command].op == "copy";
  }
  for (size_t i = 0; i < plan.states.size(); ++i) {
    results.emplace_back(plan.states[i].bytes);
    session.states().get(i, results.back().data());
  }
  return results;
}

std::string deviceOf(const nlohmann::json &manifest, const nlohmann::json &buffer) {
  return manifest["buffers"][buffer.get<size_t>()].value("device", "cpu");
}

bool isTarget(const nlohmann::json &manifest, const nlohmann::json &command) {
  if (command["op"] == "copy")
    return deviceOf(manifest, command["from"]) != deviceOf(manifest, command["to"]);
  return command["op"] == "wait" || command["op"] == "record";
}

std::vector<std::string> orders(const Program &program) {
  std::vector<std::string> list{""};
  for (size_t s = 0; s < program.manifest.value("streams", nlohmann::json::array()).size(); ++s)
    list.push_back("late:" + std::to_string(s));
  for (int seed = 0; seed < 3; ++seed)
    list.push_back("random:" + std::to_string(seed));
  return list;
}

/// Returns how the mutation is detected, or "" if it is not.
std::string missed(const Program &program, const Bytes &expected, size_t expectedCopies) {
  try {
    checkProgram(program);
  } catch (const dlc::Error &error) {
    return "refused";
  }
  auto shared = std::make_shared<const Program>(program);
  size_t copies = 0;
  for (const std::string &order : orders(program)) {
    try {
      if (resultsOf(shared, order, &copies) != expected)
        return "differs";
    } catch (const dlc::Error &error) {
      return "fails";
    }
  }
  return copies != expectedCopies ? "copies more" : "";
}

/// Returns the programs with the copy moved into each later loop, on the copy's own stream and on
/// the loop's.
std::vector<Program> unhoisted(const Program &program, size_t copy) {
  std::vector<Program> all;
  const nlohmann::json commands = program.manifest["commands"];
  for (size_t i = copy + 1; i < commands.size(); ++i) {
    if (commands[i]["op"] != "loop")
      continue;
    for (bool onOwn : {true, false}) {
      Program other = program;
      nlohmann::json &list = other.manifest["commands"], moved = list[copy];
      if (!onOwn && commands[i].contains("stream"))
        moved["stream"] = commands[i]["stream"];
      else if (!onOwn)
        moved.erase("stream");
      nlohmann::json &body = list[i]["body"];
      body.insert(body.begin(), moved);
      list.erase(copy);
      all.push_back(std::move(other));
    }
  }
  return all;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2)
    return std::fprintf(stderr, "usage: dlc_stream_mutations model.dlcx\n"), 2;
  // A loop whose trip count was lost may never end.
  alarm(120);
  try {
    Program program = readProgram(argv[1]);
    size_t copies = 0;
    Bytes expected = resultsOf(std::make_shared<const Program>(program), "", &copies);
    for (const std::string &order : orders(program))
      if (resultsOf(std::make_shared<const Program>(program), order) != expected)
        return std::printf("the whole program differs in the order '%s'\n", order.c_str()), 1;
    std::map<std::string, std::map<std::string, int>> found;
    int kept = 0;
    const nlohmann::json commands = program.manifest["commands"];
    for (size_t i = 0; i < commands.size(); ++i) {
      if (!isTarget(program.manifest, commands[i]))
        continue;
      Program without = program;
      without.manifest["commands"].erase(i);
      auto judge = [&](const std::string &what, const Program &mutant) {
        std::string how = missed(mutant, expected, copies);
        if (how.empty())
          ++kept, std::printf("not detected: removed %s %zu: %s\n", what.c_str(), i,
                              commands[i].dump().c_str());
        else
          ++found[what][how];
      };
      judge(commands[i]["op"], without);
      if (commands[i]["op"] == "copy")
        for (const Program &other : unhoisted(program, i))
          judge("hoisting", other);
    }
    for (const auto &[op, ways] : found)
      for (const auto &[how, count] : ways)
        std::printf("%s: %d %s\n", op.c_str(), count, how.c_str());
    std::printf("%d not missed\n", kept);
    return kept ? 1 : 0;
  } catch (const std::exception &error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
  }
}
