//===- Node.cpp - reads a node's arguments and checks its results ---------===//
#include "frontend/aten/Node.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dlc::aten {

std::optional<double> parseNumber(const llvm::json::Value &value) {
  if (auto number = value.getAsNumber())
    return number;
  double number = 0;
  auto text = value.getAsString();
  if (!text || text->getAsDouble(number))
    return std::nullopt;
  return number;
}

RankedTensorType parseTensorType(const llvm::json::Value &value, MLIRContext *context) {
  const llvm::json::Array *pair = value.getAsArray();
  if (!pair || pair->size() != 2)
    return {};
  auto name = (*pair)[0].getAsString();
  const llvm::json::Array *sizes = (*pair)[1].getAsArray();
  Type element = name ? parseElementType(*name, context) : Type();
  if (!element || !sizes)
    return {};
  Dims shape;
  for (const llvm::json::Value &size : *sizes) {
    auto number = size.getAsInteger();
    if (!number || *number < 0)
      return {};
    shape.push_back(*number);
  }
  return RankedTensorType::get(shape, element);
}

Node::Node(Build &b, const llvm::json::Object &json, const Names &names) : b(b), names(names) {
  arguments = json.getObject("args");
  if (const llvm::json::Array *types = json.getArray("results"))
    for (const llvm::json::Value &type : *types)
      resultTypes.push_back(parseTensorType(type, b.context));
  results.resize(resultTypes.size());
}

//===--- Arguments -----------------------------------------------------------===//

const llvm::json::Value *Node::find(StringRef name) const {
  reads.insert(name);
  const llvm::json::Value *value = arguments ? arguments->get(name) : nullptr;
  return value && value->getAsNull() ? nullptr : value;
}

bool Node::wrong(StringRef name, StringRef required) {
  b.error("argument '" + name + "': required: " + required + "; found " +
          (find(name) ? "something else" : "nothing"));
  return false;
}

bool Node::has(StringRef name) const { return find(name); }

bool Node::isTensor(StringRef name) const {
  const llvm::json::Value *value = find(name);
  return value && value->getAsObject();
}

Value Node::named(const llvm::json::Object &reference, StringRef argument) {
  auto name = reference.getString("of");
  auto found = name ? names.find(*name) : names.end();
  size_t i = size_t(reference.getInteger("at").value_or(0));
  if (found == names.end() || i >= found->second.size() || !found->second[i])
    return b.error("argument '" + argument + "': required: the name of an earlier value; found: '" +
                   name.value_or("") + "'");
  return found->second[i];
}

Value Node::tensor(StringRef name) {
  const llvm::json::Value *value = find(name);
  if (!value)
    return {};
  if (const llvm::json::Object *reference = value->getAsObject())
    return named(*reference, name);
  wrong(name, "a tensor");
  return {};
}

std::vector<Value> Node::tensors(StringRef name) {
  std::vector<Value> result;
  const llvm::json::Value *value = find(name);
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  if (!list) {
    wrong(name, "a list of tensors");
    return result;
  }
  for (const llvm::json::Value &each : *list) {
    const llvm::json::Object *reference = each.getAsObject();
    if (!reference && !each.getAsNull())
      wrong(name, "a list of tensors");
    result.push_back(reference ? named(*reference, name) : Value());
  }
  return result;
}

Value Node::operand(StringRef name, Type element) {
  if (!element)
    return {};
  if (isTensor(name))
    return b.cast(tensor(name), element);
  const llvm::json::Value *value = find(name);
  if (!value) {
    wrong(name, "a tensor or a number");
    return {};
  }
  bool toFloat = isa<FloatType>(element);
  if (auto flag = value->getAsBoolean())
    return toFloat ? b.scalar(element, *flag) : b.scalarInt(element, *flag);
  if (auto whole = value->getAsInteger(); whole && !toFloat)
    return b.scalarInt(element, *whole);
  auto number = parseNumber(*value);
  if (!number) {
    wrong(name, "a tensor or a number");
    return {};
  }
  return b.scalar(element, *number);
}

int64_t Node::integer(StringRef name, std::optional<int64_t> otherwise) {
  const llvm::json::Value *value = find(name);
  if (!value && otherwise)
    return *otherwise;
  if (auto number = value ? value->getAsInteger() : std::nullopt)
    return *number;
  wrong(name, "an integer");
  return 0;
}

