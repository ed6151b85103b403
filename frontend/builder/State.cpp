//===- State.cpp - state of a model in training mode ----------------------===//
#include "frontend/builder/State.h"

#include "ir/dlc/Attributes.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace dlc::frontend {

static constexpr const char *counterName = "step";

TrainingState::Entry *TrainingState::find(Value v) {
  for (Entry &e : entries)
    if (e.argument == v)
      return &e;
  return nullptr;
}

Value TrainingState::argument(Build &b, StringRef name, const ref::Tensor &start) {
  // Initializers in nested graphs may have the same name, so a suffix makes it unique.
  std::string unique = name.str();
  for (int i = 1; !taken.insert(unique).second; ++i)
    unique = name.str() + "." + std::to_string(i);
  Location location = NameLoc::get(StringAttr::get(b.context, unique));
  BlockArgument argument = entry->addArgument(start.getType(), location);
  entries.push_back({unique, start, argument});
  return argument;
}

Value TrainingState::counter(Build &b) {
  for (Entry &e : entries)
    if (!e.start)
      return e.argument;
  Location location = NameLoc::get(StringAttr::get(b.context, counterName));
  BlockArgument argument = entry->addArgument(RankedTensorType::get({}, b.i64), location);
  taken.insert(counterName);
  entries.push_back({counterName, {}, argument, false});
  return argument;
}

const ref::Tensor *TrainingState::pin(Value v) {
  Entry *e = find(v);
  if (!e || !e->start)
    return nullptr;
  e->isPinned = true;
  return &e->start;
}

Value TrainingState::statistics(Value v) {
  Entry *e = find(v);
  if (!e || !e->start)
    return {};
  e->isParameter = false;
  return e->next ? e->next : v;
}

void TrainingState::update(Value statistics, Value next) {
  if (next)
    find(statistics)->next = next;
}

void TrainingState::finish(Build &b, SmallVectorImpl<Value> &results,
                           SmallVectorImpl<DictionaryAttr> &resultAttrs) {
  for (Entry &e : entries) {
    if (e.isPinned) {
      e.argument.replaceAllUsesWith(b.constant(e.start, e.name));
    } else if (e.next) {
      results.push_back(e.next);
      resultAttrs.push_back(b.b.getDictionaryAttr(
          {b.attr(kNameAttr, b.b.getStringAttr(e.name)), b.attrUnit(kStateAttr)}));
    }
  }
}

void TrainingState::describe(Build &b, func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (const Entry &e : entries)
    if (e.argument.use_empty())
      unused.set(e.argument.getArgNumber());
  std::erase_if(entries, [](const Entry &e) { return e.argument.use_empty(); });
  (void)function.eraseArguments(unused);
  for (const Entry &e : entries) {
    SmallVector<NamedAttribute> attributes{b.attr(kNameAttr, b.b.getStringAttr(e.name)),
                                           b.attrUnit(kStateAttr)};
    if (e.isParameter)
      attributes.push_back(b.attrUnit(kParameterAttr));
    if (e.start)
      attributes.push_back(b.attr(kInitAttr, b.elements(e.start, e.name)));
    function.setArgAttrs(e.argument.getArgNumber(), attributes);
  }
}

} // namespace dlc::frontend
