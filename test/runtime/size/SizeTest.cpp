//===- SizeTest.cpp - normal forms, answers, texts and errors of sizes -------===//
#include "Cases.h"

#include "runtime/size/Bounds.h"

#include <gtest/gtest.h>

using namespace dlc::size;
using namespace dlc::size::test;

namespace {
Size read(std::string_view text) {
  SizeOrError parsed = parse(text, findSymbol);
  EXPECT_EQ(parsed.error, "") << text;
  return parsed.size;
}

std::string simplify(std::string_view text) { return format(read(text)); }

TEST(Size, HasOneFormPerPolynomial) {
  EXPECT_EQ(simplify("(n + 1)*(n - 1)"), "n*n - 1");
  EXPECT_EQ(simplify("n*b + b*n - n*b*2"), "0");
  EXPECT_EQ(simplify("-(w/2 + w/4)"), "-3*w/4");
  EXPECT_TRUE(read("b*(n + w)") == read("w*b + n*b"));
  EXPECT_FALSE(read("b*n") == read("b*n + z"));
}

TEST(Size, DivisorsDecideRoundedQuotients) {
  EXPECT_EQ(simplify("floordiv(w, 8)"), "w/8");
  EXPECT_EQ(simplify("floordiv(w + 7, 8)"), "w/8");
  EXPECT_EQ(simplify("ceildiv(w + 1, 8)"), "w/8 + 1");
  EXPECT_EQ(simplify("mod(w*n, 4)"), "0");
  EXPECT_EQ(simplify("floordiv(w, 16)"), "floordiv(w, 16)");
  EXPECT_EQ(simplify("floordiv(3*n + 5, 2)"), "n + floordiv(n + 1, 2) + 2");
  EXPECT_EQ(simplify("floordiv(floordiv(n, 2) + 3, 4)"), "floordiv(n + 6, 8)");
  EXPECT_EQ(simplify("floordiv(6*n + 5, 4) - n"), "floordiv(n, 2) + 1");
  EXPECT_EQ(simplify("ceildiv(n, 2) - floordiv(n + 1, 2)"), "0");
  // Operands that are not integers are rounded up, too.
  EXPECT_EQ(simplify("ceildiv(1/2, 1)"), "1");
  EXPECT_EQ(simplify("ceildiv(3, 1/2)"), "6");
  EXPECT_EQ(simplify("ceildiv(n/2, 1) + floordiv(-n, 2)"), "0");
}

TEST(Size, RangesDecideAtoms) {
  EXPECT_EQ(simplify("floordiv(b, 7)"), "0");
  EXPECT_EQ(simplify("mod(b, 7)"), "b");
  EXPECT_EQ(simplify("min(b, 6)"), "b");
  EXPECT_EQ(simplify("max(n, 1)"), "n");
  EXPECT_EQ(simplify("max(n, 2)"), "max(n, 2)");
  EXPECT_EQ(simplify("min(n, n*b)"), "n");
  EXPECT_EQ(simplify("floordiv(b*n + b - 1, b)"), "n");
  EXPECT_EQ(simplify("floordiv(z, n + 5)"), "0");
}

TEST(Size, MinimaAndMaximaHaveOneForm) {
  EXPECT_TRUE(read("min(n + 1, w + 1)") == read("min(w, n) + 1"));
  EXPECT_TRUE(read("min(2*n, 2*w)") == read("2*min(w, n)"));
  EXPECT_TRUE(read("min(min(n, w), 20)") == read("min(n, min(w, 20))"));
  EXPECT_TRUE(read("max(n + max(w, 9), 20)") == read("max(n + w, n + 9, 20)"));
  EXPECT_FALSE(read("min(n, w)") == read("max(n, w)"));
}

TEST(Size, SymbolicDivisorsDivideExactly) {
  EXPECT_EQ(simplify("floordiv(b*n*w, n)"), "b*w");
  EXPECT_EQ(simplify("floordiv(n*n + 2*n + 1, n + 1)"), "n + 1");
  EXPECT_EQ(simplify("floordiv(2*n*w, 2*n*b)"), "floordiv(w, b)");
  EXPECT_EQ(format(*divideExact(read("b*n*w"), read("8*b"))), "n*w/8");
  EXPECT_FALSE(divideExact(read("n"), read("2")));
  EXPECT_FALSE(divideExact(read("n"), read("b")));
}

TEST(Size, ComparisonsHaveThreeAnswers) {
  EXPECT_EQ(isLessOrEqual(read("n"), read("b*n")), Answer::Yes);
  EXPECT_EQ(isLessOrEqual(read("n*w"), read("n*b*w + z")), Answer::Yes);
  EXPECT_EQ(isLessOrEqual(read("floordiv(n, 2)*2"), read("n")), Answer::Yes);
  EXPECT_EQ(isLessOrEqual(read("min(n, w)"), read("n")), Answer::Yes);
  EXPECT_EQ(isLessOrEqual(read("n"), read("max(n, w)")), Answer::Yes);
  EXPECT_EQ(isLessOrEqual(read("n + 1"), read("n")), Answer::No);
  EXPECT_EQ(isLessOrEqual(read("w"), read("b")), Answer::No);
  EXPECT_EQ(isLessOrEqual(read("b"), read("n")), Answer::Undecided);
  EXPECT_EQ(isEqual(read("n + z"), read("z + n")), Answer::Yes);
  EXPECT_EQ(isEqual(read("n"), read("b")), Answer::Undecided);
  EXPECT_EQ(isEqual(read("n"), read("n + b")), Answer::No);
}

TEST(Size, SymbolsOfOtherRangesDiffer) {
  const Size a(parseSymbol("n", "1..64").symbol), b(parseSymbol("n", "1..32").symbol);
  EXPECT_FALSE(a == b);
  EXPECT_TRUE(a == Size(parseSymbol("n", "1..64").symbol));
  EXPECT_EQ(format(Size(parseSymbol("n", "8..8").symbol)), "8");
}

TEST(Size, InvalidSizesEqualNothing) {
  const Size overflow = Size(INT64_MAX) * read("n") * 2;
  EXPECT_FALSE(overflow.isValid());
  EXPECT_FALSE(overflow == overflow);
  EXPECT_EQ(isEqual(overflow, overflow), Answer::Undecided);
  EXPECT_EQ(isLessOrEqual(overflow, overflow), Answer::Undecided);
  EXPECT_FALSE((overflow - overflow).isValid());
  EXPECT_FALSE(floorDiv(read("n"), read("z")).isValid());
  EXPECT_FALSE(mod(read("n"), 0).isValid());
  Size power = read("n");
  for (int i = 0; i < 3; ++i)
    power = power * power;
  EXPECT_TRUE(power.isValid());
  EXPECT_FALSE((power * read("n")).isValid());
  Size nested = read("n");
  for (int i = 0; i < 20; ++i)
    nested = floorDiv(nested * read("n"), 3);
  EXPECT_FALSE(nested.isValid());
}

TEST(Size, ValuesAreChecked) {
  const Values values{2, 3, 8, 0};
  EXPECT_EQ(evaluate(read("b*n + w"), bind(values)).value, 14);
  EXPECT_EQ(evaluate(read("n/2"), bind(values)).error,
            "the size is not an integer; found: 3/2; use sizes that the divisors of the symbols "
            "permit");
  EXPECT_EQ(evaluate(read("n"), [](const Symbol &) { return std::nullopt; }).error,
            "size 'n' has no value; specify it");
  EXPECT_EQ(evaluate(read("n*n"), [](const Symbol &) { return INT64_MAX / 2; }).error,
            "the size exceeds 64 bits; use smaller sizes");
}

TEST(Symbol, RangesAreParsed) {
  EXPECT_EQ(formatRange(*parseSymbol("length", "1..512:8@128").symbol), "8..512:8@128");
  EXPECT_EQ(formatRange(*parseSymbol("batch", "1..64").symbol), "1..64@8");
  EXPECT_EQ(formatRange(*parseSymbol("batch", "1..").symbol), "1..@64");
  EXPECT_EQ(formatRange(*parseSymbol("batch", "100..").symbol), "100..@100");
  EXPECT_EQ(formatRange(*parseSymbol("batch", "0..9:5").symbol), "0..5:5@0");
}

TEST(Symbol, ErrorsNameTheSymbolAndTheRange) {
  EXPECT_EQ(parseSymbol("n", "1-4").error,
            "symbol 'n': required: MINIMUM..[MAXIMUM][:DIVISOR][@NOMINAL]; found: '1-4'; write for "
            "example 1..512:8@128");
  EXPECT_EQ(parseSymbol("n", "9..4").error, "symbol 'n': required: 0 <= minimum <= maximum <= "
                                            "2^46; found: 9..4; correct the range");
  EXPECT_EQ(parseSymbol("n", "1..4:8").error,
            "symbol 'n': required: a multiple of 8 in the range; found: none from 1; widen the "
            "range");
  EXPECT_EQ(parseSymbol("n", "1..9@11").error,
            "nominal value: size 'n' is out of range; required: 1 to 9; found: 11; use a size in "
            "the range");
  EXPECT_EQ(parseSymbol("2n", "1..9").error,
            "symbol '2n': required: a name of letters, digits, '_' and '.'; found: '2n'; rename "
            "the symbol");
  EXPECT_EQ(parseSymbol("n", "1..9:0").error,
            "symbol 'n': required: a divisor from 1 to 2^46; found: 0; correct it");
  EXPECT_EQ(checkValue(*parseSymbol("n", "8..64:8").symbol, 12),
            "size 'n' is out of range; required: 8 to 64, a multiple of 8; found: 12; use a size "
            "in the range");
  EXPECT_EQ(checkValue(*parseSymbol("n", "8..64:8").symbol, 16), "");
}

TEST(Text, ErrorsNameThePlace) {
  auto error = [](std::string_view text) { return parse(text, findSymbol).error; };
  EXPECT_EQ(error("n + "), "required: a number, a symbol or '(' at character 4; found: ''; correct "
                           "the size 'n + '");
  EXPECT_EQ(error("n + q"), "required: a known symbol at character 4; found: 'q'; correct the size "
                            "'n + q'");
  EXPECT_EQ(error("sqrt(n)"), "required: floordiv, ceildiv, mod, min or max at character 0; found: "
                              "'sqrt(n)'; correct the size 'sqrt(n)'");
  EXPECT_EQ(error("n)"), "required: an operator or the end at character 1; found: ')'; correct the "
                         "size 'n)'");
  EXPECT_EQ(error("mod(n)"), "required: two operands at character 5; found: ')'; correct the size "
                             "'mod(n)'");
  EXPECT_EQ(error("floordiv(n, z)"), "the size 'floordiv(n, z)' is not defined: a divisor may be 0 "
                                     "or negative; change it");
  EXPECT_EQ(error("0/0"),
            "required: a divisor of 1 or more at character 2; found: '0'; correct the "
            "size '0/0'");
  EXPECT_NE(error("99999999999999999999"), "");
  EXPECT_NE(error(std::string(5000, '1')), "");
  EXPECT_NE(error(std::string(100, '(') + "n" + std::string(100, ')')), "");
}
} // namespace
