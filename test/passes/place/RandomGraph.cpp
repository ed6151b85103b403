//===- RandomGraph.cpp - functions with random device annotations ---------===//
#include "test/passes/place/RandomGraph.h"

#include <random>
#include <vector>

namespace dlc::placetest {
namespace {

struct Value {
  std::string name;
  int size; ///< number of elements of the only dimension; 0 means a 0-d scalar
};

class Writer {
public:
  Writer(uint64_t seed, const GraphOptions &options) : random(seed), options(options) {}

  std::string run() {
    int arguments = 2 + below(3), states = options.state && below(2) ? 1 + below(2) : 0;
    for (int i = 0; i < arguments + states; ++i)
      addArgument(i, i >= arguments);
    for (int i = 0; i < options.operations; ++i)
      addOperation();
    int results = 1 + below(3);
    for (int i = 0; i < results; ++i) {
      // The last value is always a result.
      const Value &value = i == 0 ? values.back() : any();
      addResult(value, deviceAttribute(options.annotated / 2));
    }
    for (int i = 0; i < states; ++i)
      addResult(updateOf(values[size_t(arguments + i)]),
                "dlc.name = \"s" + std::to_string(arguments + i) + "\", dlc.state");
    return "func.func @main(" + header + ") -> (" + resultTypes + ") {\n" + body + "  return " +
           returned + " : " + returnedTypes + "\n}\n";
  }

private:
  int below(int limit) { return int(random() % uint64_t(limit)); }
  bool percent(int chance) { return below(100) < chance; }

  static std::string typeOf(int size) {
    return size ? "tensor<" + std::to_string(size) + "xf32>" : "tensor<f32>";
  }
  std::string deviceAttribute(int chance) {
    if (!percent(chance))
      return "";
    int device = below(options.devices);
    // The numbers of other kinds start at 0: cuda:0. Device cpu:0 is named cpu.
    std::string number = std::to_string(device - (options.kind == "cpu" ? 0 : 1));
    return "dlc.device = \"" + (device ? options.kind + ":" + number : std::string("cpu")) + "\"";
  }
  /// Returns the attributes in braces, or "" if there are none.
  static std::string braced(const std::string &attributes) {
    return attributes.empty() ? "" : " {" + attributes + "}";
  }
  static void join(std::string &list, const std::string &part) {
    list += (list.empty() ? "" : ", ") + part;
  }

  const Value &any() { return values[size_t(below(int(values.size())))]; }
  const Value &vector() {
    while (true)
      if (const Value &value = any(); value.size)
        return value;
  }
  Value like(int size) {
    for (int attempt = 0; attempt < 8; ++attempt)
      if (const Value &value = any(); value.size == size)
        return value;
    std::string name = fresh();
    body += "  " + name + " = dlc.constant dense<" + std::to_string(1 + below(9)) +
            ".25> : " + typeOf(size) + "\n";
    return {name, size};
  }

  std::string fresh() { return "%v" + std::to_string(next++); }

  void addArgument(int number, bool isState) {
    int size = 1 + below(9);
    std::string name = "%a" + std::to_string(number), attributes;
    if (isState)
      attributes = "dlc.name = \"s" + std::to_string(number) + "\", dlc.state";
    if (std::string device = deviceAttribute(options.annotated / 2); !device.empty())
      join(attributes, device);
    join(header, name + ": " + typeOf(size) + braced(attributes));
    values.push_back({name, size});
  }

  void addResult(const Value &value, const std::string &attributes) {
    join(resultTypes, typeOf(value.size) + braced(attributes));
    join(returned, value.name);
    join(returnedTypes, typeOf(value.size));
  }

  Value emit(const std::string &text, const std::vector<Value> &operands, int size,
             const std::string &attributes = {}) {
    Value result{fresh(), size};
    std::string names, types, all = attributes, device = deviceAttribute(options.annotated);
    for (const Value &operand : operands) {
      join(names, operand.name);
      join(types, typeOf(operand.size));
    }
    if (!device.empty())
      join(all, device);
    std::string line = text;
    line.replace(line.find('$'), 1, names);
    body += "  " + result.name + " = dlc." + line + braced(all) + " : (" + types + ") -> " +
            typeOf(size) + "\n";
    return result;
  }

