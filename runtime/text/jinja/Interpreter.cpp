//===- Interpreter.cpp - executes the statements of chat templates -------------===//
#include "runtime/text/jinja/Interpreter.h"
#include "runtime/program/Message.h"

#include <algorithm>

namespace dlc::text::jinja {
namespace {

using Kind = Node::Kind;

} // namespace

Interpreter::Interpreter(TemplateLimits limits, const Dict &variables)
    : limits(limits), root(std::make_shared<Frame>()), frame(root) {
  for (const auto &[name, value] : variables.members())
    root->variables[name.bytes] = value;
}

Text Interpreter::run(const Node &node) {
  Text text;
  output = &text;
  execute(node);
  return text;
}

void Interpreter::charge(size_t count) {
  steps += count;
  if (steps > limits.steps)
    runtime::fail("the chat template takes too many steps: required: at most ", limits.steps,
                  "; shorten the conversation or the template");
}

void Interpreter::write(const Text &text) {
  charge(text.bytes.size() / 16);
  *output += text;
  if (output->bytes.size() > limits.outputBytes)
    runtime::fail("the chat template writes too much: required: at most ", limits.outputBytes,
                  " bytes; shorten the conversation or the template");
}

Text Interpreter::capture(const Node &block) {
  Text text;
  Text *outer = std::exchange(output, &text);
  execute(block);
  output = outer;
  return text;
}

Interpreter::Flow Interpreter::execute(const Node &node) {
  charge(1);
  Depth guard(depth, node.line);
  return located(node.line, [&] { return executeNode(node); });
}

Interpreter::Flow Interpreter::executeNode(const Node &node) {
  switch (node.kind) {
  case Kind::Block:
    for (const NodePtr &child : node.children)
      if (Flow flow = execute(*child); flow != Flow::Normal)
        return flow;
    return Flow::Normal;
  case Kind::Data:
    write(node.value.text());
    return Flow::Normal;
  case Kind::Print:
    write(toText(evaluate(*node.children[0])));
    return Flow::Normal;
  case Kind::If:
    for (size_t i = 0; i + 1 < node.children.size(); i += 2)
      if (truth(evaluate(*node.children[i])))
        return execute(*node.children[i + 1]);
    return node.children.size() % 2 ? execute(*node.children.back()) : Flow::Normal;
  case Kind::For:
    return executeFor(node);
  case Kind::Break:
    return Flow::Break;
  case Kind::Continue:
    return Flow::Continue;
  case Kind::Macro:
    frame->variables[node.name] = Value::macro(&node);
    return Flow::Normal;
  case Kind::CallBlock:
    executeCall(node);
    return Flow::Normal;
  case Kind::FilterBlock: {
    openFrame();
    Value text = capture(*node.children[0]);
    frame = frame->parent;
    write(toText(applyFilters(node.children[1].get(), text)));
    return Flow::Normal;
  }
  default:
    executeSet(node);
    return Flow::Normal;
  }
}

void Interpreter::bind(const std::vector<std::string> &names, const Value &value, int line,
                       bool unpack) {
  if (names.size() == 1 && !unpack) {
    frame->variables[names[0]] = value;
    return;
  }
  List values = elements(value);
  if (values.size() != names.size())
    failAt(line, "the number of values differs from that of the variables: required: " +
                     std::to_string(names.size()) + "; found: " + std::to_string(values.size()) +
                     "; change the variables");
  for (size_t i = 0; i < names.size(); ++i)
    frame->variables[names[i]] = values[i];
}

List Interpreter::selected(const Node &loop) {
  List all = elements(evaluate(*loop.children[0]));
  charge(all.size());
  if (!loop.children[1])
    return all;
  List result;
  for (const Value &each : all) {
    openFrame();
    bind(loop.names, each, loop.line, loop.unpack);
    if (truth(evaluate(*loop.children[1])))
      result.push_back(each);
    frame = frame->parent;
  }
  return result;
}

Interpreter::Flow Interpreter::executeFor(const Node &node) {
  List list = selected(node);
  auto count = static_cast<int64_t>(list.size());
  for (int64_t i = 0; i < count; ++i) {
    Dict loop;
    // Recursive loops, which have other depths, are not supported.
    loop.set("depth0", int64_t(0));
    loop.set("depth", int64_t(1));
    loop.set("index0", i);
    loop.set("index", i + 1);
    loop.set("revindex0", count - i - 1);
    loop.set("revindex", count - i);
    loop.set("first", i == 0);
    loop.set("last", i + 1 == count);
    loop.set("length", count);
    auto at = static_cast<size_t>(i);
    loop.set("previtem", i > 0 ? list[at - 1] : Value::undefined("loop.previtem"));
    loop.set("nextitem", i + 1 < count ? list[at + 1] : Value::undefined("loop.nextitem"));
    openFrame();
    frame->variables["loop"] = std::move(loop);
    bind(node.names, list[at], node.line, node.unpack);
    Flow flow = execute(*node.children[2]);
    frame = frame->parent;
    if (flow == Flow::Break)
      break;
  }
  if (count == 0 && node.children[3])
    return execute(*node.children[3]);
  return Flow::Normal;
}

void Interpreter::executeSet(const Node &node) {
  if (node.kind == Kind::SetBlock) {
    openFrame();
    Value text = capture(*node.children[0]);
    frame = frame->parent;
    frame->variables[node.names[0]] = applyFilters(node.children[1].get(), text);
    return;
  }
  Value value = evaluate(*node.children[0]);
  if (node.kind == Kind::Set)
    return bind(node.names, value, node.line);
  Value object = lookUp(node.name);
  if (!object.is(Value::Kind::Namespace))
    failAt(node.line, std::string("members can be set only in a namespace; found: ") +
                          kindName(object) + "; create it with 'namespace()'");
  if (value.depth() > 64)
    failAt(node.line, "a namespace cannot be stored in a namespace; store its members instead");
  object.members().set(Text(node.names[0]), value);
}

Value Interpreter::applyFilters(const Node *filters, Value operand) {
  if (!filters)
    return operand;
  // The innermost filter has no operand in the tree.
  Value outer = std::exchange(filterOperand, std::move(operand));
  Value result = evaluate(*filters);
  filterOperand = std::move(outer);
  return result;
}

void Interpreter::executeCall(const Node &node) {
  // A shared pointer to the frame would form a cycle if the template stores the function.
  std::weak_ptr<Frame> definition = frame;
  Value caller = Function([this, &node, definition](Call &call) {
    std::shared_ptr<Frame> parent = definition.lock();
    if (!parent)
      failAt(call.node.line, "'caller' is called after its call block; call it in the macro");
    return runMacro(node, call, parent);
  });
  const Node &target = *node.children[0];
  Call call = arguments(target, 1);
  call.named.emplace_back("caller", caller);
  Value callee = evaluate(*target.children[0]);
  if (!callee.is(Value::Kind::Macro))
    failAt(node.line, "required: a macro after 'call'; found: " + std::string(kindName(callee)) +
                          "; define it before the call");
  write(toText(runMacro(*callee.macro(), call, root)));
}

Value Interpreter::runMacro(const Node &macro, Call &call, std::shared_ptr<Frame> parent) {
  Depth guard(depth, macro.line);
  std::shared_ptr<Frame> outer =
      std::exchange(frame, std::make_shared<Frame>(Frame{{}, std::move(parent)}));
  if (call.arguments.size() > macro.names.size())
    failAt(call.node.line,
           "too many arguments: required: at most " + std::to_string(macro.names.size()) +
               "; found: " + std::to_string(call.arguments.size()) + "; remove arguments");
  for (const auto &[name, value] : call.named)
    if (name != "caller" &&
        std::find(macro.names.begin(), macro.names.end(), name) == macro.names.end())
      failAt(call.node.line, "unknown argument '" + name + "'; use a parameter of the macro");
  for (size_t i = 0; i < macro.names.size(); ++i) {
    const std::string &name = macro.names[i];
    auto byName = [&](const auto &each) { return each.first == name; };
    auto given = std::find_if(call.named.begin(), call.named.end(), byName);
    auto otherwise = std::find_if(macro.named.begin(), macro.named.end(), byName);
    frame->variables[name] = i < call.arguments.size()        ? call.arguments[i]
                             : given != call.named.end()      ? given->second
                             : otherwise != macro.named.end() ? evaluate(*otherwise->second)
                                                              : Value::undefined(name);
  }
  for (const auto &[name, value] : call.named)
    if (name == "caller")
      frame->variables[name] = value;
  // The body is the last child of a macro and of a call block.
  Value result = capture(*macro.children.back());
  frame = outer;
  return result;
}

} // namespace dlc::text::jinja
