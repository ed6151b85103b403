//===- SplitNames.cpp - user requests to split parameters -----------------===//
#include "passes/share/SplitNames.h"

#include "ir/dlc/Attributes.h"
#include "ir/dlc/Infer.h"
#include "ir/dlc/Shape.h"
#include "passes/OpNames.h"
#include "passes/TensorBuilder.h"
#include "passes/share/Analysis.h"

#include <algorithm>

using namespace mlir;

namespace dlc::share {

namespace {

/// Parsed option `--split`: PATTERN=WHERE or PATTERN=WHERE:BLOCKS.
struct SplitRequest {
  StringRef text, pattern, where;
  int64_t blocks = 1;
  bool matched = false;
};

InFlightDiagnostic emitInvalidSplit(ModuleOp module, StringRef text) {
  return module.emitError() << "--split '" << text << "': ";
}

FailureOr<SplitRequest> parseSplitRequest(ModuleOp module, StringRef text) {
  SplitRequest request{text, {}, {}};
  // PATTERN ends at the last '=', because names may contain '='.
  std::tie(request.pattern, request.where) = text.rsplit('=');
  auto [where, blocks] = request.where.split(':');
  const bool hasBlocks = request.where.contains(':');
  request.where = where;
  unsigned number = 0;
  const bool isWhere = where == "rows" || where == "columns" || !where.getAsInteger(10, number);
  const bool isBlocks =
      !hasBlocks || (!blocks.getAsInteger(10, request.blocks) && request.blocks >= 1);
  if (!text.contains('=') || request.pattern.empty() || !isWhere || !isBlocks)
    return emitInvalidSplit(module, text)
               << "required: PATTERN=rows, PATTERN=columns, PATTERN=DIMENSION, or "
                  "one of these with a number of blocks, as in PATTERN=columns:3",
           failure();
  return request;
}

/// Returns the dimension that `where` ("rows", "columns" or a number) selects for a parameter of
/// this rank, or nullopt if there is no such dimension.
std::optional<int64_t> parseDimension(StringRef where, int64_t rank) {
  int64_t dimension = 0;
  if (where == "columns")
    dimension = rank - 1;
  else if (where != "rows")
    (void)where.getAsInteger(10, dimension);
  return dimension < rank && rank > 0 ? std::optional(dimension) : std::nullopt;
}

LogicalResult split(func::FuncOp function, unsigned argument, StringRef name,
                    const SplitRequest &request, int64_t ranks) {
  auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[argument]);
  if (!type || !type.hasStaticShape())
    return success();
  std::optional<int64_t> dimension = parseDimension(request.where, type.getRank());
  auto module = function->getParentOfType<ModuleOp>();
  if (!dimension)
    return emitInvalidSplit(module, request.text)
           << "'" << name << "' has shape " << TensorShape(type).text()
           << ", which has no dimension " << request.where << "; choose one from 0 to "
           << type.getRank() - 1;
  int64_t size = staticDim(type, unsigned(*dimension)), shares = ranks * request.blocks;
  if (size % shares != 0)
    return emitInvalidSplit(module, request.text)
           << "'" << name << "' has " << size << " along dimension " << *dimension << ", which "
           << ranks << " ranks" << (request.blocks > 1 ? " and the blocks" : "")
           << " do not divide; required: a multiple of " << shares
           << "; do not split it, or choose another --world";
  function.setArgAttr(
      argument, kSplitAttr,
      DenseI64ArrayAttr::get(function.getContext(), {*dimension, ranks, request.blocks}));
  return success();
}

/// Adds known names to the error about a pattern that matches none of them, the names that are most
/// similar to the pattern first.
void addKnownNames(InFlightDiagnostic &error, SmallVector<StringRef> names, StringRef pattern) {
  if (names.empty()) {
    error << "it has none";
    return;
  }
  std::stable_sort(names.begin(), names.end(), [&](StringRef a, StringRef b) {
    return a.edit_distance(pattern) < b.edit_distance(pattern);
  });
  error << "found";
  for (StringRef name : ArrayRef(names).take_front(5))
    error << " '" << name << "'";
  if (names.size() > 5)
    error << " and " << names.size() - 5 << " more";
}

} // namespace

bool isSplit(const ModelOptions &options, StringRef parameter) {
  return llvm::any_of(options.split, [&](StringRef text) {
    return matchesPattern(text.rsplit('=').first, parameter);
  });
}

LogicalResult annotateSplitParameters(ModuleOp module, const ModelOptions &options) {
  if (options.split.empty())
    return success();
  if (options.world < 1)
    return module.emitError() << "--split requires the number of ranks; add --world N";
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return success();
  std::vector<SplitRequest> requests;
  for (StringRef text : options.split) {
    FailureOr<SplitRequest> request = parseSplitRequest(module, text);
    if (failed(request))
      return failure();
    requests.push_back(*request);
  }
  SmallVector<StringRef> names;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    auto name = main.getArgAttrOfType<StringAttr>(i, kNameAttr);
    if (!name || !main.getArgAttr(i, kParameterAttr))
      continue;
    names.push_back(name.getValue());
    bool isFirst = true;
    for (SplitRequest &request : requests) {
      if (!matchesPattern(request.pattern, name.getValue()))
        continue;
      request.matched = true;
      // The first matching pattern splits the parameter. Later matching patterns are only marked as
      // matched.
      if (isFirst && failed(split(main, i, name.getValue(), request, options.world)))
        return failure();
      isFirst = false;
    }
  }
  for (const SplitRequest &request : requests) {
    if (request.matched)
      continue;
    InFlightDiagnostic error = emitInvalidSplit(module, request.text);
    error << "no parameter has a name that matches; ";
    addKnownNames(error, names, request.pattern);
    return error;
  }
  return success();
}

} // namespace dlc::share
