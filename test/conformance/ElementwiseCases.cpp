//===- ElementwiseCases.cpp - elementwise operations of every type and shape ---===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

struct ShapeClass {
  const char *name;
  Shape a, b;
};

const ShapeClass shapeClasses[] = {
    {"0d", {}, {}},
    {"1d", {7}, {7}},
    {"odd", {3, 5, 17}, {3, 5, 17}},
    {"row", {4, 33}, {33}},
    {"column", {9, 1}, {9, 21}},
    {"both", {3, 1, 5}, {2, 1}},
    {"scalar", {2, 19}, {}},
    {"empty", {0, 4}, {0, 4}},
    {"big", {67, 1031}, {67, 1031}},
    {"rank5", {2, 3, 2, 3, 5}, {2, 1, 2, 1, 5}},
};

const std::vector<std::string> floats = {"f32", "f16", "bf16", "f64"};
const std::vector<std::string> integers = {"i8", "ui8", "i32", "i64"};
const std::vector<std::string> otherIntegers = {"i16", "ui16", "ui32", "ui64"};

std::vector<std::string> operator+(std::vector<std::string> a, const std::vector<std::string> &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

struct Range {
  double low, high;
};

/// Returns the given range for floats. Integers get values up to 100, and unsigned ones no negative
/// values.
Fill fillFor(const std::string &type, Range range) {
  if (isFloatName(type))
    return {Fill::Uniform, range.low, range.high};
  if (isUnsignedName(type))
    return {Fill::Uniform, 0, 100};
  return {Fill::Uniform, -100, 100};
}

struct Unary {
  const char *op;
  Range range;
  /// Supported kinds of types: f(loat), i(nteger), s(igned integer), b(ool).
  const char *types;
  double ulps;
  /// Nonzero if the result is a difference of larger values.
  double ofLargest = 0;
};

// The target of the kernels is 2 ulp. The bound is 4 ulp because results of 16-bit types are
// rounded twice.
const Unary unaries[] = {
    {"abs", {-3, 3}, "fi", 0},      {"neg", {-3, 3}, "fs", 0},   {"sign", {-3, 3}, "fi", 0},
    {"exp", {-20, 20}, "f", 4},     {"expm1", {-5, 5}, "f", 4},  {"log", {1e-4, 50}, "f", 4},
    {"log1p", {-0.9, 9}, "f", 4},   {"sqrt", {0, 100}, "f", 2},  {"rsqrt", {0.01, 100}, "f", 4},
    {"sin", {-10, 10}, "f", 4},     {"cos", {-10, 10}, "f", 4},  {"tan", {-1.5, 1.5}, "f", 6},
    {"asin", {-1, 1}, "f", 4},      {"acos", {-1, 1}, "f", 4},   {"atan", {-10, 10}, "f", 4},
    {"sinh", {-5, 5}, "f", 6},      {"cosh", {-5, 5}, "f", 4},   {"tanh", {-5, 5}, "f", 4},
    {"asinh", {-10, 10}, "f", 6},   {"acosh", {1, 10}, "f", 6},  {"atanh", {-0.99, 0.99}, "f", 6},
    {"erf", {-4, 4}, "f", 4},       {"erfc", {-4, 9}, "f", 6},   {"erfinv", {-0.99, 0.99}, "f", 6},
    {"sigmoid", {-10, 10}, "f", 4}, {"relu", {-3, 3}, "fi", 0},  {"ceil", {-9, 9}, "f", 0},
    {"floor", {-9, 9}, "f", 0},     {"round", {-9, 9}, "f", 0},  {"not", {0, 1}, "ib", 0},
    {"gelu", {-5, 5}, "f", 8, 1},   {"is_nan", {-3, 3}, "f", 0}, {"is_inf", {-3, 3}, "f", 0},
};

std::vector<std::string> typesOf(const char *kinds) {
  std::vector<std::string> types;
  for (const char *k = kinds; *k; ++k) {
    if (*k == 'f')
      types = types + floats;
    else if (*k == 'i')
      types = types + integers + otherIntegers;
    else if (*k == 's')
      types = types + std::vector<std::string>{"i8", "i16", "i32", "i64"};
    else if (*k == 'b')
      types.push_back("i1");
  }
  return types;
}

void addUnary(std::vector<Case> &cases) {
  for (const Unary &u : unaries) {
    for (const std::string &type : typesOf(u.types)) {
      for (const ShapeClass &s : shapeClasses) {
        if (s.a != s.b && std::string(s.name) != "rank5")
          continue;
        cases.push_back({u.op,
                         type + "/" + s.name,
                         {{s.a, type, fillFor(type, u.range)}},
                         "",
                         1,
                         {u.ulps, u.ofLargest}});
      }
      // Special arguments have the same bound.
      if (isFloatName(type))
        cases.push_back({u.op,
                         type + "/special",
                         {{{32}, type, {Fill::Special}}},
                         "",
                         1,
                         {u.ulps, u.ofLargest}});
    }
  }
  for (const std::string &type : floats) {
    cases.push_back({"gelu",
                     type + "/tanh",
                     {{{3, 37}, type, {Fill::Uniform, -5, 5}}},
                     "approximate",
                     1,
                     {8, 1}});
    cases.push_back(
        {"is_inf", type + "/positive", {{{32}, type, {Fill::Special}}}, "negative = false"});
    cases.push_back(
        {"is_inf", type + "/negative", {{{32}, type, {Fill::Special}}}, "positive = false"});
  }
}

struct Binary {
  const char *op;
  const char *attributes, *suffix;
  const char *types;
  Range a, b;
  double ulps;
};

const Binary binaries[] = {
    {"add", "", "", "fi", {-3, 3}, {-3, 3}, 0},
    {"sub", "", "", "fi", {-3, 3}, {-3, 3}, 0},
    {"mul", "", "", "fi", {-3, 3}, {-3, 3}, 0},
    {"div", "", "", "fi", {-3, 3}, {0.1, 3}, 0},
    {"pow", "", "", "f", {0.1, 5}, {-3, 3}, 8},
    {"atan2", "", "", "f", {-3, 3}, {-3, 3}, 6},
    {"rem", "", "/floor", "fi", {-9, 9}, {0.5, 3}, 4},
    {"rem", "truncated", "/truncated", "fi", {-9, 9}, {0.5, 3}, 4},
    {"max", "", "", "fi", {-3, 3}, {-3, 3}, 0},
    {"min", "", "", "fi", {-3, 3}, {-3, 3}, 0},
    {"and", "", "", "ib", {0, 1}, {0, 1}, 0},
    {"or", "", "", "ib", {0, 1}, {0, 1}, 0},
    {"xor", "", "", "ib", {0, 1}, {0, 1}, 0},
};

void addBinary(std::vector<Case> &cases) {
  for (const Binary &b : binaries) {
    for (const std::string &type : typesOf(b.types)) {
      for (const ShapeClass &s : shapeClasses) {
        Operand x{s.a, type, fillFor(type, b.a)}, y{s.b, type, fillFor(type, b.b)};
        cases.push_back(
            {b.op, type + "/" + s.name + b.suffix, {x, y}, b.attributes, 1, {b.ulps, 0}});
      }
      if (isFloatName(type) && std::string(b.op) != "pow" && std::string(b.op) != "rem")
        cases.push_back({b.op,
                         type + "/special" + b.suffix,
                         {{{32}, type, {Fill::Special}}, {{32, 1}, type, {Fill::Special}}},
                         b.attributes,
                         1,
                         {b.ulps, 0}});
    }
  }
  // Powers of integers, and exponents of a different type.
  for (const char *type : {"i32", "i64"})
    cases.push_back(
        {"pow",
         std::string(type) + "/small",
         {{{3, 11}, type, {Fill::Uniform, -4, 4}}, {{11}, type, {Fill::Uniform, 0, 5}}}});
  cases.push_back(
      {"pow",
       "f32/i32",
       {{{5, 13}, "f32", {Fill::Uniform, -3, 3}}, {{13}, "i32", {Fill::Uniform, -3, 4}}},
       "",
       1,
       {8, 0}});
  cases.push_back({"pow",
                   "f32/i64",
                   {{{5, 13}, "f32", {Fill::Uniform, 0.5, 3}}, {{}, "i64", {Fill::Uniform, 2, 2}}},
                   "",
                   1,
                   {8, 0}});
  for (const std::string &type : integers + otherIntegers) {
    for (const char *op : {"shift_left", "shift_right"})
      for (const ShapeClass &s : shapeClasses)
        cases.push_back({op,
                         type + "/" + s.name,
                         {{s.a, type, fillFor(type, {})}, {s.b, type, {Fill::Uniform, 0, 9}}}});
  }
}

void addCompareAndSelect(std::vector<Case> &cases) {
  const char *predicates[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (int p = 0; p < 6; ++p) {
    std::string attribute = std::string("predicate = #dlc<predicate ") + predicates[p] + ">";
    for (const std::string &type : typesOf("fi")) {
      for (const ShapeClass &s : shapeClasses) {
        if (p != 2 && std::string(s.name) != "odd")
          continue;
        Fill fill = isFloatName(type) ? Fill{Fill::Uniform, -1, 1} : Fill{Fill::Uniform, 0, 4};
        cases.push_back({"compare",
                         type + "/" + s.name + "/" + predicates[p],
                         {{s.a, type, fill}, {s.b, type, fill}},
                         attribute});
      }
      if (isFloatName(type))
        cases.push_back({"compare",
                         type + "/special/" + predicates[p],
                         {{{32}, type, {Fill::Special}}, {{32, 1}, type, {Fill::Special}}},
                         attribute});
    }
    if (p < 2)
      cases.push_back({"compare",
                       std::string("i1/odd/") + predicates[p],
                       {{{3, 17}, "i1"}, {{17}, "i1"}},
                       attribute});
  }
  for (const std::string &type : typesOf("fib"))
    for (const ShapeClass &s : shapeClasses)
      cases.push_back({"select",
                       type + "/" + s.name,
                       {{s.a, "i1"},
                        {s.b, type, fillFor(type, {-2, 2})},
                        {s.a, type, fillFor(type, {-2, 2})}}});
}

/// Adds comparisons of index sequences (iota) with labels. Labels include values far outside of the
/// index range on both sides. Index sequences include slices, shifted ones and reshaped ones.
void addComparePlaces(std::vector<Case> &cases) {
  const char *labels =
      "dense<[[0], [1], [36], [37], [-1], [18], [4294967296], [4294967314], [-4294967278], "
      "[2147483647], [-2147483648], [9223372036854775807], [-9223372036854775808]]> : LL";
  struct {
    const char *name, *text;
  } places[] = {
      {"row", "%p = dlc.iota 1 : PP\n"},
      {"turned", "%i = dlc.iota 0 : tensor<37xi64>\n"
                 "%p = dlc.reshape %i : (tensor<37xi64>) -> PP\n"},
      {"strided", "%i = dlc.iota 1 : tensor<1x120xi64>\n"
                  "%p = dlc.slice %i start [0, 1] size [1, 37] stride [1, 3] : "
                  "(tensor<1x120xi64>) -> PP\n"},
      {"shifted", "%i = dlc.iota 1 : PP\n%one = dlc.constant dense<1> : tensor<i64>\n"
                  "%p = dlc.add %i, %one : (PP, tensor<i64>) -> PP\n"},
  };
  for (auto &place : places)
    for (const char *predicate : {"eq", "ne", "lt", "le", "gt", "ge"})
      for (bool placesFirst : {true, false}) {
        std::string operands =
            placesFirst ? "%p, %l : (PP, LL) -> BB\n" : "%l, %p : (LL, PP) -> BB\n";
        // The addition of a zero operand prevents constant folding of the labels.
        std::string body = std::string("%known = dlc.constant ") + labels + "\n" + place.text +
                           "%l = dlc.add %known, %a0 : (LL, LL) -> LL\n%y = dlc.compare " +
                           predicate + " " + operands + "return %y : BB\n";
        for (auto [from, to] : std::initializer_list<std::pair<const char *, const char *>>{
                 {"PP", "tensor<1x37xi64>"},
                 {"LL", "tensor<13x1xi64>"},
                 {"BB", "tensor<13x37xi1>"}})
          for (size_t at; (at = body.find(from)) != std::string::npos;)
            body.replace(at, 2, to);
        cases.push_back({"compare",
                         std::string("places/") + place.name + "/" + predicate +
                             (placesFirst ? "/first" : "/second"),
                         {{{13, 1}, "i64", {Fill::Uniform, 0, 0}}},
                         "",
                         1,
                         {0, 0},
                         {"tensor<13x37xi1>"},
                         body});
      }
}

/// Adds cases with a factor and an offset for each channel, where the channels are short rows. The
/// factor is computed in the same kernel, which has two results.
void addShortRows(std::vector<Case> &cases) {
  struct {
    const char *name;
    Shape x, scale, offset;
  } shapes[] = {{"blocks", {3, 2, 701, 16}, {1, 2, 1, 16}, {1, 2, 1, 1}},
                {"channels_last", {1030, 24}, {24}, {1030, 1}},
                {"odd", {5, 130, 37}, {1, 1, 37}, {5, 1, 37}},
                {"wide", {3, 67, 64}, {3, 1, 64}, {1, 67, 1}},
                {"long", {2, 9000, 16}, {2, 1, 16}, {16}},
                {"few", {700, 8, 5}, {700, 1, 5}, {8, 5}},
                {"ones", {4, 300, 3}, {4, 1, 3}, {}}};
  for (auto &s : shapes)
    for (const char *type : {"f32", "bf16", "i32"}) {
      std::string x = typeText(s.x, type), scale = typeText(s.scale, type),
                  offset = typeText(s.offset, type);
      Fill fill{Fill::Uniform, isFloatName(type) ? -1.0 : -9.0, isFloatName(type) ? 1.0 : 9.0};
      cases.push_back({"mul",
                       std::string("short_rows/") + type + "/" + s.name,
                       {{s.x, type, fill}, {s.scale, type, fill}, {s.offset, type, fill}},
                       "",
                       2,
                       {4, 4},
                       {x, x},
                       "%s = dlc.add %a1, %a1 : (" + scale + ", " + scale + ") -> " + scale +
                           "\n%m = dlc.mul %a0, %s : (" + x + ", " + scale + ") -> " + x +
                           "\n%y = dlc.sub %m, %a2 : (" + x + ", " + offset + ") -> " + x +
                           "\nreturn %y, %m : " + x + ", " + x + "\n"});
    }
}

/// Adds max and min with a constant bound as first or second operand. NaN must be propagated.
void addBounds(std::vector<Case> &cases) {
  for (std::string type : {"f32", "f64", "bf16"}) {
    std::string x = typeText({43}, type), bound = typeText({}, type);
    for (std::string op : {"max", "min"})
      for (std::string value : {"2.5", "-1.0", "0.0"})
        cases.push_back({op,
                         type + "/bound/" + value,
                         {{{43}, type, {Fill::Special}}},
                         "",
                         2,
                         {0, 0},
                         {x, x},
                         "%c = dlc.constant dense<" + value + "> : " + bound + "\n%y = dlc." + op +
                             " %a0, %c : (" + x + ", " + bound + ") -> " + x + "\n%z = dlc." + op +
                             " %c, %a0 : (" + bound + ", " + x + ") -> " + x +
                             "\nreturn %y, %z : " + x + ", " + x + "\n"});
  }
}

/// Adds chains on short rows with factors of each row element and of the whole tensor, which
/// kernels process several rows at a time.
void addJoinedRows(std::vector<Case> &cases) {
  for (int64_t row : {4, 8, 12, 24, 40})
    for (std::string type : {"f32", "f16"}) {
      std::string x = typeText({2, 360, row}, type), c = typeText({row}, type),
                  one = typeText({}, type), text, last = "%a0";
      auto step = [&](const std::string &op, const std::string &by, const std::string &byType) {
        std::string next = "%v" + std::to_string(text.size());
        text += next + " = dlc." + op + " " + last + ", " + by + " : (" + x + ", " + byType +
                ") -> " + x + "\n";
        last = next;
      };
      for (int i = 0; i < 3; ++i) {
        step("mul", "%a1", c);
        step("add", "%a2", c);
        step("max", "%a3", one);
      }
      text += "return " + last + " : " + x + "\n";
      cases.push_back({"mul",
                       type + "/joined_rows/" + std::to_string(row),
                       {{{2, 360, row}, type, {Fill::Uniform, -1, 1}},
                        {{row}, type, {Fill::Uniform, -1, 1}},
                        {{row}, type, {Fill::Uniform, -1, 1}},
                        {{}, type, {Fill::Uniform, -1, 1}}},
                       "",
                       1,
                       {8, 0},
                       {x},
                       text});
    }
}

void addCast(std::vector<Case> &cases) {
  std::vector<std::string> all = typesOf("fib");
  for (const std::string &from : all) {
    for (const std::string &to : all) {
      std::string attribute = "to = " + to;
      Fill fill = isFloatName(from) ? Fill{Fill::Uniform, -90, 90} : fillFor(from, {});
      cases.push_back(
          {"cast", from + "/odd/" + to, {{{3, 5, 7}, from, fill}}, attribute, 1, {0, 0}});
      if (isFloatName(from))
        cases.push_back({"cast",
                         from + "/special/" + to,
                         {{{32}, from, {Fill::Special}}},
                         attribute,
                         1,
                         {0, 0}});
    }
    cases.push_back({"cast",
                     from + "/big/f32",
                     {{{67, 1031}, from, fillFor(from, {-9, 9})}},
                     "to = f32",
                     1,
                     {0, 0}});
    cases.push_back(
        {"cast", from + "/0d/f32", {{{}, from, fillFor(from, {-9, 9})}}, "to = f32", 1, {0, 0}});
    cases.push_back({"cast",
                     from + "/empty/f32",
                     {{{3, 0}, from, fillFor(from, {-9, 9})}},
                     "to = f32",
                     1,
                     {0, 0}});
  }
}

/// Adds lookups of all 8-bit values in an unsorted table, with rows of any length.
void addLookup(std::vector<Case> &cases) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    const int byte = (i * 37 + 11) % 256;
    bytes += {"0123456789ABCDEF"[byte / 16], "0123456789ABCDEF"[byte % 16]};
  }
  for (const char *from : {"ui8", "i8"})
    for (const char *to : {"ui8", "i8"}) {
      double low = isUnsignedName(from) ? 0 : -128;
      for (const ShapeClass &s : shapeClasses)
        cases.push_back({"lookup",
                         std::string(from) + "/" + s.name + "/" + to,
                         {{s.a, from, {Fill::Uniform, low, low + 255}}},
                         "table = dense<\"0x" + bytes + "\"> : tensor<256x" + to + ">"});
    }
}

} // namespace

void addElementwiseCases(std::vector<Case> &cases) {
  addUnary(cases);
  addBinary(cases);
  addCompareAndSelect(cases);
  addComparePlaces(cases);
  addShortRows(cases);
  addBounds(cases);
  addJoinedRows(cases);
  addCast(cases);
  addLookup(cases);
}

} // namespace dlc::conformance