double Node::real(StringRef name, std::optional<double> otherwise) {
  const llvm::json::Value *value = find(name);
  if (!value && otherwise)
    return *otherwise;
  if (value && value->getAsBoolean())
    return *value->getAsBoolean();
  if (auto number = value ? parseNumber(*value) : std::nullopt)
    return *number;
  wrong(name, "a number");
  return 0;
}

bool Node::flag(StringRef name, bool otherwise) {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise;
  if (auto given = value->getAsBoolean())
    return *given;
  return wrong(name, "true or false");
}

std::string Node::text(StringRef name, StringRef otherwise) {
  const llvm::json::Value *value = find(name);
  if (!value)
    return otherwise.str();
  if (auto given = value->getAsString())
    return given->str();
  wrong(name, "a string");
  return "";
}

Dims Node::ints(StringRef name) {
  const llvm::json::Value *value = find(name);
  Dims result;
  if (!value)
    return result;
  if (auto number = value->getAsInteger())
    return {*number};
  const llvm::json::Array *list = value->getAsArray();
  if (!list)
    wrong(name, "integers");
  for (size_t i = 0; list && i < list->size(); ++i) {
    auto number = (*list)[i].getAsInteger();
    if (!number && !wrong(name, "constant integers"))
      return {};
    result.push_back(*number);
  }
  return result;
}

Dims Node::ints(StringRef name, int64_t number, std::optional<int64_t> otherwise) {
  Dims result = ints(name);
  if (result.empty() && otherwise)
    result = {*otherwise};
  if (result.size() == 1)
    result.resize(size_t(std::max<int64_t>(number, 0)), result[0]);
  if (int64_t(result.size()) != number) {
    wrong(name, "one integer for each dimension, or one for all");
    result.assign(size_t(std::max<int64_t>(number, 0)), 1);
  }
  return result;
}

std::vector<double> Node::reals(StringRef name) {
  const llvm::json::Value *value = find(name);
  std::vector<double> result;
  const llvm::json::Array *list = value ? value->getAsArray() : nullptr;
  for (size_t i = 0; list && i < list->size(); ++i) {
    auto number = parseNumber((*list)[i]);
    if (!number)
      wrong(name, "numbers");
    result.push_back(number.value_or(0));
  }
  return result;
}

int64_t Node::axis(StringRef name, int64_t rank) {
  return b.axis(integer(name), std::max<int64_t>(rank, 1), ("argument '" + name + "'").str());
}

Dims Node::axes(StringRef name, int64_t rank, bool emptyIsAll) {
  Dims given = ints(name), result;
  if (!has(name) || (given.empty() && emptyIsAll)) {
    for (int64_t i = 0; i < rank; ++i)
      result.push_back(i);
    return result;
  }
  for (int64_t a : given)
    result.push_back(b.axis(a, std::max<int64_t>(rank, 1), ("argument '" + name + "'").str()));
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  // Removes the only axis of a scalar: axis() accepts 0 for a scalar, but a scalar has no
  // dimension.
  if (rank == 0)
    result.clear();
  return result;
}

//===--- Results ---------------------------------------------------------------===//

RankedTensorType Node::result(size_t i) const {
  return i < resultTypes.size() ? resultTypes[i] : RankedTensorType();
}

void Node::set(size_t i, Value v) {
  if (i < results.size())
    results[i] = v;
}

void Node::setAll(ArrayRef<Value> values) {
  if (b.require(values.size() == resultTypes.size(),
                "required: the number of results as in PyTorch; found: " + Twine(values.size()) +
                    " instead of " + Twine(resultTypes.size())))
    for (auto [i, value] : llvm::enumerate(values))
      set(i, value);
}

bool Node::check() {
  for (size_t i = 0; b.ok() && i < resultTypes.size(); ++i) {
    if (!resultTypes[i])
      continue;
    if (!b.require(bool(results[i]), "result " + Twine(i) + " is not supported"))
      break;
    if (results[i].getType() == resultTypes[i])
      continue;
    std::string text;
    llvm::raw_string_ostream(text)
        << "result " << i << ": required, as in PyTorch: " << Type(resultTypes[i])
        << "; found: " << results[i].getType();
    b.error(text);
  }
  return b.ok();
}

} // namespace dlc::aten
