//===- OpNames.cpp - user-visible names of operations ---------------------===//
#include "passes/OpNames.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace dlc {

bool matchesPattern(StringRef pattern, StringRef name) {
  if (pattern.empty())
    return name.empty();
  if (pattern.front() == '*')
    return matchesPattern(pattern.drop_front(), name) ||
           (!name.empty() && matchesPattern(pattern, name.drop_front()));
  return !name.empty() && (pattern.front() == '?' || pattern.front() == name.front()) &&
         matchesPattern(pattern.drop_front(), name.drop_front());
}

void collectLocationNames(Location loc, SmallVectorImpl<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    StringRef text = name.getName().getValue();
    text.consume_front("gradient of ");
    names.push_back(text);
    collectLocationNames(name.getChildLoc(), names);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location part : fused.getLocations())
      collectLocationNames(part, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectLocationNames(call.getCallee(), names);
    collectLocationNames(call.getCaller(), names);
  }
}

} // namespace dlc