  void addOperation() {
    const char *const unary[] = {"neg $", "relu $", "tanh $", "abs $"};
    const char *const binary[] = {"add $", "sub $", "mul $", "max $"};
    int kind = below(100);
    Value x = vector();
    if (kind < 25) {
      values.push_back(emit(unary[below(4)], {x}, x.size));
    } else if (kind < 60) {
      values.push_back(emit(binary[below(4)], {x, like(x.size)}, x.size));
    } else if (kind < 68) {
      values.push_back(emit("reduce max $ axes [0]", {x}, 0));
    } else if (kind < 76) {
      values.push_back(emit(binary[below(3)], {x, like(0)}, x.size));
    } else if (kind < 84 && x.size < 40) {
      Value y = vector();
      values.push_back(emit("concat 0 ($)", {x, y}, x.size + y.size));
    } else if (kind < 92 || !options.loops) {
      int size = 1 + below(x.size);
      values.push_back(emit("slice $ start [" + std::to_string(below(x.size - size + 1)) +
                                "] size [" + std::to_string(size) + "] stride [1]",
                            {x}, size));
    } else if (kind < 97) {
      addLoop(x, like(x.size));
    } else {
      addBranch(x, like(x.size));
    }
  }

  /// Adds a loop with a carried value and a captured one.
  void addLoop(const Value &x, const Value &outside) {
    Value result{fresh(), x.size};
    std::string type = typeOf(x.size), trip = fresh(), i = fresh(), carried = fresh(),
                inner = fresh(), half = fresh(), sum = fresh();
    body +=
        "  " + trip + " = dlc.constant dense<" + std::to_string(1 + below(3)) + "> : tensor<i64>\n";
    body += "  " + result.name + " = dlc.loop trip(" + trip + " : tensor<i64>) inits(" + x.name +
            " : " + type + ") -> (" + type + ") {\n  ^bb0(" + i + ": tensor<i64>, " + carried +
            ": " + type + "):\n    " + half + " = dlc.constant dense<0.5> : tensor<f32>\n    " +
            inner + " = dlc.mul " + carried + ", " + half + " : (" + type + ", tensor<f32>) -> " +
            type + "\n    " + sum + " = dlc.add " + inner + ", " + outside.name + " : (" + type +
            ", " + type + ") -> " + type + "\n    dlc.yield " + sum + " : " + type + "\n  }" +
            braced(deviceAttribute(options.annotated)) + "\n";
    values.push_back(result);
  }

  void addBranch(const Value &x, const Value &y) {
    Value result{fresh(), x.size};
    std::string type = typeOf(x.size), top = fresh(), zero = fresh(), condition = fresh(),
                twice = fresh();
    body += "  " + top + " = dlc.reduce max " + x.name + " axes [0] : (" + type +
            ") -> tensor<f32>\n  " + zero + " = dlc.constant dense<0.0> : tensor<f32>\n  " +
            condition + " = dlc.compare gt " + top + ", " + zero +
            " : (tensor<f32>, tensor<f32>) -> tensor<i1>\n";
    body += "  " + result.name + " = dlc.if " + condition + " : (tensor<i1>) -> " + type +
            " {\n    " + twice + " = dlc.add " + x.name + ", " + x.name + " : (" + type + ", " +
            type + ") -> " + type + "\n    dlc.yield " + twice + " : " + type +
            "\n  } else {\n    dlc.yield " + y.name + " : " + type + "\n  }" +
            braced(deviceAttribute(options.annotated)) + "\n";
    values.push_back(result);
  }

  /// Returns a new value for a state, computed from a random value and often from the state.
  Value updateOf(const Value &state) {
    if (percent(15))
      return state;
    Value other = like(state.size);
    return percent(50) ? emit("add $", {state, other}, state.size)
                       : emit("neg $", {other}, state.size);
  }

  std::mt19937_64 random;
  const GraphOptions &options;
  std::vector<Value> values;
  std::string header, body, resultTypes, returned, returnedTypes;
  int next = 0;
};

} // namespace

std::string randomGraph(uint64_t seed, const GraphOptions &options) {
  return Writer(seed, options).run();
}

} // namespace dlc::placetest
