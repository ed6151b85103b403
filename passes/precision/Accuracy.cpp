//===- Accuracy.cpp - what single operations may lose for speed -----------===//
#include "passes/OpNames.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

using namespace mlir;

namespace dlc {

namespace {

struct Rule {
  StringRef pattern, level;
  bool fits = false; ///< some operation
};

void apply(Operation *op, StringRef level, const ModelOptions &options) {
  op->setAttr("dlc.accuracy", StringAttr::get(op->getContext(), level));
  auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  if (level == "fast" && llvm::all_of(op->getOperandTypes(), isF32))
    op->setAttr(precision::kMathAttr, StringAttr::get(op->getContext(), "bf16"));
  // What --matmul-precision asks for by itself stays allowed.
  if (level != "fast" && options.accuracy == "fast" && options.matmulPrecision != "medium")
    op->removeAttr(precision::kMathAttr);
}

/// Writes PATTERN=strict|default|fast on the products of such names, as dlc.accuracy, which stands
/// above the level for all. The first pattern that fits counts; gradients go with what they are
/// gradients of.
struct AccuracyPass : OptionPass<AccuracyPass> {
  explicit AccuracyPass(const ModelOptions &options)
      : OptionPass("dlc-accuracy", "what single products may lose for speed",
                   {"accuracy", "matmul-precision"}, options) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    SmallVector<Rule> rules;
    for (const std::string &text : options.accuracyOf) {
      auto [pattern, level] = StringRef(text).rsplit('=');
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
      // Sums of integers must be exact, whatever their names.
      if (!op->hasAttr("dlc.accuracy"))
        apply(op, rule->level, options);
    });
    for (const Rule &rule : rules)
      if (!rule.fits)
        module.emitWarning("accuracy '")
            << rule.pattern << "=" << rule.level << "': no product or convolution is named so";
    return success();
  }
};

} // namespace

std::unique_ptr<Pass> createAccuracyPass(const ModelOptions &options) {
  return std::make_unique<AccuracyPass>(options);
}

} // namespace dlc
