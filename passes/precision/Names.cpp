//===- Names.cpp - precision of operations by name ------------------------===//
#include "passes/precision/Names.h"

#include "ir/dlc/Attributes.h"
#include "passes/OpNames.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace dlc::precision {

FloatType parseFloatType(StringRef word, MLIRContext *context) {
  if (word == "f32")
    return Float32Type::get(context);
  if (word == "bf16")
    return BFloat16Type::get(context);
  if (word == "f16")
    return Float16Type::get(context);
  return {};
}

std::optional<PrecisionOverrides>
PrecisionOverrides::parse(ArrayRef<std::string> texts, MLIRContext *context, std::string &wrong) {
  PrecisionOverrides overrides;
  for (const std::string &text : texts) {
    auto [pattern, word] = StringRef(text).rsplit('=');
    FloatType type = parseFloatType(word, context);
    if (pattern.empty() || !type) {
      wrong = text;
      return std::nullopt;
    }
    overrides.patterns.emplace_back(pattern.str(), type);
  }
  return overrides;
}

FloatType PrecisionOverrides::of(Operation *op) const {
  if (auto word = op->getAttrOfType<StringAttr>(kPrecisionAttr))
    return parseFloatType(word.getValue(), op->getContext());
  if (patterns.empty())
    return {};
  SmallVector<StringRef> names;
  collectLocationNames(op->getLoc(), names);
  if (names.empty())
    names.push_back("");
  for (const auto &[pattern, type] : patterns)
    if (llvm::any_of(names, [&, &pattern = pattern](StringRef name) {
          return matchesPattern(pattern, name);
        }))
      return type;
  return {};
}

} // namespace dlc::precision
