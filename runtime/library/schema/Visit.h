//===- Visit.h - calls a function for each field of a record --------------===//
#ifndef DLC_RUNTIME_LIBRARY_SCHEMA_VISIT_H
#define DLC_RUNTIME_LIBRARY_SCHEMA_VISIT_H

#include "runtime/library/schema/Schema.h"

#include <type_traits>

namespace dlc::schema {

/// Row of a .def file, without the field's type and member.
template <typename T> struct Field {
  const char *name; ///< name in the text form
  T initial;        ///< default value
  Rule rule;
  const char *documentation;
};

template <typename Visitor> void visitFields(Record &, Visitor &) {}
template <typename Visitor> void visitFields(const Record &, Visitor &) {}

// visitFields(record, visitor) calls visitor(row, member) for the fields of the base record, then
// for those of the record.
#define ENUM(Name)
#define VALUE(Name, Value, text)
#define END_ENUM(Name)
#define RECORD(Name, Base)                                                                         \
  template <typename Self, typename Visitor>                                                       \
  requires std::is_same_v<std::remove_const_t<Self>, Name>                                         \
  void visitFields(Self &record, Visitor &visitor) {                                               \
    using Parent = std::conditional_t<std::is_const_v<Self>, const Base, Base>;                    \
    visitFields(static_cast<Parent &>(record), visitor);
#define FIELD(Type, member, text, initial, rule, documentation)                                    \
  visitor(Field<Type>{text, initial, rule, documentation}, record.member);
#define END_RECORD(Name) }
#define CALL(library, kind, Record)
#include "runtime/library/schema/All.def"

} // namespace dlc::schema

#endif // DLC_RUNTIME_LIBRARY_SCHEMA_VISIT_H
