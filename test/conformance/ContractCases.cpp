//===- ContractCases.cpp - cases of matmul, grouped_matmul and attention --------===//
#include "test/conformance/Case.h"

namespace dlc::conformance {
namespace {

const std::vector<std::string> floats = {"f32", "f16", "bf16", "f64"};

Fill fillFor(const std::string &t) {
  return isFloatName(t)      ? Fill{Fill::Uniform, -1, 1}
         : isUnsignedName(t) ? Fill{Fill::Uniform, 0, 9}
                             : Fill{Fill::Uniform, -9, 9};
}

void addMatmuls(std::vector<Case> &cases) {
  struct {
    const char *name;
    Shape a, b;
    const char *attributes;
  } products[] = {{"odd", {3, 5}, {5, 7}, ""},
                  {"ta", {5, 3}, {5, 7}, "transpose_a"},
                  {"tb", {3, 5}, {7, 5}, "transpose_b"},
                  {"tab", {5, 3}, {7, 5}, "transpose_a, transpose_b"},
                  {"vector", {1, 37}, {37, 1}, ""},
                  {"batch", {3, 4, 5}, {3, 5, 6}, ""},
                  {"batch_tb", {2, 3, 9, 8}, {2, 3, 11, 8}, "transpose_b"},
                  {"broadcast_b", {3, 4, 5}, {5, 6}, ""},
                  {"broadcast_a", {4, 5}, {3, 5, 6}, ""},
                  {"broadcast_both", {3, 1, 4, 5}, {2, 5, 6}, ""},
                  {"empty_m", {0, 5}, {5, 6}, ""},
                  {"empty_k", {4, 0}, {0, 6}, ""},
                  {"big", {129, 257}, {257, 131}, ""},
                  {"big_ta", {70, 91}, {70, 77}, "transpose_a"},
                  {"big_tab", {1030, 61}, {65, 1030}, "transpose_a, transpose_b"},
                  {"rank5", {2, 1, 2, 3, 4}, {1, 3, 2, 4, 5}, ""},
                  // Partial tiles of every size, and more steps along k than a software pipeline
                  // has stages.
                  {"wide", {250, 328}, {328, 512}, ""},
                  {"wide_ta", {328, 248}, {328, 510}, "transpose_a"},
                  {"wide_tb", {250, 328}, {512, 328}, "transpose_b"},
                  {"wide_tab", {328, 248}, {512, 328}, "transpose_a, transpose_b"}};
  for (const char *type : {"f32", "f16", "bf16", "f64", "i8", "ui8", "i32", "i64"}) {
    std::string t = type;
    for (auto &p : products)
      if (t == "f32" || t == "f16" || t == "bf16" || p.a[0] < 240 || p.a[0] > 1000)
        cases.push_back({"matmul",
                         t + "/" + p.name,
                         {{p.a, t, fillFor(t)}, {p.b, t, fillFor(t)}},
                         p.attributes,
                         1,
                         {8, 16}});
  }
}

/// Adds grouped_matmul cases: the number of rows and groups, and how the `ends` operand is filled.
/// Ends that are smaller than the previous end or larger than the number of rows are valid
/// operands.
void addGroups(std::vector<Case> &cases) {
  struct {
    const char *name;
    int64_t rows, groups, k, n;
    Fill ends;
  } sizes[] = {{"one", 5, 1, 7, 3, {Fill::Uniform, 5, 5}},
               {"first_has_all", 9, 4, 5, 6, {Fill::Uniform, 9, 9}},
               {"none_has_any", 9, 3, 33, 17, {Fill::Uniform, -5, 0}},
               {"any", 40, 4, 12, 20, {Fill::Uniform, 0, 40}},
               {"even", 40, 4, 12, 20, {Fill::Ascending, 0, 40}},
               {"a_row_each", 16, 16, 40, 35, {Fill::Ascending, 0, 16}},
               {"many", 130, 70, 31, 65, {Fill::Ascending, 0, 130}},
               {"beyond", 20, 5, 8, 8, {Fill::Uniform, -3, 90}},
               {"large", 300, 5, 160, 200, {Fill::Ascending, 20, 290}},
               {"blocks", 90, 3, 96, 64, {Fill::Ascending, 5, 88}},
               {"deep", 70, 3, 1100, 40, {Fill::Ascending, 0, 70}},
               {"wide", 35, 3, 17, 2300, {Fill::Ascending, 0, 35}},
               {"empty_rows", 0, 3, 4, 5, {Fill::Uniform, 0, 0}},
               {"empty_sum", 6, 2, 0, 5, {Fill::Uniform, 3, 6}},
               {"no_groups", 4, 0, 3, 5, {}}};
  for (const std::string &t : floats)
    for (auto &s : sizes)
      for (const char *index : {"i32", "i64"}) {
        if (std::string(index) == "i64" && std::string(s.name) != "even")
          continue;
        Fill fill{Fill::Uniform, -1, 1};
        Operand a{{s.rows, s.k}, t, fill}, dy{{s.rows, s.n}, t, fill},
            ends{{s.groups}, index, s.ends};
        Tolerance tolerance{8, 16};
        std::string label = t + "/" + index + "/" + s.name;
        cases.push_back({"grouped_matmul",
                         label,
                         {a, {{s.groups, s.k, s.n}, t, fill}, ends},
                         "",
                         1,
                         tolerance});
        cases.push_back({"grouped_matmul",
                         label + "_tb",
                         {a, {{s.groups, s.n, s.k}, t, fill}, ends},
                         "transpose_b",
                         1,
                         tolerance});
        cases.push_back({"grouped_weight_grad", label, {a, dy, ends}, "", 1, tolerance});
      }
}

/// Adds grouped_matmul cases with constant matrices, which are packed at compile time.
void addConstantGroups(std::vector<Case> &cases) {
  struct {
    int64_t rows, groups, k, n;
    bool transposed;
  } sizes[] = {
      {1, 3, 5, 7, false}, {40, 3, 33, 40, true}, {9, 9, 64, 48, true}, {70, 2, 520, 33, false}};
  for (const char *type : {"f32", "bf16"})
    for (auto &s : sizes) {
      std::string t = type;
      Shape shape{s.groups, s.transposed ? s.n : s.k, s.transposed ? s.k : s.n};
      std::string b = typeText(shape, t), y = typeText({s.rows, s.n}, t);
      Case c{"grouped_matmul",
             t + "/constant/" + std::to_string(s.rows) + "x" + std::to_string(s.k),
             {{{s.rows, s.k}, t, {Fill::Uniform, -1, 1}},
              {{s.groups}, "i32", {Fill::Ascending, 0, double(s.rows)}}}};
      std::string constant = constantText(shape);
      constant = constant.substr(0, constant.rfind(" : ")) + " : " + b;
      c.body = "%b = dlc.constant " + constant + "\n%y = dlc.grouped_matmul %a0, %b ends %a1" +
               (s.transposed ? " transpose_b" : "") + " : (" + typeText({s.rows, s.k}, t) + ", " +
               b + ", " + typeText({s.groups}, "i32") + ") -> " + y + "\nreturn %y : " + y;
      c.resultTypes = {y};
      c.tolerance = {8, 16};
      cases.push_back(c);
    }
}

void addAttention(std::vector<Case> &cases) {
  for (const std::string &t : floats) {
    Fill fill{Fill::Uniform, -1, 1};
    Tolerance tolerance{16, 32};
    // Some kernels round the probabilities to 16 bits between the two matmuls.
    if (t == "f16" || t == "bf16")
      tolerance = {4, 4};
    auto add = [&](const char *name, Shape q, Shape k, Shape v, std::vector<Operand> mask,
                   const char *flags) {
      Case c{"attention",
             t + "/" + name,
             {{q, t, fill}, {k, t, fill}, {v, t, fill}},
             std::string("scale = 0.35355339059327379 : f64") + flags,
             1,
             tolerance};
      c.operands.insert(c.operands.end(), mask.begin(), mask.end());
      cases.push_back(c);
    };
    // The operands lse and y of attention_grad are random. The case checks the formula, which does
    // not require them to be results of q and k.
    auto train = [&](const char *name, Shape q, Shape k, Shape v, std::vector<Operand> mask,
                     const char *flags) {
      std::string sums = t == "f64" ? t : "f32",
                  attributes = std::string("scale = 0.35355339059327379 : f64") + flags;
      Case forward{"attention_train",
                   t + "/" + name,
                   {{q, t, fill}, {k, t, fill}, {v, t, fill}},
                   attributes,
                   2,
                   tolerance};
      Shape rows(q.begin(), q.end() - 1), y = rows;
      y.push_back(v.back());
      Case gradient{"attention_grad",
                    t + "/" + name,
                    {{q, t, fill},
                     {k, t, fill},
                     {v, t, fill},
                     {y, t, fill},
                     {rows, sums, {Fill::Uniform, 1, 3}},
                     {y, t, fill}},
                    attributes,
                    3,
                    // Differences of sums with rounded intermediate results.
                    t == "f16" || t == "bf16" ? Tolerance{8, 8} : Tolerance{64, 64}};
      for (Case *c : {&forward, &gradient}) {
        c->operands.insert(c->operands.end(), mask.begin(), mask.end());
        cases.push_back(*c);
      }
    };
    train("odd", {3, 5, 8}, {3, 7, 8}, {3, 7, 6}, {}, "");
    train("heads", {2, 3, 9, 8}, {2, 3, 9, 8}, {2, 3, 9, 8}, {}, "");
    train("causal", {2, 37, 16}, {2, 37, 16}, {2, 37, 16}, {}, ", causal");
    train("float_mask", {2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}, {{{5, 7}, t, fill}}, "");
    train("bool_mask", {2, 5, 8}, {2, 64, 8}, {2, 64, 8}, {{{2, 1, 64}, "i1"}}, "");
    train("hidden_rows", {2, 5, 8}, {2, 19, 8}, {2, 19, 8},
          {{{5, 19}, "i1", Fill{Fill::HiddenRows}}}, ", causal");
    train("big", {2, 65, 64}, {2, 130, 64}, {2, 130, 64}, {}, "");
    train("long_heads", {1, 33, 160}, {1, 40, 160}, {1, 40, 136}, {}, "");
    train("empty", {0, 5, 8}, {0, 7, 8}, {0, 7, 6}, {}, "");
    add("long_heads", {2, 33, 256}, {2, 40, 256}, {2, 40, 200}, {}, ", causal");
    add("too_long_heads", {1, 3, 264}, {1, 4, 264}, {1, 4, 8}, {}, "");
    add("many_keys", {2, 130, 32}, {2, 300, 32}, {2, 300, 32}, {{{2, 1, 300}, "i1"}}, ", causal");
    add("odd", {3, 5, 8}, {3, 7, 8}, {3, 7, 6}, {}, "");
    add("heads", {2, 3, 9, 8}, {2, 3, 9, 8}, {2, 3, 9, 8}, {}, "");
    add("causal", {2, 9, 8}, {2, 9, 8}, {2, 9, 8}, {}, ", causal");
    add("float_mask", {2, 3, 5, 8}, {2, 3, 7, 8}, {2, 3, 7, 8}, {{{5, 7}, t, fill}}, "");
    add("bool_mask", {2, 5, 8}, {2, 64, 8}, {2, 64, 8}, {{{2, 1, 64}, "i1"}}, "");
    Fill rows{Fill::HiddenRows};
    add("hidden_rows", {2, 5, 8}, {2, 19, 8}, {2, 19, 8}, {{{5, 19}, "i1", rows}}, "");
    add("float_hidden_rows", {2, 5, 8}, {2, 19, 8}, {2, 19, 8}, {{{5, 19}, t, rows}}, "");
    add("causal_hidden_rows", {2, 5, 8}, {2, 19, 8}, {2, 19, 8}, {{{5, 19}, "i1", rows}},
        ", causal");
    add("big", {2, 65, 64}, {2, 130, 64}, {2, 130, 64}, {}, "");
    add("rank5", {2, 1, 2, 3, 4}, {2, 1, 2, 5, 4}, {2, 1, 2, 5, 4}, {}, "");
    add("empty", {0, 5, 8}, {0, 7, 8}, {0, 7, 6}, {}, "");
  }
}

/// Adds attention cases with sizes near the block sizes of the kernels, with every kind of mask.
void addAttentionBlocks(std::vector<Case> &cases) {
  struct {
    int64_t queries, keys, depth, width;
    const char *mask;
    bool causal;
  } sizes[] = {{1, 1, 1, 1, "", false},        {1, 197, 64, 64, "i1", false},
               {17, 17, 40, 40, "", true},     {65, 17, 80, 40, "float", false},
               {17, 65, 1, 80, "keys", true},  {197, 197, 64, 64, "", false},
               {65, 65, 80, 80, "rows", true}, {70, 600, 16, 24, "float", true}};
  for (const char *type : {"f32", "bf16"})
    for (auto &s : sizes) {
      std::string t = type,
                  label = "blocks/" + t + "/" + std::to_string(s.queries) + "x" +
                          std::to_string(s.keys) + "x" + std::to_string(s.depth),
                  mask = s.mask;
      Fill fill{Fill::Uniform, -1, 1};
      Shape q{2, s.queries, s.depth}, k{2, s.keys, s.depth}, v{2, s.keys, s.width};
      Shape y{2, s.queries, s.width}, rows{2, s.queries};
      std::vector<Operand> hides;
      if (mask == "i1")
        hides = {{{s.queries, s.keys}, "i1"}};
      else if (mask == "keys")
        hides = {{{2, 1, s.keys}, "i1"}};
      else if (mask == "rows")
        hides = {{{s.queries, s.keys}, "i1", Fill{Fill::HiddenRows}}};
      else if (mask == "float")
        hides = {{{1, s.queries, s.keys}, t, fill}};
      std::string flags = std::string("scale = 0.25 : f64") + (s.causal ? ", causal" : "");
      Tolerance forward = t == "bf16" ? Tolerance{4, 4} : Tolerance{32, 64};
      Tolerance backward = t == "bf16" ? Tolerance{8, 8} : Tolerance{128, 128};
      std::vector<Operand> given{{q, t, fill}, {k, t, fill}, {v, t, fill}};
      Case both[] = {{"attention", label, given, flags, 1, forward},
                     {"attention_train", label, given, flags, 2, forward},
                     {"attention_grad", label, given, flags, 3, backward}};
      // Random lse of the rows, large enough that the probabilities remain below 1.
      both[2].operands.insert(both[2].operands.end(),
                              {{y, t, fill}, {rows, "f32", {Fill::Uniform, 3, 7}}, {y, t, fill}});
      for (Case &c : both) {
        c.operands.insert(c.operands.end(), hides.begin(), hides.end());
        cases.push_back(c);
      }
    }
}

} // namespace

void addContractCases(std::vector<Case> &cases) {
  addMatmuls(cases);
  addGroups(cases);
  addConstantGroups(cases);
  addAttention(cases);
  addAttentionBlocks(cases);
}

} // namespace dlc::conformance
