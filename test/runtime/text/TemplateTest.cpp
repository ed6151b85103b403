//===- TemplateTest.cpp - tests of chat templates --------------------------------===//
#include "dlc/text.hpp"

#include <gtest/gtest.h>

using namespace dlc::text;

namespace {

std::string textOf(const std::vector<Piece> &pieces) {
  std::string text;
  for (const Piece &piece : pieces)
    text += piece.text;
  return text;
}

/// Returns the rendered text, or the message of the error.
std::string render(std::string_view source, std::string_view input = "{}",
                   TemplateLimits limits = {}) {
  try {
    return textOf(ChatTemplate(source, limits).render(input));
  } catch (const dlc::Error &error) {
    return error.what();
  }
}

/// Expects that the message of an error contains a text.
void expectError(std::string_view source, std::string_view part, TemplateLimits limits = {}) {
  std::string message = render(source, "{}", limits);
  EXPECT_NE(message.find(part), std::string::npos) << source << "\n" << message;
}

} // namespace

TEST(Template, RendersAConversation) {
  const char *source = "{% for m in messages %}{{ '<|' + m.role + '|>' }}\n"
                       "{{ m['content'] | trim }}{{ eos }}\n{% endfor %}"
                       "{%- if add_generation_prompt %}<|assistant|>{% endif %}\n";
  EXPECT_EQ(render(source, R"({"messages": [{"role": "user", "content": " hi "}], "eos": "</s>",
                               "add_generation_prompt": true})"),
            "<|user|>\nhi</s>\n<|assistant|>");
}

TEST(Template, ControlsWhitespace) {
  EXPECT_EQ(render("a\n  {% if true %}\n b\n  {% endif %}\nc\n"), "a\n b\nc");
  EXPECT_EQ(render("a\n  {%- if true -%}\n b\n  {%+ endif %}\nc"), "ab\n  c");
  EXPECT_EQ(render("a {#- note -#} b{# note #}\nc"), "abc");
  EXPECT_EQ(render("{% raw %}{{ x }}{% endraw %}"), "{{ x }}");
}

TEST(Template, EvaluatesExpressions) {
  EXPECT_EQ(render("{{ 1 + 2 * 3 }} {{ 7 // 2 }} {{ -7 // 2 }} {{ -7 % 3 }} {{ 7 / 2 }}"),
            "7 3 -4 2 3.5");
  EXPECT_EQ(render("{{ [1, 'a', none, true, 1.0] }} {{ {'k': (1,)} }}"),
            "[1, 'a', None, True, 1.0] {'k': (1,)}");
  EXPECT_EQ(render("{{ 'abcdef'[1:-1:2] }} {{ 'äöü'[::-1] }} {{ [1, 2, 3][-1] }}"), "bd üöä 3");
  EXPECT_EQ(render("{{ 'b' if false else 'c' }}{{ 1 if false }}{{ 2 is odd }}{{ not x }}"),
            "cFalseTrue");
  EXPECT_EQ(render("{{ 1 < 2 < 3 }} {{ 'a' in 'cat' }} {{ 2 not in [1] }}"), "True True True");
  EXPECT_EQ(render("{{ 'a b c '.split(none, 1) }}{{ ('a' | safe) ~ 'b' + 'c' }}"),
            "['a', 'b c ']abc");
  EXPECT_EQ(render("{{ '%s-%03d' % ('a', 7) }} {{ '{} {b}'.format(1, b=2) }}"), "a-007 1 2");
}

