//===- OptionPass.h - a pass that is asked by the options of a compilation ===//
#ifndef DLC_PASSES_OPTIONPASS_H
#define DLC_PASSES_OPTIONPASS_H

#include "ir/dlc/Dialect.h"
#include "passes/Settings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace dlc {

/// Instead of names: all that there are.
constexpr llvm::StringLiteral kAllSettings = "*";

/// Sets what texts of an option each say. Returns what is wrong, else nothing.
template <typename Texts, typename Options>
std::string applyTexts(const Texts &texts, Options &options) {
  std::vector<Setting> settings = settingsOf(options);
  for (const auto &text : texts) {
    if (!text->hasValue())
      continue;
    const Setting &setting = *llvm::find_if(
        settings, [&](const Setting &each) { return each.name == text->getArgStr(); });
    std::vector<std::string> values((**text).begin(), (**text).end());
    if (values.empty())
      values.push_back("");
    for (const std::string &value : values)
      if (std::string problem = setting.set(value); !problem.empty())
        return problem;
  }
  return "";
}

/// A pass over modules, made with the options of a compilation. Those that it reads are its own
/// options in dlc-opt, by the same names. Derived has `LogicalResult run(ModuleOp, const Options
/// &)`.
template <typename Derived, typename Options = ModelOptions>
class OptionPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
  using Base = mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>>;

public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OptionPass)

  /// `reads`: names of settings.
  OptionPass(llvm::StringLiteral argument, llvm::StringLiteral description,
             std::initializer_list<llvm::StringRef> reads, const Options &given)
      : argument(argument), description(description), reads(reads), given(given) {
    declare();
  }
  OptionPass(const OptionPass &other)
      : Base(other), argument(other.argument), description(other.description), reads(other.reads),
        given(other.given) {
    declare();
  }

  llvm::StringRef getArgument() const final { return argument; }
  llvm::StringRef getDescription() const final { return description; }

  /// A module may be empty, and name devices none the less.
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<DlcDialect>();
  }

  void runOnOperation() final {
    Options options = given;
    if (std::string problem = applyTexts(texts, options); !problem.empty()) {
      this->getOperation().emitError(problem);
      return this->signalPassFailure();
    }
    if (llvm::failed(static_cast<Derived *>(this)->run(this->getOperation(), options)))
      this->signalPassFailure();
  }

private:
  using Text = typename Base::template ListOption<std::string>;

  void declare() {
    Options some;
    for (const Setting &setting : settingsOf(some))
      if (llvm::is_contained(reads, setting.name) || llvm::is_contained(reads, kAllSettings))
        texts.push_back(std::make_unique<Text>(*this, setting.name, llvm::cl::desc(setting.help)));
  }

  llvm::StringLiteral argument, description;
  std::vector<llvm::StringRef> reads;
  Options given;
  std::vector<std::unique_ptr<Text>> texts;
};

} // namespace dlc

#endif // DLC_PASSES_OPTIONPASS_H
