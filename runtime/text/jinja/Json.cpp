//===- Json.cpp - conversion of template values from and to JSON ---------------===//
#include "runtime/program/Message.h"
#include "runtime/text/JsonSteps.h"
#include "runtime/text/Utf8.h"
#include "runtime/text/jinja/Value.h"

#include <algorithm>
#include <cmath>

namespace dlc::text::jinja {
namespace {

using Json = nlohmann::ordered_json;

/// Converts JSON into a value. `untrusted`: whether its strings are untrusted.
Value convert(const Json &json, bool untrusted) {
  switch (json.type()) {
  case Json::value_t::boolean:
    return json.get<bool>();
  case Json::value_t::number_unsigned:
    if (json.get<uint64_t>() > INT64_MAX)
      return json.get<double>();
    [[fallthrough]];
  case Json::value_t::number_integer:
    return json.get<int64_t>();
  case Json::value_t::number_float:
    return json.get<double>();
  case Json::value_t::string:
    return Text(json.get<std::string>(), untrusted);
  case Json::value_t::array: {
    List list;
    for (const Json &each : json)
      list.push_back(convert(each, untrusted));
    return list;
  }
  case Json::value_t::object: {
    Dict dict;
    for (const auto &[key, each] : json.items())
      dict.set(Text(key, untrusted), convert(each, untrusted));
    return dict;
  }
  default:
    return Value::none();
  }
}

/// Writes values like Python's `json.dumps`.
class Writer {
public:
  explicit Writer(const JsonOptions &options) : options(options) {}

  void write(const Value &value, int level) {
    switch (value.kind()) {
    case Value::Kind::None:
      out += "null";
      break;
    case Value::Kind::Bool:
      out += value.asInt() ? "true" : "false";
      break;
    case Value::Kind::Int:
      out += toText(value);
      break;
    case Value::Kind::Float:
      writeFloat(value.asFloat());
      break;
    case Value::Kind::String:
      writeString(value.text());
      break;
    case Value::Kind::List:
    case Value::Kind::Tuple:
      writeAll(value.list(), "[", "]", level, [&](const Value &each) { write(each, level + 1); });
      break;
    case Value::Kind::Dict:
      writeDict(value.dict(), level);
      break;
    default:
      runtime::fail("a value of type ", kindName(value),
                    " cannot be converted into JSON; test whether it is defined");
    }
  }

  Text out;

private:
  void writeFloat(double value) {
    if (std::isfinite(value))
      out += Text(formatFloat(value));
    else
      out += std::isnan(value) ? "NaN" : value < 0 ? "-Infinity" : "Infinity";
  }

  void writeDict(const Dict &dict, int level) {
    std::vector<Member> members = dict.members();
    if (options.sortKeys)
      std::sort(members.begin(), members.end(),
                [](const Member &a, const Member &b) { return a.first.bytes < b.first.bytes; });
    writeAll(members, "{", "}", level, [&](const Member &each) {
      writeString(each.first);
      out += options.keySeparator;
      write(each.second, level + 1);
    });
  }

  template <typename Elements, typename Each>
  void writeAll(const Elements &elements, const char *begin, const char *end, int level,
                Each each) {
    out += begin;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (i != 0)
        out += options.itemSeparator;
      newline(level + 1);
      each(elements[i]);
    }
    if (!elements.empty())
      newline(level);
    out += end;
  }

  void newline(int level) {
    if (options.indent >= 0)
      out += Text("\n" + std::string(static_cast<size_t>(options.indent * level), ' '));
  }

  void writeString(const Text &text) {
    out += "\"";
    for (size_t i = 0; i < text.bytes.size();) {
      CodePoint c = decodeAt(text.bytes, i);
      out.append(escaped(c, std::string_view(text.bytes).substr(i, c.length)), text, i);
      i += c.length;
    }
    out += "\"";
  }

  /// Returns a character of a JSON string, as an escape sequence if necessary.
  std::string escaped(const CodePoint &c, std::string_view bytes) const {
    constexpr std::string_view special = "\"\\\n\r\t\b\f", letters = "\"\\nrtbf";
    if (size_t at = special.find(bytes[0]); at != special.npos && c.length == 1)
      return {'\\', letters[at]};
    if (c.valid && c.value >= 0x20 && (c.value < 0x7F || !options.ascii))
      return std::string(bytes);
    auto unit = [](char32_t value) {
      char buffer[8];
      std::snprintf(buffer, sizeof(buffer), "\\u%04x", static_cast<unsigned>(value & 0xFFFF));
      return std::string(buffer);
    };
    if (c.value == 0x7F)
      return std::string(bytes);
    if (c.value < 0x10000)
      return unit(c.value);
    return unit(0xD800 + ((c.value - 0x10000) >> 10)) + unit(0xDC00 + (c.value & 0x3FF));
  }

  const JsonOptions &options;
};

} // namespace

Text toJson(const Value &value, const JsonOptions &options) {
  Writer writer(options);
  writer.write(value, 0);
  return std::move(writer.out);
}

Dict fromJson(std::string_view text, bool untrusted, const char *what) {
  json::checkDepth(text, what);
  Json parsed = Json::parse(text, nullptr, false);
  if (!parsed.is_object())
    runtime::fail(what, ": required: a JSON object; found: ", text.substr(0, 80),
                  "; pass the variables of the template");
  return convert(parsed, untrusted).dict();
}

} // namespace dlc::text::jinja
