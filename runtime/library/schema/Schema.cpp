//===- Schema.cpp - text form of typed descriptions -----------------------===//
#include "runtime/library/schema/Schema.h"

#include "runtime/library/schema/Fields.h"
#include "runtime/library/schema/Visit.h"

namespace dlc::schema {

using nlohmann::json;

namespace {

template <typename T>
concept IsRecord = std::is_base_of_v<Record, T>;
template <typename T>
concept IsEnum = std::is_enum_v<T> && !std::is_same_v<T, DType>;

template <IsEnum E> std::string listNames(E) {
  std::string list;
  const Names<E> names = namesOf(E());
  for (const auto &[each, name] : names)
    if (*name)
      list += (list.empty() ? "" : each == names.back().first ? " or " : ", ") + std::string(name);
  return list;
}

/// Visitor that sets each member from the text form. A missing field keeps its default value.
struct Reader {
  const Fields &fields;

  template <typename T> void operator()(const Field<T> &field, T &value) const {
    if (field.rule.presence == Rule::Presence::Required || fields.has(field.name))
      read(field.name, field.rule, value);
  }

  void read(const char *name, const Rule &rule, Size &value) const {
    value = fields.integer(name, rule);
  }
  void read(const char *name, const Rule &rule, int64_t &value) const {
    value = fields.integer(name, rule);
  }
  template <typename T> void read(const char *name, const Rule &rule, OrBuffer<T> &value) const {
    value.isBuffer = fields.at(name) == "buffer";
    if (!value.isBuffer)
      read(name, rule, value.value);
  }
  void read(const char *name, const Rule &rule, Sizes &value) const {
    value = fields.sizes(name, rule);
  }
  void read(const char *name, const Rule &rule, Integers &value) const {
    value = fields.integers(name, rule);
  }
  void read(const char *name, const Rule &rule, PackedOrStrides &value) const {
    value.isPacked = fields.at(name) == "packed";
    if (!value.isPacked)
      value.strides = fields.integers(name, rule);
  }
  void read(const char *name, const Rule &, bool &value) const { value = fields.flag(name); }
  void read(const char *name, const Rule &, double &value) const { value = fields.number(name); }
  void read(const char *name, const Rule &, std::string &value) const { value = fields.word(name); }
  void read(const char *name, const Rule &, DType &value) const { value = fields.dtype(name); }
  template <IsEnum E> void read(const char *name, const Rule &, E &value) const {
    auto found = parse<E>(fields.word(name));
    if (!found)
      fields.refuse(name, listNames(E()));
    value = *found;
  }
  void read(const char *name, const Rule &rule, std::vector<double> &value) const {
    value = fields.numbers(name, rule);
  }
  template <IsRecord R> void read(const char *name, const Rule &, R &value) const {
    value = R::read(fields.at(name), fields.library);
  }
  template <IsRecord R> void read(const char *name, const Rule &rule, std::vector<R> &value) const {
    value = readList<R>(fields.entries(name, rule.count), fields.library);
  }
  template <typename T> void read(const char *name, const Rule &rule, Maybe<T> &value) const {
    read(name, rule, value.emplace());
  }
};

/// Visitor that adds each member to the text form.
struct Writer {
  json &desc;

  template <typename T> void operator()(const Field<T> &field, const T &value) const {
    if (field.rule.presence != Rule::Presence::Optional || !(value == field.initial))
      desc[field.name] = write(value);
  }

  static json write(const Size &value) { return value.value; }
  static json write(const Sizes &value) { return std::vector<int64_t>(value); }
  static json write(const Integers &value) { return std::vector<int64_t>(value); }
  static json write(const PackedOrStrides &value) {
    return value.isPacked ? json("packed") : write(value.strides);
  }
  static json write(int64_t value) { return value; }
  template <typename T> static json write(const OrBuffer<T> &value) {
    return value.isBuffer ? json("buffer") : write(value.value);
  }
  static json write(bool value) { return value; }
  static json write(double value) { return value; }
  static json write(const std::string &value) { return value; }
  static json write(const std::vector<double> &value) { return value; }
  static json write(DType value) { return std::string(dtypeName(value)); }
  template <IsEnum E> static json write(E value) { return nameOf(value); }
  template <IsRecord R> static json write(const R &value) { return value.toJson(); }
  template <IsRecord R> static json write(const std::vector<R> &values) {
    json list = json::array();
    for (const R &value : values)
      list.push_back(value.toJson());
    return list;
  }
  template <typename T> static json write(const Maybe<T> &value) { return write(*value); }
};

template <typename R> R readRecord(const json &desc, std::string library) {
  const Fields fields(desc, std::move(library));
  R record;
  record.library = fields.library;
  Reader reader{fields};
  visitFields(record, reader);
  return record;
}

template <typename R> json writeRecord(const R &record) {
  json desc = json::object();
  Writer writer{desc};
  visitFields(record, writer);
  return desc;
}

} // namespace

#define ENUM(Name)
#define VALUE(Name, Value, text)
#define END_ENUM(Name)
#define RECORD(Name, Base)                                                                         \
  Name Name::read(const json &desc, std::string library) {                                         \
    return readRecord<Name>(desc, std::move(library));                                             \
  }                                                                                                \
  json Name::toJson() const { return writeRecord(*this); }
#define FIELD(Type, member, text, initial, rule, documentation)
#define END_RECORD(Name)
#define CALL(library, kind, Record)
#include "runtime/library/schema/All.def"

} // namespace dlc::schema
