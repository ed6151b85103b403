//===- Import.cpp - imports StableHLO modules as dlc modules --------------------===//
#include "frontend/mlir/stablehlo/Import.h"

#include "frontend/mlir/stablehlo/Importer.h"
#include "frontend/mlir/stablehlo/dialect/Attributes.h"
#include "ir/dlc/Attributes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dlc {
namespace stablehlo {
namespace {

/// Returns the function to import: @main, or else the only public function. Returns null if there
/// is neither.
func::FuncOp findEntryFunction(ModuleOp module) {
  if (auto main = module.lookupSymbol<func::FuncOp>("main"))
    return main;
  func::FuncOp found;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isPrivate())
      continue;
    if (found)
      return {};
    found = function;
  }
  return found;
}

/// Makes the names of arguments or results unique. A missing name becomes `fallback` plus the
/// position.
class UniqueNames {
public:
  explicit UniqueNames(StringRef fallback) : fallback(fallback) {}
  std::string next(StringRef wanted) {
    std::string name = wanted.empty() ? fallback + std::to_string(count) : wanted.str();
    ++count;
    for (int64_t i = 1; !used.insert(name).second; ++i)
      name = wanted.str() + "_" + std::to_string(i);
    return name;
  }

private:
  std::string fallback;
  llvm::StringSet<> used;
  int64_t count = 0;
};

/// Returns the first string among the attributes; an empty string if there is none.
StringRef firstString(ArrayRef<Attribute> attributes) {
  for (Attribute each : attributes)
    if (auto text = dyn_cast_or_null<StringAttr>(each))
      return text.getValue();
  return {};
}

/// Returns the name of argument i, from an attribute (dlc.name or jax.arg_info) or from the
/// argument's location, where JAX stores it. Empty if there is none.
StringRef getArgumentName(func::FuncOp function, unsigned i) {
  StringRef given =
      firstString({function.getArgAttr(i, kNameAttr), function.getArgAttr(i, "jax.arg_info")});
  if (!given.empty())
    return given;
  auto loc = dyn_cast<NameLoc>(function.getArgument(i).getLoc());
  return loc ? loc.getName().getValue() : StringRef();
}

/// Creates @main with the argument types and the argument names of a function.
func::FuncOp createMain(OpBuilder &builder, func::FuncOp function) {
  auto type = builder.getFunctionType(function.getArgumentTypes(), {});
  auto main = func::FuncOp::create(builder, function.getLoc(), "main", type);
  main.addEntryBlock();
  UniqueNames names("input");
  for (unsigned i = 0; i < main.getNumArguments(); ++i)
    main.setArgAttr(i, kNameAttr, builder.getStringAttr(names.next(getArgumentName(function, i))));
  return main;
}

void nameResults(func::FuncOp main, func::FuncOp function) {
  UniqueNames names("output");
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    StringRef given = firstString(
        {function.getResultAttr(i, kNameAttr), function.getResultAttr(i, "jax.result_info")});
    main.setResultAttr(i, kNameAttr, StringAttr::get(main.getContext(), names.next(given)));
  }
}

} // namespace
} // namespace stablehlo

void registerStablehloDialects(DialectRegistry &registry) { stablehlo::registerDialects(registry); }

bool isStablehlo(ModuleOp module) {
  auto found = module.walk([](Operation *op) {
    StringRef dialect = op->getName().getDialectNamespace();
    return dialect == "stablehlo" || dialect == "chlo" ? WalkResult::interrupt()
                                                       : WalkResult::advance();
  });
  return found.wasInterrupted();
}

FailureOr<OwningOpRef<ModuleOp>> importStablehlo(ModuleOp module) {
  func::FuncOp function = stablehlo::findEntryFunction(module);
  if (!function || function.isExternal())
    return module.emitError("required: a function @main, or one public function, with a body; "
                            "found none; name the function to import @main");
  MLIRContext *context = module.getContext();
  context->loadDialect<DlcDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> result = ModuleOp::create(module.getLoc());
  OpBuilder builder(result->getBodyRegion());
  func::FuncOp main = stablehlo::createMain(builder, function);
  Block *entry = &main.getBody().front();
  frontend::Build b(context, entry);
  b.setNode(function.getLoc(), "");
  stablehlo::Importer importer(b, module);
  stablehlo::Values arguments(entry->args_begin(), entry->args_end()), results;
  if (!importer.call(function.getSymName(), arguments, results))
    return failure();
  func::ReturnOp::create(b.b, main.getLoc(), results);
  SmallVector<Type> types = llvm::map_to_vector(results, [](Value v) { return v.getType(); });
  main.setFunctionType(builder.getFunctionType(entry->getArgumentTypes(), types));
  stablehlo::nameResults(main, function);
  return result;
}

} // namespace dlc
