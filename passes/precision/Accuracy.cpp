//===- Accuracy.cpp - accuracy levels of operations by name ---------------===//
#include "ir/dlc/Attributes.h"
#include "passes/ConstantRewrites.h"
#include "passes/OpNames.h"
#include "passes/OptionPass.h"
#include "passes/Passes.h"
#include "passes/precision/Classes.h"
#include "passes/precision/Names.h"

using namespace mlir;

namespace dlc {

namespace {

struct AccuracyRule {
  StringRef pattern, level;
  bool fits = false; ///< whether any operation's name matched the pattern
};

/// Sets the attribute of a matmul, convolution or attention that permits rounding of its operands,
/// according to the accuracy level.
void setMathMode(Operation *op, StringRef level, const ModelOptions &options) {
  auto isF32 = [](Type type) { return getElementTypeOrSelf(type).isF32(); };
  if (level == "fast" && llvm::all_of(op->getOperandTypes(), isF32))
    op->setAttr(kMathAttr, StringAttr::get(op->getContext(), "bf16"));
  // A level other than "fast" removes the rounding that the option accuracy=fast permitted, but not
  // the rounding that --matmul-precision permits by itself.
  if (level != "fast" && options.accuracy == "fast" && options.matmulPrecision != "medium")
    op->removeAttr(kMathAttr);
}

/// Sets `dlc.accuracy` on the module if its level is strict, and on the matmuls, convolutions and
/// attention whose names match PATTERN=strict|default|fast, which takes precedence. The first
/// matching pattern applies. A gradient has the name of the operation that it differentiates. With
/// `beforeSimplify`, only these attributes are set, for the rewrites of later passes.
struct AccuracyPass : OptionPass<AccuracyPass> {
  AccuracyPass(const ModelOptions &options, bool beforeSimplify)
      : OptionPass("dlc-accuracy", "sets the accuracy of each matmul and convolution",
                   {"accuracy", "matmul-precision"}, options),
        beforeSimplify(beforeSimplify) {}

  LogicalResult run(ModuleOp module, const ModelOptions &options) {
    setAccuracy(module, options.accuracy);
    SmallVector<AccuracyRule> rules;
    for (const std::string &text : options.accuracyOf) {
      auto [pattern, level] = StringRef(text).rsplit('=');
      rules.push_back({pattern, level});
    }
    if (rules.empty())
      return success();
    module.walk([&](Operation *op) {
      if (precision::classOf(op) == NumericClass::Product)
        apply(op, rules, options);
    });
    for (const AccuracyRule &rule : rules)
      if (!rule.fits && !beforeSimplify)
        module.emitWarning("accuracy '") << rule.pattern << "=" << rule.level
                                         << "': no matmul or convolution has a name that matches";
    return success();
  }

private:
  void apply(Operation *product, MutableArrayRef<AccuracyRule> rules,
             const ModelOptions &options) const {
    SmallVector<StringRef> names;
    collectLocationNames(product->getLoc(), names);
    auto rule = llvm::find_if(rules, [&](const AccuracyRule &each) {
      return llvm::any_of(names,
                          [&](StringRef name) { return matchesPattern(each.pattern, name); });
    });
    if (rule == rules.end())
      return;
    rule->fits = true;
    auto level = StringAttr::get(product->getContext(), rule->level);
    // An accuracy level that is already set, as for integer matmuls that must be exact, is not
    // overridden by name.
    if (Attribute own = product->getAttr(kAccuracyAttr); own && own != level)
      return;
    product->setAttr(kAccuracyAttr, level);
    if (!beforeSimplify)
      setMathMode(product, rule->level, options);
  }

  bool beforeSimplify;
};

} // namespace

std::unique_ptr<Pass> createAccuracyPass(const ModelOptions &options, bool beforeSimplify) {
  return std::make_unique<AccuracyPass>(options, beforeSimplify);
}

} // namespace dlc
