//===- OptionPass.h - base class of passes that read ModelOptions ---------===//
#ifndef DLC_PASSES_OPTIONPASS_H
#define DLC_PASSES_OPTIONPASS_H

#include "ir/dlc/Dialect.h"
#include "passes/Settings.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace dlc {

/// Wildcard for the `reads` parameter of OptionPass: the pass reads all settings.
constexpr llvm::StringLiteral kAllSettings = "*";

/// Parses the texts of the pass options and stores the values in the fields of `options`. Returns
/// an error message, or an empty string on success.
template <typename Texts, typename Options>
std::string parseOptionTexts(const Texts &texts, Options &options) {
  std::vector<Setting> settings = getModelSettings(options);
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

/// Base class of module passes that read the options of a compilation. In dlc-opt, the settings
/// that such a pass reads are pass options of the same names. `Derived` implements `LogicalResult
/// run(ModuleOp, const Options &)`.
template <typename Derived, typename Options = ModelOptions>
class OptionPass : public mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>> {
  using Base = mlir::PassWrapper<Derived, mlir::OperationPass<mlir::ModuleOp>>;

public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OptionPass)

  /// Parameters: `reads` has the names of the settings that become options of the pass, or
  /// kAllSettings. `given` has the default values.
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

  /// The dialect is loaded for every module, because a module without dlc operations may still
  /// refer to devices by attributes.
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    registry.insert<DlcDialect>();
  }

  void runOnOperation() final {
    Options options = given;
    if (std::string problem = parseOptionTexts(texts, options); !problem.empty()) {
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
    for (const Setting &setting : getModelSettings(some))
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