TEST(Template, ScopesVariables) {
  EXPECT_EQ(render("{% set x = 1 %}{% for i in [1, 2] %}{% set x = i %}{% endfor %}{{ x }}"), "1");
  EXPECT_EQ(render("{% set n = namespace(x=1) %}{% for i in range(4) if i > 1 %}"
                   "{% set n.x = n.x + i %}{% endfor %}{{ n.x }}"),
            "6");
  EXPECT_EQ(render("{% macro f(a, b=2) %}{{ a }}{{ b }}{{ caller() if caller }}{% endmacro %}"
                   "{{ f(1) }}{{ f(b=3, a=4) }}{% call f(5) %}x{% endcall %}"),
            "124352x");
  EXPECT_EQ(render("{% for a, b in {'x': 1}.items() %}{{ a }}{{ b }}{{ loop.last }}{% endfor %}"),
            "x1True");
  EXPECT_EQ(render("{% for a, in [[1], [2]] if a %}{{ a }}{{ loop.depth }}{{ loop.depth0 }}"
                   "{% endfor %}{% for (b,) in [[3]] %}{{ b }}{% endfor %}"),
            "1102103");
  EXPECT_EQ(render("{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}"
                   "{% if i > 3 %}{% break %}{% endif %}{{ i }}{% endfor %}"),
            "013");
}

TEST(Template, AppliesFilters) {
  EXPECT_EQ(render("{{ x | tojson }}", R"({"x": {"b": [1, 2.5, "ä\n\""], "a": null}})"),
            R"({"b": [1, 2.5, "ä\n\""], "a": null})");
  EXPECT_EQ(render("{{ x | tojson(indent=1) }}", R"({"x": {"b": [1]}})"),
            "{\n \"b\": [\n  1\n ]\n}");
  EXPECT_EQ(render("{{ x | map(attribute='a') | join('+') }}", R"({"x": [{"a": 1}, {"a": 2}]})"),
            "1+2");
  EXPECT_EQ(render("{{ 'a\nb' | indent(2) }}{% filter upper %}c{% endfilter %}"), "a\n  bC");
  EXPECT_EQ(render("{{ nothing | default('d') }} {{ '' | default('e', true) }}"), "d e");
}

TEST(Template, SplitsTextLikePython) {
  EXPECT_EQ(render("{{ x.splitlines() | join('|') }}",
                   R"({"x": "a\u000bb\fc\u001cd\u0085e\u2028f\u2029g\r\nh\ri"})"),
            "a|b|c|d|e|f|g|h|i");
  EXPECT_EQ(render("{{ x.splitlines(true) | length }}", R"({"x": "a\u2028\r\n"})"), "2");
  EXPECT_EQ(render("{{ x.split() | join('|') }}", R"({"x": "a\u001cb\u001f c"})"), "a|b|c");
  EXPECT_EQ(render("{{ 'a b'.split(none, -9223372036854775807 - 1) | join('|') }} "
                   "{{ 'a-b'.split('-', -9223372036854775807 - 1) | join('|') }} "
                   "{{ 'aa' | replace('a', 'b', -9223372036854775807 - 1) }}"),
            "a|b a|b bb");
}

TEST(Template, ReadsAndFormatsNumbersLikePython) {
  EXPECT_EQ(render("{{ '1e999' | int(7) }} {{ '+5' | int }} {{ '+-5' | int(7) }} "
                   "{{ '9200000000000000000' | int }}"),
            "7 5 7 9200000000000000000");
  EXPECT_EQ(render("{{ '1e999' | float }} {{ '-1e999' | float }} {{ '1e-999' | float }} "
                   "{{ '+5' | float }} {{ 'nan(1)' | float }}"),
            "inf -inf 0.0 5.0 0.0");
  EXPECT_EQ(render("{{ '%-6.2f|' % 1.5 }}"), "1.50  |");
  expectError("{{ '%5.5.5d' % 1 }}", "the format '%5.5.' is not supported");
  expectError("{{ '%5-d' % 1 }}", "the format '%5-' is not supported");
  for (const char *field : {"99999999999999999999", "18446744073709551615", "1"})
    expectError("{{ '{" + std::string(field) + "}'.format('a') }}", "is missing");
}

