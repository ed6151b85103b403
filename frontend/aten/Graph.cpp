//===- Graph.cpp - parses the text of a graph -----------------------------===//
#include "frontend/aten/Graph.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc::aten {

namespace {

class GraphReader {
public:
  GraphReader(MLIRContext &context, StringRef source) : context(context), source(source) {}

  std::unique_ptr<Graph> read(StringRef text);

private:
  bool error(const Twine &message) {
    emitError(FileLineColLoc::get(&context, source, 0, 0)) << message;
    return false;
  }
  const llvm::json::Array *list(const llvm::json::Object &top, StringRef name);
  bool given(const llvm::json::Array &list, StringRef what, std::vector<GraphInput> &result);
  bool outputs(const llvm::json::Array &list, std::vector<GraphOutput> &result);

  MLIRContext &context;
  StringRef source;
  llvm::StringSet<> names;
};

const llvm::json::Array *GraphReader::list(const llvm::json::Object &top, StringRef name) {
  static const llvm::json::Array empty;
  const llvm::json::Value *value = top.get(name);
  if (value && value->getAsArray())
    return value->getAsArray();
  if (value)
    error("'" + name + "': required: a list");
  return value ? nullptr : &empty;
}

bool GraphReader::given(const llvm::json::Array &list, StringRef what,
                        std::vector<GraphInput> &result) {
  for (const llvm::json::Value &each : list) {
    const llvm::json::Array *fields = each.getAsArray();
    auto name = fields && fields->size() >= 2 ? (*fields)[0].getAsString() : std::nullopt;
    if (!name)
      return error(what + ": required: [name, [element type, [dimensions]]]");
    RankedTensorType type = parseTensorType((*fields)[1], &context);
    if (!type)
      return error(what + " '" + *name +
                   "': required: a supported element type and static dimensions");
    if (!names.insert(*name).second)
      return error(what + " '" + *name + "': required: a unique name; found: the name twice");
    const llvm::json::Array *elements = fields->size() > 2 ? (*fields)[2].getAsArray() : nullptr;
    result.push_back({name->str(), type, elements});
  }
  return true;
}

bool GraphReader::outputs(const llvm::json::Array &list, std::vector<GraphOutput> &result) {
  for (const llvm::json::Value &each : list) {
    const llvm::json::Array *fields = each.getAsArray();
    auto name = fields && fields->size() >= 2 ? (*fields)[0].getAsString() : std::nullopt;
    const llvm::json::Object *value = name ? (*fields)[1].getAsObject() : nullptr;
    auto of = value ? value->getString("of") : std::nullopt;
    int64_t at = value ? value->getInteger("at").value_or(0) : 0;
    bool isFree = of && fields->size() == 3 && (*fields)[2].getAsString() == "any";
    if (!of || at < 0 || (fields->size() > 2 && !isFree))
      return error("outputs: required: [name, {\"of\": node, \"at\": result}], followed by \"any\" "
                   "if any layout is allowed");
    result.push_back({name->str(), of->str(), size_t(at), isFree});
  }
  return true;
}

std::unique_ptr<Graph> GraphReader::read(StringRef text) {
  auto parsed = llvm::json::parse(text);
  if (!parsed) {
    error("is not valid JSON: " + llvm::toString(parsed.takeError()));
    return nullptr;
  }
  auto graph = std::make_unique<Graph>();
  graph->json = std::move(*parsed);
  const llvm::json::Object *top = graph->json.getAsObject();
  int64_t version = top ? top->getInteger("aten").value_or(0) : 0;
  if (version != Graph::version) {
    error("required: a graph of ATen operators in version " + Twine(Graph::version) +
          " (\"aten\": " + Twine(Graph::version) + "); found " +
          (version ? "version " + Twine(version) : Twine("something else")));
    return nullptr;
  }
  const llvm::json::Array *inputs = list(*top, "inputs"), *constants = list(*top, "constants"),
                          *nodes = list(*top, "nodes"), *out = list(*top, "outputs");
  if (!inputs || !constants || !nodes || !out || !given(*inputs, "input", graph->inputs) ||
      !given(*constants, "constant", graph->constants) || !outputs(*out, graph->outputs))
    return nullptr;
  if (auto seed = top->getInteger("seed"))
    graph->seed = uint64_t(*seed);
  for (const llvm::json::Value &each : *nodes) {
    const llvm::json::Object *node = each.getAsObject();
    auto name = node ? node->getString("name") : std::nullopt;
    if (!name || !node->getString("op") || !node->getArray("results")) {
      error("nodes: required: an object with 'name', 'op', 'args' and 'results'");
      return nullptr;
    }
    if (!names.insert(*name).second) {
      error("node '" + *name + "': required: a unique name; found: the name twice");
      return nullptr;
    }
    graph->nodes.push_back(node);
  }
  return graph;
}

} // namespace

std::unique_ptr<Graph> Graph::parse(MLIRContext &context, StringRef text, StringRef source) {
  return GraphReader(context, source).read(text);
}

std::string describeNode(const llvm::json::Object &node) {
  return ("node '" + node.getString("name").value_or("") + "' (" +
          node.getString("op").value_or("") + "): ")
      .str();
}

bool importNode(Build &b, const llvm::json::Object &json, Names &names) {
  StringRef name = *json.getString("name"), op = *json.getString("op");
  b.setNode(NameLoc::get(b.b.getStringAttr(json.getString("where").value_or(name))),
            describeNode(json));
  const Operator *found = findOperator(op);
  if (!found) {
    b.error("dlc has no such operator; rewrite the model without it, or leave it to PyTorch");
    return false;
  }
  Node node(b, json, names);
  found->handler(node, b);
  if (!node.check())
    return false;
  const llvm::json::Array *set = json.getArray("set");
  if (set && !node.checkReads(op, *set))
    return false;
  names[name.str()] = node.values();
  return true;
}

} // namespace dlc::aten
