//===- Accuracy.cpp - what single operations may lose for speed -----------===//
#include "codegen/select/Accuracy.h"

#include "passes/OpNames.h"
#include "passes/precision/Classes.h"

using namespace mlir;

namespace dlc {

namespace {

/// On a product of f32: its operands may be rounded to this type (passes/precision).
constexpr llvm::StringLiteral kMath = "dlc.math";

struct Rule {
  StringRef pattern, level;
  bool fits = false; ///< some operation
};

void apply(Operation *op, StringRef level, const CompileOptions &given) {
  op->setAttr("dlc.accuracy", StringAttr::get(op->getContext(), level));
  auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  if (level == "fast" && llvm::all_of(op->getOperandTypes(), isF32))
    op->setAttr(kMath, StringAttr::get(op->getContext(), "bf16"));
  // What --matmul-precision asks for by itself stays allowed.
  if (level != "fast" && given.accuracy == "fast" && given.precision.matmul != "medium")
    op->removeAttr(kMath);
}

} // namespace

LogicalResult applyAccuracy(ModuleOp module, const CompileOptions &given) {
  SmallVector<Rule> rules;
  for (const std::string &text : given.accuracyOf) {
    auto [pattern, level] = StringRef(text).rsplit('=');
    if (pattern.empty() || !llvm::is_contained({"strict", "default", "fast"}, level))
      return module.emitError("accuracy '")
             << text << "': required: PATTERN=strict, default or fast";
    rules.push_back({pattern, level});
  }
  if (rules.empty())
    return success();
  module.walk([&](Operation *op) {
    if (precision::classOf(op) != NumericClass::Product)
      return;
    SmallVector<StringRef> names;
    namesIn(op->getLoc(), names);
    auto rule = llvm::find_if(rules, [&](const Rule &each) {
      return llvm::any_of(names,
                          [&](StringRef name) { return matchesPattern(each.pattern, name); });
    });
    if (rule == rules.end())
      return;
    rule->fits = true;
    apply(op, rule->level, given);
  });
  for (const Rule &rule : rules)
    if (!rule.fits)
      module.emitWarning("accuracy '")
          << rule.pattern << "=" << rule.level << "': no product or convolution is named so";
  return success();
}

} // namespace dlc