TEST(Template, MarksInput) {
  ChatTemplate chat("{% set t = '<s>' ~ (x | upper | replace('B', '<i>')) %}{{ t[1:] + eos }}");
  std::vector<Piece> pieces = chat.render(R"({"x": "abc"})", R"({"eos": "</s>"})");
  std::string trusted, untrusted;
  for (const Piece &piece : pieces)
    (piece.trusted ? trusted : untrusted) += piece.text;
  EXPECT_EQ(textOf(pieces), "s>A<i>C</s>");
  EXPECT_EQ(trusted, "s><i></s>");
  EXPECT_EQ(untrusted, "AC");
  // All operations retain the marks of a text.
  for (const char *expression :
       {"x.split('b') | join", "x | tojson", "x | list | join", "[x] | string", "x | title",
        "x.strip('q')", "x | reverse", "x | indent", "'%s' % x", "'{}'.format(x)",
        "{x: 1} | string", "x | trim", "x[0] ~ x[1:]", "x.replace('z', '')", "[x] | tojson",
        "x * 2", "strftime_now(x)", "[1, 2] | tojson(separators=[x, x])"}) {
    untrusted.clear();
    for (const Piece &piece :
         ChatTemplate("{{ " + std::string(expression) + " }}").render(R"({"x": "abc"})"))
      if (!piece.trusted)
        untrusted += piece.text;
    for (const char *letter : {"a", "c"})
      EXPECT_NE((untrusted + "|").find_first_of(letter[0] == 'a' ? "aA" : "cC"), std::string::npos)
          << expression;
  }
}

TEST(Template, RefusesUnsupportedConstructs) {
  expectError("a\n{% include 'x' %}", "line 2: unsupported tag 'include'");
  expectError("{{ x | attr('y') }}", "line 1: unsupported filter 'attr'");
  expectError("{{ x is filter }}", "line 1: unsupported test 'filter'");
  expectError("\n\n{{ ''.mro() }}", "line 3: unsupported method 'mro'");
  expectError("{% for x in y recursive %}{% endfor %}", "unsupported loop modifier 'recursive'");
  expectError("{{ {1: 2} }}", "unsupported dictionary key '1'");
  expectError("{{ ('a' | safe) + '<' }}", "unsupported operator '+' with the result of 'safe'");
  expectError("{% for i in [1] %}{% set x %}{% break %}{% endset %}{% endfor %}",
              "'break' is outside of a loop");
  expectError("{{ f(*x) }}", "unsupported argument '*'");
}

TEST(Template, HasNoAttributes) {
  for (const char *name : {"__class__", "__init__", "__globals__", "mro", "gi_frame"})
    for (const char *value : {"''", "[]", "{}", "range", "namespace()", "loop", "1"})
      EXPECT_EQ(render("{% for i in [1] %}{{ (" + std::string(value) + ")." + name +
                       " is defined }}{% endfor %}"),
                "False");
  expectError("{{ [].append(1) }}", "values cannot be changed");
}

TEST(Template, LimitsStepsAndMemory) {
  TemplateLimits limits{.steps = 1000, .outputBytes = 1000};
  expectError("{% for i in range(100000) %}{% endfor %}", "too many steps", limits);
  expectError("{{ 'x' * 2000 }}", "writes too much", limits);
  expectError("{{ 'x' * 999999999999 }}", "is too large");
  const char *repeat = "{% set x = ' x' * 500000 ~ ' x' * 500000 %}";
  for (const char *expression : {"{{ x | list }}", "{{ x.split('x') }}"})
    expectError(repeat + std::string(expression), "a list of the template is too long");
  EXPECT_EQ(render(repeat + std::string("{{ x[-1] ~ x[1999997:] }}")), "xx x");
  expectError("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deeply");
  expectError("{% set n = namespace(x=[]) %}{% for i in range(1000) %}{% set n.x = [n.x] %}"
              "{% endfor %}",
              "nested too deeply");
  expectError("{% set n = namespace() %}{% set n.x = n %}", "cannot be stored in a namespace");
  expectError("{% set n = namespace(x='abcdefgh') %}{% for i in range(99) %}"
              "{% set n.x = n.x ~ n.x %}{% endfor %}",
              "too many steps");
  expectError("{{ " + std::string(10000, '(') + "1" + std::string(10000, ')') + " }}",
              "nested too deeply");
  expectError("{{ 1" + std::string(100000, '+') + "1 }}", "nested too deeply");
  expectError("{% set n = namespace(f={}) %}{% for i in range(1000) %}"
              "{% set n.f = {'a': n.f.items} %}{% endfor %}",
              "nested too deeply");
  std::string maps = "{{ 'a' | map('map'";
  for (int i = 0; i < 1000; ++i)
    maps += ", 'map'";
  expectError(maps + ", 'upper') }}", "nested too deeply");
  expectError(
      "{{ x" +
          [] {
            std::string chain;
            for (int i = 0; i < 10000; ++i)
              chain += ".a";
            return chain;
          }() +
          " }}",
      "nested too deeply");
}

