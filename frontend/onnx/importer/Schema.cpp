//===- Schema.cpp - reads the table of operator schemas -------------------===//
#include "frontend/onnx/importer/Schema.h"

#include "frontend/onnx/file/ModelFile.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc::onnxfront {
namespace {

/// One line of Schemas.inc: a version of an operator's schema in text form.
struct Row {
  const char *domain, *name;
  int64_t since;
  bool isRemoved;
  const char *attributes, *inputs, *outputs, *types;
};

constexpr Row rows[] = {
#define ONNX_IR_VERSION(version)
#define ONNX_SCHEMA(domain, name, since, attributes, inputs, outputs, types)                       \
  {domain, name, since, false, attributes, inputs, outputs, types},
#define ONNX_REMOVED(domain, name, since) {domain, name, since, true, "", "", "", ""},
#include "frontend/onnx/importer/Schemas.inc"
#undef ONNX_REMOVED
#undef ONNX_SCHEMA
#undef ONNX_IR_VERSION
};

SmallVector<StringRef> splitWords(StringRef text) {
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, false);
  return words;
}

std::vector<AttributeRule> parseAttributes(StringRef text) {
  std::vector<AttributeRule> result;
  for (StringRef word : splitWords(text)) {
    AttributeRule rule;
    rule.isRequired = word.consume_back("!");
    StringRef type;
    std::tie(rule.name, type) = word.split(':');
    onnx::AttributeProto::AttributeType_Parse(type.str(), &rule.type);
    result.push_back(rule);
  }
  return result;
}

std::vector<FormalParameter> parseParameters(StringRef text,
                                             const llvm::StringMap<TypeMask> &types) {
  std::vector<FormalParameter> result;
  for (StringRef word : splitWords(text)) {
    FormalParameter parameter;
    StringRef type;
    std::tie(parameter.name, type) = word.split(':');
    if (type.consume_back("?"))
      parameter.kind = FormalParameter::Optional;
    if (size_t at = type.find_first_of("*~"); at != StringRef::npos) {
      parameter.kind = FormalParameter::Variadic;
      parameter.isHomogeneous = type[at] == '*';
      type.drop_front(at + 1).getAsInteger(10, parameter.minimum);
      type = type.take_front(at);
    }
    parameter.type = type;
    parameter.types = types.lookup(type);
    result.push_back(parameter);
  }
  return result;
}

Schema parseSchema(const Row &row) {
  llvm::StringMap<TypeMask> types;
  for (StringRef word : splitWords(row.types)) {
    auto [name, mask] = word.split('=');
    mask.getAsInteger(16, types[name]);
  }
  return {row.domain,
          row.name,
          row.since,
          row.isRemoved,
          parseAttributes(row.attributes),
          parseParameters(row.inputs, types),
          parseParameters(row.outputs, types)};
}

struct SchemaTable {
  llvm::StringMap<std::vector<Schema>> versions;
  llvm::StringSet<> domains;

  SchemaTable() {
    for (const Row &row : rows) {
      versions[fullName(row.domain, row.name)].push_back(parseSchema(row));
      domains.insert(row.domain);
    }
    for (auto &entry : versions)
      llvm::sort(entry.second, [](const Schema &a, const Schema &c) { return a.since < c.since; });
  }
};

const SchemaTable &schemaTable() {
  static const SchemaTable table;
  return table;
}

} // namespace

std::string fullName(StringRef domain, StringRef name) {
  return ((domain.empty() ? "ai.onnx" : domain) + "." + name).str();
}

ArrayRef<Schema> findSchemas(StringRef domain, StringRef name) {
  auto it = schemaTable().versions.find(fullName(domain, name));
  return it == schemaTable().versions.end() ? ArrayRef<Schema>() : ArrayRef<Schema>(it->second);
}

const Schema *findSchemaForOpset(ArrayRef<Schema> versions, int64_t opset) {
  const Schema *found = nullptr;
  for (const Schema &version : versions)
    if (version.since <= opset)
      found = &version;
  return found;
}

bool hasSchemas(StringRef domain) { return schemaTable().domains.contains(domain); }

int64_t newestIrVersion() {
#define ONNX_IR_VERSION(version) return version;
#define ONNX_SCHEMA(domain, name, since, attributes, inputs, outputs, types)
#define ONNX_REMOVED(domain, name, since)
#include "frontend/onnx/importer/Schemas.inc"
#undef ONNX_REMOVED
#undef ONNX_SCHEMA
#undef ONNX_IR_VERSION
}

TypeMask getTypeMask(Type element) {
  TypeMask result = 0;
  for (int32_t type = 1; type < 32; ++type) {
    Type represented = toElementType(type, element.getContext());
    if (toSmallFloat(type))
      represented = Float32Type::get(element.getContext());
    if (represented == element)
      result |= TypeMask(1) << type;
  }
  return result;
}

std::string typeNames(TypeMask types) {
  std::string result;
  auto add = [&](StringRef name) { result += (result.empty() ? "" : ", ") + name.lower(); };
  for (int32_t type = 1; type < 32; ++type)
    if (types >> type & 1)
      add(dataTypeName(type));
  if (types & sequenceType)
    add("sequence");
  if (types & mapType)
    add("map");
  return result;
}

} // namespace dlc::onnxfront
