//===- ShapeTest.cpp - shapes of tensor types, with numbers and expressions ---===//
#include "ir/dlc/Shape.h"

#include "ir/size/SizeDialect.h"
#include "runtime/size/Symbol.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dlc;

namespace {
class Shapes : public testing::Test {
protected:
  Shapes() {
    context.loadDialect<DlcDialect>();
    cpu = *OnAttr::fromName(&context, "cpu");
  }

  static Dim symbol(StringRef name, StringRef range) {
    return Dim(
        size::Size(size::parseSymbol(std::string_view(name), std::string_view(range)).symbol));
  }

  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  OnAttr cpu;
  Dim batch = symbol("batch", "1..64"), length = symbol("length", "8..512:8");
};

TEST_F(Shapes, NumbersAreEqualIfTheyAreTheSame) {
  RankedTensorType a = makeTensorType({2, 3}, f32), b = makeTensorType({2, 3}, f32, cpu);
  EXPECT_TRUE(TensorShape(a) == TensorShape(b));
  EXPECT_FALSE(TensorShape(a) == TensorShape(makeTensorType({3, 2}, f32)));
  EXPECT_FALSE(TensorShape(a) == TensorShape(makeTensorType({2, 3, 1}, f32)));
  EXPECT_EQ(staticShape(a), ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(staticDim(a, 1), 3);
  EXPECT_EQ(staticElements(a), 6);
  EXPECT_EQ(TensorShape(a).countElements().number(), 6);
}

TEST_F(Shapes, SymbolsAreEqualOnlyToThemselves) {
  RankedTensorType a = makeTensorType({batch, 3, length}, f32, OnAttr());
  RankedTensorType b = makeTensorType({batch, 3, batch}, f32, OnAttr());
  EXPECT_TRUE(TensorShape(a) == TensorShape(withPlace(a, cpu)));
  EXPECT_FALSE(TensorShape(a) == TensorShape(b));
  EXPECT_TRUE(TensorShape(b)[0] == TensorShape(b)[2]);
  EXPECT_FALSE(TensorShape(a)[0] == TensorShape(a)[2]);
  EXPECT_EQ(TensorShape(a).text(), "[batch, 3, length]");
  EXPECT_EQ(TensorShape(a).countElements().text(), "3*batch*length");
}

// MLIR's numbers of both types are equal: -1 for each `?`.
TEST_F(Shapes, UnknownDimensionsAreEqualToNothing) {
  auto open = RankedTensorType::get({ShapedType::kDynamic}, f32);
  EXPECT_FALSE(TensorShape(open) == TensorShape(open));
  EXPECT_FALSE(TensorShape(open)[0] == batch);
  EXPECT_FALSE(TensorShape(open).countElements().isKnown());
  EXPECT_EQ(TensorShape(open).text(), "[?]");
}

TEST_F(Shapes, OnlyTheNumberOneBroadcasts) {
  EXPECT_TRUE(Dim(1).isOne());
  EXPECT_FALSE(batch.isOne());
  EXPECT_FALSE(Dim::unknown().isOne());
  EXPECT_TRUE(symbol("one", "1..1").isOne());
}

TEST_F(Shapes, TypesKeepSizesAndPlaces) {
  RankedTensorType a = makeTensorType({batch, 3}, f32, cpu);
  EXPECT_EQ(getPlace(a), cpu);
  EXPECT_EQ(getPlace(withPlace(a, cpu.withLayout("ba"))), cpu.withLayout("ba"));
  EXPECT_FALSE(getPlace(withPlace(a, OnAttr())));
  RankedTensorType wide = withElement(a, Float64Type::get(&context));
  EXPECT_TRUE(TensorShape(wide) == TensorShape(a));
  EXPECT_EQ(wide.getEncoding(), a.getEncoding());
  EXPECT_EQ(withPlace(makeTensorType({4}, f32), cpu).getEncoding(), Attribute(cpu));
}

TEST_F(Shapes, NumbersOfSymbolsAreRefused) {
  RankedTensorType a = makeTensorType({batch, 3}, f32, cpu);
  EXPECT_DEATH((void)staticShape(a), "is not a number");
  EXPECT_DEATH((void)staticDim(a, 0), "is not a number");
  EXPECT_DEATH((void)batch.number(), "is not a number");
  EXPECT_DEATH(makeTensorType({4, 3}, f32, a.getEncoding()), "sizes of another shape");
  EXPECT_EQ(staticDim(a, 1), 3);
}
} // namespace