TEST(Template, LimitsComparisons) {
  expectError("{% set n = namespace(a=[1], b=[1]) %}{% for i in range(50) %}"
              "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}{{ n.a == n.b }}",
              "has too many nested elements");
  TemplateLimits limits{.steps = 3'000'000};
  const char *lists = "{% set n = namespace(a=[1], b=[1]) %}{% for i in range(19) %}"
                      "{% set n.a = [n.a, n.a] %}{% set n.b = [n.b, n.b] %}{% endfor %}";
  for (const char *expression : {"n.a == n.b", "n.a < n.b", "n.a is eq n.b", "n.a in [n.b]",
                                 "n.a is in [n.b]", "[n.a, n.b] | sort", "[n.a, n.b] | unique"})
    expectError(lists + ("{% for i in range(9) %}{% set x = " + std::string(expression)) +
                    " %}{% endfor %}",
                "too many steps", limits);
  EXPECT_EQ(render("{{ ['b', 'A', 'a'] | sort }}{{ ['b', 'A'] | sort(reverse=true) }}"
                   "{{ {'b': 1, 'A': 2} | dictsort }}{{ ['a', 'A', 'b'] | unique }}"),
            "['A', 'a', 'b']['b', 'A'][('A', 2), ('b', 1)]['a', 'b']");
}

TEST(Template, ReportsErrorsWithLines) {
  expectError("\n{{ x.y }}", "line 2: 'x' is undefined");
  expectError("\n{{ range }}", "line 2: a value of type function has no text");
  expectError("\n{% for i in 1 %}{% endfor %}", "line 2: a value of type int cannot be iterated");
  expectError("\n{% set a, b = 1 %}", "line 2: a value of type int cannot be iterated");
  expectError("{{ raise_exception('no system') }}", "no system");
  expectError("{% set n = namespace() %}{% macro m() %}{% set n.c = caller %}{% endmacro %}"
              "{% for i in [1] %}{% call m() %}{% endcall %}{% endfor %}{{ (n.c)() }}",
              "'caller' is called after its call block");
  expectError("{% if x %}", "is not closed");
  expectError("{{ range('a') }}", "invalid argument 'stop' of 'range'");
  expectError("{{ 'aba'.find('a', 1) }}", "too many arguments of 'find'");
  expectError("{{ dict([('a', 1)]) }}", "unsupported argument of 'dict'");
  expectError("{{ 1 + 'a' }}", "does not accept the types int and str");
  expectError("{{ 'a", "a string is not closed");
  expectError("{{ 9223372036854775807 + 1 }}", "too large");
  expectError("{{ 9223372036854775808 }}", "9223372036854775808 is out of range");
  expectError("{{ 1e999 }}", "1e999 is out of range");
  expectError("{{ '%d' % 1e300 }}", "needs a number below 9e18");
  expectError("{{ 1 // 0 }}", "division by zero");
}
