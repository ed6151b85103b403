//===- LawsTest.cpp - laws of sizes, checked on random expressions -----------===//
//
// DLC_SIZE_CASES is the number of expressions per law, 3000 by default.
//
//===----------------------------------------------------------------------===//
#include "Cases.h"

#include "runtime/size/Bounds.h"

#include <gtest/gtest.h>

#include <cstdlib>

using namespace dlc::size;
using namespace dlc::size::test;

namespace {
int countCases() {
  const char *text = std::getenv("DLC_SIZE_CASES");
  return text ? std::atoi(text) : 3000;
}

constexpr int kBindings = 12;

// Expressions that exceed a limit are skipped; the number of the others is checked.
TEST(SizeLaws, NormalFormKeepsValues) {
  std::mt19937_64 random(1);
  int valid = 0;
  for (int i = 0; i < countCases(); ++i) {
    const Case drawn = Drawer(random, false).draw(1 + unsigned(i % 4));
    if (!drawn.size.isValid())
      continue;
    ++valid;
    for (int k = 0; k < kBindings; ++k) {
      const Values values = drawValues(random);
      const ValueOrError found = evaluate(drawn.size, bind(values));
      ASSERT_TRUE(found.value) << format(drawn.size) << ": " << found.error;
      ASSERT_EQ(*found.value, drawn.compute(values))
          << format(drawn.size) << " at b=" << values[0] << " n=" << values[1] << " w=" << values[2]
          << " z=" << values[3];
    }
  }
  EXPECT_GT(valid, countCases() * 9 / 10);
}

// Two polynomials with equal values at many points are equal. The sizes of the test have degrees of
// at most 8, and are compared at 60 points.
TEST(SizeLaws, EqualPolynomialsHaveIdenticalForms) {
  std::mt19937_64 random(2);
  int equal = 0, different = 0;
  for (int i = 0; i < countCases(); ++i) {
    const Case a = Drawer(random, true).draw(2), b = Drawer(random, true).draw(2);
    const Case c = Drawer(random, true).draw(1);
    // (a + b) * c and a * c + b * c are equal; the others are equal by chance only.
    const Size expanded = c.size * b.size + c.size * a.size;
    const Size factored = (a.size + b.size) * c.size;
    ASSERT_EQ(format(expanded), format(factored));
    if (!factored.isValid())
      continue;
    ASSERT_TRUE(expanded == factored);
    bool areEqual = true;
    for (int k = 0; k < 60 && areEqual; ++k) {
      const Values values = drawValues(random);
      areEqual = a.compute(values) == b.compute(values);
    }
    ASSERT_EQ(a.size == b.size, areEqual) << format(a.size) << " and " << format(b.size);
    (areEqual ? equal : different) += 1;
  }
  EXPECT_GT(equal, 0);
  EXPECT_GT(different, 0);
}

TEST(SizeLaws, BoundsAndAnswersHold) {
  std::mt19937_64 random(3);
  int decided = 0, bounded = 0;
  for (int i = 0; i < countCases(); ++i) {
    const Case a = Drawer(random, false).draw(1 + unsigned(i % 3));
    const Case b = Drawer(random, false).draw(1 + unsigned(i % 2));
    const Interval bounds = computeBounds(a.size);
    const Answer less = isLessOrEqual(a.size, b.size), same = isEqual(a.size, b.size);
    decided += less != Answer::Undecided;
    bounded += bounds.low || bounds.high;
    for (int k = 0; k < kBindings; ++k) {
      const Values values = drawValues(random);
      const int64_t x = a.compute(values), y = b.compute(values);
      const std::string where = format(a.size) + " and " + format(b.size);
      if (bounds.low) {
        ASSERT_TRUE(*bounds.low <= Rational(x)) << where;
      }
      if (bounds.high) {
        ASSERT_TRUE(Rational(x) <= *bounds.high) << where;
      }
      if (less != Answer::Undecided) {
        ASSERT_EQ(less == Answer::Yes, x <= y) << where;
      }
      if (same != Answer::Undecided) {
        ASSERT_EQ(same == Answer::Yes, x == y) << where;
      }
    }
  }
  EXPECT_GT(decided, countCases() / 4);
  EXPECT_GT(bounded, countCases() / 2);
}

TEST(SizeLaws, TextIsParsedToTheSameSize) {
  std::mt19937_64 random(4);
  for (int i = 0; i < countCases(); ++i) {
    const Case drawn = Drawer(random, false).draw(1 + unsigned(i % 4));
    const std::string text = format(drawn.size);
    if (!drawn.size.isValid() || text.size() > kMaxTextLength)
      continue;
    const SizeOrError parsed = parse(text, findSymbol);
    ASSERT_EQ(parsed.error, "");
    ASSERT_TRUE(parsed.size == drawn.size) << text << " became " << format(parsed.size);
  }
}

TEST(SizeLaws, SubstitutionKeepsValues) {
  std::mt19937_64 random(5);
  int valid = 0;
  for (int i = 0; i < countCases(); ++i) {
    const Case drawn = Drawer(random, false).draw(1 + unsigned(i % 3));
    const Values values = drawValues(random);
    const SymbolValues all = bind(values);
    if (!drawn.size.isValid())
      continue;
    // First two of the symbols, then the others: each order gives the value.
    Size size = drawn.size;
    for (bool isFirst : {true, false})
      size = substitute(size, [&](const Symbol &symbol) -> std::optional<Size> {
        if (isFirst && (symbol.name == "b" || symbol.name == "w"))
          return std::nullopt;
        return Size(*all(symbol));
      });
    ++valid;
    ASSERT_TRUE(size.constant()) << format(drawn.size) << " became " << format(size);
    ASSERT_EQ(*size.constant(), drawn.compute(values)) << format(drawn.size);
  }
  EXPECT_GT(valid, countCases() * 9 / 10);
}

TEST(SizeLaws, ExactQuotientsAreFound) {
  std::mt19937_64 random(6);
  for (int i = 0; i < countCases(); ++i) {
    const Case a = Drawer(random, true).draw(2), b = Drawer(random, true).draw(1);
    const Size product = a.size * b.size;
    if (b.size == Size(0) || !product.isValid())
      continue;
    const std::optional<Size> quotient = divideExact(product, b.size);
    ASSERT_TRUE(quotient) << format(product) << " by " << format(b.size);
    ASSERT_TRUE(*quotient == a.size) << format(product) << " by " << format(b.size);
  }
}
} // namespace
