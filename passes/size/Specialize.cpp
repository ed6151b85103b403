//===- Specialize.cpp - static programs from programs with symbols -----------===//
#include "passes/size/Specialize.h"

#include "ir/dlc/Shape.h"
#include "ir/dlc/Sizes.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "runtime/size/Evaluate.h"
#include "runtime/size/Symbol.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace dlc {
namespace {

class Specializer {
public:
  Specializer(ModuleOp module, const SizeValues &values) : module(module), values(values) {}

  LogicalResult run() {
    if (failed(collectSymbols()) || failed(checkValues()))
      return failure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](size::ExprAttr expr) -> std::optional<Attribute> {
      return size::ExprAttr::fromSize(expr.getContext(), replace(expr.getSize()));
    });
    replacer.addReplacement(
        [&](RankedTensorType type) -> std::optional<std::pair<Type, WalkResult>> {
          if (!isa_and_nonnull<size::DimsAttr>(type.getEncoding()))
            return std::nullopt;
          SmallVector<Dim, 6> dims = TensorShape(type).dims();
          for (Dim &dim : dims)
            dim = Dim(replace(dim.get()));
          // The encoding was replaced with its tensor.
          return std::pair(Type(makeTensorType(dims, type.getElementType(), getPlace(type))),
                           WalkResult::skip());
        });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    if (!problem.empty())
      return module.emitError() << problem;
    replaceSizeOps();
    return success();
  }

private:
  LogicalResult collectSymbols() {
    AttrTypeWalker walker;
    SmallVector<size::SymbolAttr> found;
    walker.addWalk([&](size::SymbolAttr symbol) { found.push_back(symbol); });
    module->walk([&](Operation *op) {
      walker.walk(op->getAttrDictionary());
      for (Type type : op->getResultTypes())
        walker.walk(type);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            walker.walk(type);
    });
    for (size::SymbolAttr symbol : found) {
      auto [at, isNew] = symbols.try_emplace(symbol.getName().str(), symbol);
      if (!isNew && at->second != symbol)
        return module.emitError() << "required: one range per symbol; found: " << at->second
                                  << " and " << symbol << "; rename one of the symbols";
    }
    return success();
  }

  LogicalResult checkValues() {
    for (const auto &[name, value] : values) {
      auto symbol = symbols.find(name);
      if (symbol == symbols.end()) {
        std::string names = llvm::join(llvm::make_first_range(symbols), ", ");
        return module.emitError() << "required: a symbol of the module ("
                                  << (names.empty() ? "it has none" : names) << "); found: '"
                                  << name << "'; correct the name";
      }
      std::string error = size::checkValue(*symbol->second.getSymbol(), value);
      if (!error.empty())
        return module.emitError() << error;
    }
    return success();
  }

  /// Returns the size with values for symbols, or 0 after a problem was found.
  size::Size replace(const size::Size &size) {
    size::Size result =
        size::substitute(size, [&](const size::Symbol &symbol) -> std::optional<size::Size> {
          auto value = values.find(symbol.name);
          return value == values.end() ? std::nullopt : std::optional(size::Size(value->second));
        });
    const std::optional<size::Rational> number = result.rational();
    if (result.isValid() && (!number || (number->isInteger() && number->sign() >= 0)))
      return result;
    if (problem.empty())
      problem = "required: sizes of 0 or more; found: " +
                (result.isValid() ? Dim(result).text() : std::string(result.reason())) +
                " for the size '" + Dim(size).text() + "'; use other sizes";
    return 0;
  }

  void replaceSizeOps() {
    module->walk([](SizeOp op) {
      SmallVector<Value, 1> number;
      if (failed(OpBuilder(op).tryFold(op, number)))
        return;
      op->replaceAllUsesWith(number);
      op.erase();
    });
  }

  ModuleOp module;
  const SizeValues &values;
  std::map<std::string, size::SymbolAttr> symbols;
  std::string problem;
};

struct SpecializePass : PassWrapper<SpecializePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SpecializePass)

  SpecializePass() = default;
  SpecializePass(const SpecializePass &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "dlc-specialize"; }
  StringRef getDescription() const final { return "replace symbols of sizes by values"; }

  void runOnOperation() override {
    SizeValues values;
    for (const std::string &text : sizes) {
      auto [name, number] = StringRef(text).split('=');
      int64_t value = 0;
      if (number.getAsInteger(10, value)) {
        getOperation().emitError()
            << "required: NAME=SIZE; found: '" << text << "'; write for example batch=4";
        return signalPassFailure();
      }
      if (!values.emplace(name.str(), value).second) {
        getOperation().emitError() << "required: one size per symbol; found: a second size of '"
                                   << name << "' in '" << text << "'; remove one of them";
        return signalPassFailure();
      }
    }
    if (failed(specializeSizes(getOperation(), values)))
      signalPassFailure();
  }

  ListOption<std::string> sizes{*this, "sizes",
                                llvm::cl::desc("values of symbols, such as batch=4,length=128")};
};

} // namespace

LogicalResult specializeSizes(ModuleOp module, const SizeValues &values) {
  return Specializer(module, values).run();
}

std::unique_ptr<Pass> createSpecializePass() { return std::make_unique<SpecializePass>(); }

} // namespace dlc
