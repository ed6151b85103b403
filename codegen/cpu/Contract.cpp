//===- Contract.cpp - emits the code of a generated matrix multiplication ---===//
#include "codegen/cpu/Contract.h"

#include "codegen/cpu/Emitter.h"
#include "codegen/cpu/TransposedOperands.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace dlc::cpu {
namespace {

/// Number of sequential streams in which the kernel reads a panel of B that is read once, from
/// memory. Each stream has its own hardware prefetcher, and a single stream does not saturate the
/// memory bandwidth.
constexpr int64_t kStreams = 4;
/// Minimum number of rows in each stream of a panel. Shorter panels are read in a single stream.
constexpr int64_t kStreamRows = 64;
/// Number of rows of an unpacked B that a GEMV (one row of A) processes in one pass over the
/// accumulators.
constexpr int64_t kRowsTogether = 8;
/// Software prefetch distance in bytes, in each stream of a panel.
constexpr int64_t kPrefetchBytes = 1024;

/// Number of 8-bit integers per vector load if the elements are contiguous along K.
constexpr int64_t kAlongDepth = 16;

/// Matrix in memory with strides that are constant at compile time.
struct MatrixView {
  Value base;
  Type element;
  int64_t row = 0, column = 0; ///< strides in elements
};

struct ContractEmitter {
  OpBuilder &b;
  Location loc;
  const ContractSpec &spec;
  const ContractPlan &plan;
  const ContractOperands &operands;
  const Epilogue &epilogue;
  Type sum;  ///< element type of the accumulators
  Type held; ///< element type of packed operands
  Type pointer;
  Value zeroA, zeroB; ///< zero points of A and B, in the type `held`

  ContractEmitter(OpBuilder &b, Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan, const Epilogue &epilogue)
      : b(b), loc(loc), spec(spec), plan(plan), operands(operands), epilogue(epilogue),
        sum(spec.sumsIntegers()                              ? Type(b.getI32Type())
            : spec.elementA.isF64() || spec.elementB.isF64() ? Type(b.getF64Type())
                                                             : Type(b.getF32Type())),
        held(spec.sumsIntegers() ? Type(b.getI16Type()) : sum),
        pointer(LLVM::LLVMPointerType::get(b.getContext())) {
    auto held16 = [&](Value zero) {
      return zero ? arith::TruncIOp::create(b, loc, held, zero).getResult() : Value();
    };
    zeroA = held16(operands.zeroA), zeroB = held16(operands.zeroB);
  }

  //===--------------------------------------------------------------------===//
  // Helpers that emit single operations.
  //===--------------------------------------------------------------------===//

  Value i64(int64_t x) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(x)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return y == 1 ? x : arith::MulIOp::create(b, loc, x, i64(y)).getResult();
  }
  Value div(Value x, int64_t y) {
    return y == 1 ? x : arith::DivUIOp::create(b, loc, x, i64(y)).getResult();
  }
  Value rem(Value x, int64_t y) {
    return y == 1 ? i64(0) : arith::RemUIOp::create(b, loc, x, i64(y)).getResult();
  }
  Value least(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  Value most(Value x, Value y) { return arith::MaxSIOp::create(b, loc, x, y); }

  static int64_t bytes(Type element) { return element.getIntOrFloatBitWidth() / 8; }
  Value at(Value base, Type element, Value index) {
    return LLVM::GEPOp::create(b, loc, pointer, element, base, ArrayRef<LLVM::GEPArg>{index});
  }
  Value at(Value base, Type element, int64_t index) {
    if (index == 0)
      return base;
    return at(base, element, i64(index));
  }
  VectorType vectorOf(Type element, int64_t lanes) { return VectorType::get({lanes}, element); }

  /// Converts loaded elements to the element type of the accumulators.
  Value widened(Value stored, Type element) {
    Value x = convertToComputeType(b, loc, stored, element);
    if (isa<IntegerType>(element))
      return castElement(b, loc, x, element, sum);
    if (getElementTypeOrSelf(x.getType()) == sum)
      return x;
    Type type = sum;
    if (auto vector = dyn_cast<VectorType>(x.getType()))
      type = vectorOf(sum, vector.getNumElements());
    return arith::ExtFOp::create(b, loc, type, x);
  }
  Value loadScalar(Value address, Type element) {
    return widened(LLVM::LoadOp::create(b, loc, getStorageType(element), address, bytes(element)),
                   element);
  }
  /// Loads a vector of plan.lanes elements. Only the first `valid` elements are read from memory;
  /// the other lanes are zero.
  Value loadVector(Value address, Type element, int64_t valid) {
    VectorType type = vectorOf(getStorageType(element), plan.lanes);
    if (valid >= plan.lanes)
      return widened(LLVM::LoadOp::create(b, loc, type, address, bytes(element)), element);
    SmallVector<bool> keep(plan.lanes, false);
    std::fill_n(keep.begin(), valid, true);
    Value mask = arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(vectorOf(b.getI1Type(), plan.lanes), ArrayRef<bool>(keep)));
    Value zero = zeroOf(type);
    return widened(LLVM::MaskedLoadOp::create(b, loc, type, address, mask, zero,
                                              b.getI32IntegerAttr(bytes(element))),
                   element);
  }
  Value zeroOf(Type type) { return arith::ConstantOp::create(b, loc, b.getZeroAttr(type)); }
  Value zeroVector() { return zeroOf(vectorOf(sum, plan.lanes)); }
  void store(Value x, Value address) {
    LLVM::StoreOp::create(b, loc, x, address, bytes(getElementTypeOrSelf(x.getType())));
  }
  Value splat(Value scalar) {
    return vector::BroadcastOp::create(b, loc, vectorOf(sum, plan.lanes), scalar);
  }
  /// Returns x * y + z. For integers, each lane of z accumulates the products of spec.pairSize()
  /// adjacent elements (`pmaddwd`).
  Value multiplyAdd(Value x, Value y, Value z) {
    if (!spec.sumsIntegers())
      return math::FmaOp::create(b, loc, x, y, z);
    StringRef intrinsic =
        plan.lanes == 16 ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd";
    return add(z, LLVM::CallIntrinsicOp::create(b, loc, z.getType(), b.getStringAttr(intrinsic),
                                                ValueRange{x, y})
                      .getResult(0));
  }
  Value addSums(Value x, Value y) {
    return spec.sumsIntegers() ? add(x, y) : arith::AddFOp::create(b, loc, x, y).getResult();
  }
  /// Extends 8-bit integers to 16 bits and subtracts the zero point from them.
  Value centred(Value stored, Type element, Value zero) {
    Type type = held;
    if (auto vector = dyn_cast<VectorType>(stored.getType()))
      type = vectorOf(held, vector.getNumElements());
    Value x = isUnsigned(element) ? arith::ExtUIOp::create(b, loc, type, stored).getResult()
                                  : arith::ExtSIOp::create(b, loc, type, stored).getResult();
    if (!zero)
      return x;
    return sub(x, isa<VectorType>(type) ? vector::BroadcastOp::create(b, loc, type, zero) : zero);
  }
  Value loadElements(Value address, Type element, int64_t count) {
    Type type = count == 1 ? element : Type(vectorOf(element, count));
    return LLVM::LoadOp::create(b, loc, type, address, bytes(element));
  }

  /// Loads an element of A, or a pair of adjacent elements for integers, and broadcasts it to all
  /// lanes.
  Value loadLeft(Value address, Type element) {
    if (!spec.sumsIntegers())
      return splat(loadScalar(address, element));
    Value pair = LLVM::LoadOp::create(b, loc, sum, address, bytes(element));
    return vector::BitCastOp::create(b, loc, vectorOf(held, spec.pairSize() * plan.lanes),
                                     splat(pair));
  }
  Value loadRight(Value address, Type element, int64_t valid) {
    if (!spec.sumsIntegers())
      return loadVector(address, element, valid);
    Value x = loadElements(address, element, spec.pairSize() * plan.lanes);
    return element == held ? x : centred(x, spec.elementB, zeroB);
  }

  /// Emits an scf.for loop: for (i = from; i < to; i += step) carried = body(i, carried).
  SmallVector<Value> loop(Value from, Value to, int64_t step, ValueRange init,
                          llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
    auto op = scf::ForOp::create(b, loc, from, to, i64(step), init);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(op.getBody());
    SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
    if (!init.empty())
      scf::YieldOp::create(b, loc, next);
    return SmallVector<Value>(op.getResults());
  }
  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    loop(from, to, step, {}, [&](Value i, ValueRange) {
      body(i);
      return SmallVector<Value>();
    });
  }

  //===--------------------------------------------------------------------===//
  // Packing of operands into scratch memory.
  //===--------------------------------------------------------------------===//

  /// Packs `rows` rows of A into scratch memory, converted to the type of the accumulators.
  MatrixView packA(MatrixView from, Value rows) {
    MatrixView to{operands.scratch, sum, getPackedRowStrideA(spec, bytes(held)), 1};
    if (from.column == 1) {
      int64_t whole = spec.k / plan.lanes * plan.lanes;
      loop(i64(0), rows, 1, [&](Value row) {
        Value source = at(from.base, from.element, mul(row, from.row));
        Value target = at(to.base, sum, mul(row, to.row));
        if (whole)
          loop(i64(0), i64(whole), plan.lanes, [&](Value k) {
            store(loadVector(at(source, from.element, k), from.element, plan.lanes),
                  at(target, sum, k));
          });
        // The last partial vector of a row is stored completely: its unused lanes are written to
        // the padding of the row.
        if (whole < spec.k)
          store(loadVector(at(source, from.element, whole), from.element, spec.k - whole),
                at(target, sum, whole));
      });
      return to;
    }
    loop(i64(0), rows, 1, [&](Value row) {
      Value source = at(from.base, from.element, mul(row, from.row));
      Value target = at(to.base, sum, mul(row, to.row));
      loop(i64(0), i64(spec.k), 1, [&](Value k) {
        store(loadScalar(at(source, from.element, mul(k, from.column)), from.element),
              at(target, sum, k));
      });
    });
    return to;
  }

  /// Packs one panel of B into memory at `to`, as K rows of plan.panelColumns elements in the type
  /// of the accumulators. `width` is the number of columns that exist; the last panel may have
  /// fewer than plan.panelColumns.
  MatrixView packPanel(MatrixView from, int64_t width, Value to) {
    MatrixView packed{to, sum, plan.panelColumns, 1};
    int64_t lanes = plan.lanes;
    if (from.column == 1) {
      loop(i64(0), i64(spec.k), 1, [&](Value k) {
        Value source = at(from.base, from.element, mul(k, from.row));
        Value target = at(to, sum, mul(k, plan.panelColumns));
        for (int64_t j = 0; j < width; j += lanes)
          store(loadVector(at(source, from.element, j), from.element, width - j),
                at(target, sum, j));
      });
      return packed;
    }
    if (from.row == 1) {
      auto square = [&](Value k, int64_t rows) {
        for (int64_t j = 0; j < width; j += lanes) {
          SmallVector<Value> block;
          for (int64_t i = 0; i < lanes; ++i)
            block.push_back(j + i < width ? loadVector(at(at(from.base, from.element, k),
                                                          from.element, (j + i) * from.column),
                                                       from.element, rows)
                                          : zeroVector());
          block = transposeRegisters(b, loc, block);
          Value target = at(to, sum, mul(k, plan.panelColumns));
          for (int64_t i = 0; i < rows; ++i)
            store(block[i], at(target, sum, i * plan.panelColumns + j));
        }
      };
      int64_t whole = spec.k / lanes * lanes;
      if (whole)
        loop(i64(0), i64(whole), lanes, [&](Value k) { square(k, lanes); });
      if (whole < spec.k)
        square(i64(whole), spec.k - whole);
      return packed;
    }
    loop(i64(0), i64(spec.k), 1, [&](Value k) {
      Value source = at(from.base, from.element, mul(k, from.row));
      Value target = at(to, sum, mul(k, plan.panelColumns));
      loop(i64(0), i64(width), 1, [&](Value j) {
        store(loadScalar(at(source, from.element, mul(j, from.column)), from.element),
              at(target, sum, j));
      });
      // Columns of the last vector that do not exist are also multiplied, and their results are
      // dropped. They are set to zero so that they contain no signaling NaNs.
      for (int64_t j = width; j % lanes; ++j)
        store(arith::ConstantOp::create(b, loc, b.getFloatAttr(sum, 0)), at(target, sum, j));
    });
    return packed;
  }

  /// Emits for (k = from; k < K; ++k) store(made(k), address(k)). Stores zeros for the elements
  /// between K and the end of the last pair.
  void fillDepth(Value from, llvm::function_ref<Value(Value)> address,
                 llvm::function_ref<Value(Value)> made) {
    loop(from, i64(spec.k), 1, [&](Value k) { store(made(k), address(k)); });
    for (int64_t k = spec.k; k < spec.steps() * spec.pairSize(); ++k)
      store(zeroOf(held), address(i64(k)));
  }

  /// Emits a loop over the pairs along K and calls step(k, isHalf) with the first k of each pair.
  /// `isHalf`: the pair has only one element, because K is odd.
  void eachStep(llvm::function_ref<void(Value, bool)> step) {
    int64_t whole = spec.k / spec.pairSize() * spec.pairSize();
    if (whole)
      loop(i64(0), i64(whole), spec.pairSize(), [&](Value k) { step(k, false); });
    if (whole < spec.k)
      step(i64(whole), true);
  }
  /// Interleaves the lanes of the vectors at k and k + 1, so that the two elements of each pair are
  /// adjacent. If `isHalf` is set, the second vector is zero.
  Value paired(llvm::function_ref<Value(Value)> load, Value k, bool isHalf) {
    Value even = load(k), odd = isHalf ? zeroOf(even.getType()) : load(add(k, i64(1)));
    SmallVector<int64_t> turns;
    for (int64_t i = 0; i < plan.lanes; ++i)
      turns.append({i, plan.lanes + i});
    return vector::ShuffleOp::create(b, loc, even, odd, turns);
  }
  /// Stores each pair of 16-bit elements of a vector to the address place(index of the pair).
  void storePairs(Value x, llvm::function_ref<Value(int64_t)> place) {
    int64_t count = cast<VectorType>(x.getType()).getNumElements() / spec.pairSize();
    Value pairs = vector::BitCastOp::create(b, loc, vectorOf(sum, count), x);
    for (int64_t i = 0; i < count; ++i)
      store(vector::ExtractOp::create(b, loc, pairs, i), place(i));
  }

  /// Packs plan.lanes rows of an integer A that is contiguous along M, one pair along K at a time.
  void packIntegersAcross(MatrixView from, MatrixView to, Value row) {
    Value source = at(from.base, from.element, row), target = at(to.base, held, mul(row, to.row));
    auto column = [&](Value k) {
      return centred(
          loadElements(at(source, from.element, mul(k, from.column)), from.element, plan.lanes),
          spec.elementA, zeroA);
    };
    eachStep([&](Value k, bool isHalf) {
      storePairs(paired(column, k, isHalf),
                 [&](int64_t i) { return at(target, held, add(k, i64(i * to.row))); });
    });
  }

  /// Packs `rows` rows of an integer A into scratch memory, as 16-bit elements minus the zero
  /// point.
  MatrixView packIntegersA(MatrixView from, Value rows) {
    MatrixView to{operands.scratch, held, getPackedRowStrideA(spec, bytes(held)), spec.pairSize()};
    Value first = i64(0);
    if (from.row == 1 && from.column != 1) {
      first = sub(rows, rem(rows, plan.lanes));
      loop(i64(0), first, plan.lanes, [&](Value row) { packIntegersAcross(from, to, row); });
    }
    loop(first, rows, 1, [&](Value row) {
      Value source = at(from.base, from.element, mul(row, from.row));
      Value target = at(to.base, held, mul(row, to.row));
      int64_t whole = from.column == 1 ? spec.k / kAlongDepth * kAlongDepth : 0;
      if (whole)
        loop(i64(0), i64(whole), kAlongDepth, [&](Value k) {
          store(centred(loadElements(at(source, from.element, k), from.element, kAlongDepth),
                        spec.elementA, zeroA),
                at(target, held, k));
        });
      fillDepth(
          i64(whole), [&](Value k) { return at(target, held, k); },
          [&](Value k) {
            return centred(
                loadElements(at(source, from.element, mul(k, from.column)), from.element, 1),
                spec.elementA, zeroA);
          });
    });
    return to;
  }

  /// Packs a panel of an integer B into memory at `to`, as 16-bit elements in the layout [pair
  /// along K][column][element of the pair].
  MatrixView packIntegersPanel(MatrixView from, int64_t width, Value to) {
    const int64_t together = spec.pairSize(), lanes = plan.lanes;
    MatrixView packed{to, held, together * plan.panelColumns, 1};
    auto load = [&](Value k, Value j, int64_t count) {
      Value address =
          at(at(from.base, from.element, mul(k, from.row)), from.element, mul(j, from.column));
      return centred(loadElements(address, from.element, count), spec.elementB, zeroB);
    };
    auto place = [&](Value k, Value j) {
      return at(to, held,
                add(add(mul(div(k, together), packed.row), mul(j, together)), rem(k, together)));
    };
    if (from.column == 1 && width % lanes == 0) {
      eachStep([&](Value k, bool isHalf) {
        for (int64_t j = 0; j < width; j += lanes)
          store(paired([&](Value k) { return load(k, i64(j), lanes); }, k, isHalf),
                place(k, i64(j)));
      });
      return packed;
    }
    loop(i64(0), i64(width), 1, [&](Value j) {
      int64_t whole = from.row == 1 ? spec.k / kAlongDepth * kAlongDepth : 0;
      if (whole)
        loop(i64(0), i64(whole), kAlongDepth, [&](Value k) {
          storePairs(load(k, j, kAlongDepth),
                     [&](int64_t i) { return place(add(k, i64(i * together)), j); });
        });
      fillDepth(
          i64(whole), [&](Value k) { return place(k, j); }, [&](Value k) { return load(k, j, 1); });
    });
    return packed;
  }

  //===--------------------------------------------------------------------===//
  // Multiplication of one block of rows by one panel.
  //===--------------------------------------------------------------------===//

  /// Multiplies a block of `height` rows of A by a panel of `width` columns, for the steps along K
  /// in [from, to), and adds the products to `sums`. `sums` has the accumulator vectors of the
  /// block, in row-major order. `from` is a multiple of four.
  void multiplyBlock(MatrixView a, MatrixView panel, int64_t height, int64_t width, Value from,
                     Value to, SmallVectorImpl<Value> &sums) {
    const int64_t steps = spec.steps();
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    bool whole = spec.packedB || plan.packsB; // whether memory after the last column can be read
    int64_t count = height * vectors;
    // With few accumulators, the loop would be bound by the FMA latency. Therefore several sets of
    // accumulators alternate over k.
    int64_t sets = 1;
    while (sets < 4 && sets * count < 8)
      sets *= 2;
    int64_t unroll = std::max<int64_t>(sets, count <= 8 ? 4 : count <= 16 ? 2 : 1);
    bool readOnce = spec.packedB && plan.blocks == 1;
    int64_t streams = readOnce && steps >= kStreams * kStreamRows ? kStreams : 1;
    int64_t distance = steps / streams; // number of steps along K in each stream

    auto step = [&](Value k, int64_t ahead, MutableArrayRef<Value> sums) {
      Value rowB =
          at(at(panel.base, panel.element, mul(k, panel.row)), panel.element, ahead * panel.row);
      Value columnA = at(at(a.base, a.element, mul(k, a.column)), a.element, ahead * a.column);
      if (readOnce)
        for (int64_t j = 0; j < panel.row * bytes(panel.element); j += 64)
          LLVM::Prefetch::create(b, loc, at(rowB, b.getI8Type(), kPrefetchBytes + j), /*rw=*/0,
                                 /*hint=*/3, /*cache=*/1);
      SmallVector<Value> right;
      for (int64_t j = 0; j < vectors; ++j)
        right.push_back(loadRight(at(rowB, panel.element, j * plan.lanes * spec.pairSize()),
                                  panel.element, whole ? plan.lanes : width - j * plan.lanes));
      for (int64_t i = 0; i < height; ++i) {
        Value left = loadLeft(at(columnA, a.element, i * a.row), a.element);
        for (int64_t j = 0; j < vectors; ++j)
          sums[i * vectors + j] = multiplyAdd(left, right[j], sums[i * vectors + j]);
      }
    };
    // Emits a loop over k in [first, last) that processes `rows` consecutive steps along K in each
    // of `places` streams.
    auto rows = [&](Value first, Value last, int64_t rows, int64_t places, ValueRange before) {
      return loop(first, last, rows, before, [&](Value k, ValueRange carried) {
        SmallVector<Value> next(carried);
        for (int64_t i = 0; i < rows * places; ++i)
          step(k, i % rows + i / rows * distance,
               MutableArrayRef<Value>(next).slice(i % sets * count, count));
        return next;
      });
    };

    sums.resize(sets * count, zeroVector());
    // If a panel is read in several streams, one call processes all of K, and `from` and `to` are
    // ignored.
    Value first = streams > 1 ? i64(0) : from, last = streams > 1 ? i64(distance) : to;
    Value bodyEnd = last;
    if (steps % unroll || distance % unroll)
      bodyEnd = sub(last, rem(sub(last, first), unroll));
    SmallVector<Value> done = rows(first, bodyEnd, unroll, streams, sums);
    if (steps % unroll || distance % unroll)
      done = rows(bodyEnd, last, 1, streams, done);
    if (steps % streams)
      done = rows(i64(streams * distance), i64(steps), 1, 1, done);
    for (int64_t set = 1; set < sets; ++set)
      for (int64_t i = 0; i < count; ++i)
        done[i] = addSums(done[i], done[set * count + i]);
    sums.assign(done.begin(), done.begin() + count);
  }

  /// Returns the first `valid` lanes of `x`.
  Value leading(Value x, int64_t valid) {
    if (valid >= plan.lanes)
      return x;
    return vector::ShuffleOp::create(b, loc, x, x, llvm::to_vector(llvm::seq<int64_t>(0, valid)));
  }

  /// Calls `visit(address of the first element, index of the vector)` for each vector of a block of
  /// accumulators in scratch memory.
  void eachKept(Value row, int64_t height, int64_t width,
                llvm::function_ref<void(Value, int64_t)> visit) {
    Value sums = at(operands.scratch, b.getI8Type(), plan.scratchSums);
    Value first = at(sums, sum, mul(row, plan.panelColumns));
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    for (int64_t i = 0; i < height; ++i)
      for (int64_t j = 0; j < vectors; ++j)
        visit(at(first, sum, i * plan.panelColumns + j * plan.lanes), i * vectors + j);
  }

  /// Applies the epilogue to a vector of complete accumulators and stores the result to C at [row,
  /// column]. `valid`: number of lanes to store.
  void storeRow(Value x, Value offsetC, Value batch, Value row, Value column, int64_t valid) {
    x = leading(x, valid);
    if (epilogue)
      x = epilogue(b, loc, x, batch, row, column);
    Type element = getElementTypeOrSelf(x.getType());
    store(x, at(operands.c, element, add(offsetC, add(mul(row, spec.strideCm), column))));
  }

  //===--------------------------------------------------------------------===//
  // Loops over work units, chunks and panels.
  //===--------------------------------------------------------------------===//

  /// Returns the offset, in elements, of a batch element in an operand. `stride` selects the
  /// operand.
  Value batchOffset(Value batch, int64_t BatchDim::*stride) {
    Value offset = i64(0), rest = batch;
    for (const BatchDim &dim : llvm::reverse(spec.batch)) {
      offset = add(offset, mul(rem(rest, dim.size), dim.*stride));
      rest = div(rest, dim.size);
    }
    return offset;
  }

  Value firstRowOf(Value block) {
    int64_t base = spec.m / plan.blocks;
    return add(mul(block, base), least(block, i64(plan.tallBlocks())));
  }

  /// Rows of A (a chunk of row blocks) that one work unit multiplies by a panel of B.
  struct Chunk {
    MatrixView a; ///< starts at the chunk's first row if A is packed into scratch, else at row 0
    Value batch, offsetC, firstBlock, lastBlock, firstRow, endRow;
  };

  /// Multiplies one row of A by a wide panel of an unpacked B (GEMV). The rows of the panel are
  /// contiguous, and the accumulators are in scratch memory.
  void rowByPanel(const Chunk &chunk, MatrixView panel, Value firstColumn, int64_t width) {
    Value sums = at(operands.scratch, b.getI8Type(), plan.scratchSums);
    int64_t whole = width / plan.lanes * plan.lanes;
    auto eachVector = [&](llvm::function_ref<void(Value, int64_t)> visit) {
      if (whole)
        loop(i64(0), i64(whole), plan.lanes, [&](Value column) { visit(column, plan.lanes); });
      if (whole < width)
        visit(i64(whole), width - whole);
    };
    auto addRows = [&](Value k, int64_t rows, bool isFirst) {
      Value columnA = at(chunk.a.base, chunk.a.element, mul(k, chunk.a.column));
      Value firstB = at(panel.base, panel.element, mul(k, panel.row));
      SmallVector<Value> left, right;
      for (int64_t i = 0; i < rows; ++i) {
        left.push_back(
            splat(loadScalar(at(columnA, chunk.a.element, i * chunk.a.column), chunk.a.element)));
        right.push_back(at(firstB, panel.element, i * panel.row));
      }
      eachVector([&](Value column, int64_t valid) {
        Value place = at(sums, sum, column);
        Value x = isFirst ? zeroVector() : loadVector(place, sum, plan.lanes);
        for (auto [a, row] : llvm::zip(left, right))
          x = multiplyAdd(a, loadVector(at(row, panel.element, column), panel.element, valid), x);
        store(x, place);
      });
    };
    int64_t first = std::min(kRowsTogether, spec.k), rest = (spec.k - first) % kRowsTogether;
    addRows(i64(0), first, true);
    if (first < spec.k - rest)
      loop(i64(first), i64(spec.k - rest), kRowsTogether,
           [&](Value k) { addRows(k, kRowsTogether, false); });
    if (rest)
      addRows(i64(spec.k - rest), rest, false);
    eachVector([&](Value column, int64_t valid) {
      storeRow(loadVector(at(sums, sum, column), sum, plan.lanes), chunk.offsetC, chunk.batch,
               chunk.firstRow, add(firstColumn, column), valid);
    });
  }

  void chunkByPanel(const Chunk &chunk, MatrixView panel, Value firstColumn, int64_t width) {
    int64_t base = spec.m / plan.blocks, tall = plan.tallBlocks();
    int64_t vectors = (width + plan.lanes - 1) / plan.lanes;
    bool split = plan.kBlocks(spec.steps()) > 1;

    auto blocks = [&](Value first, Value last, int64_t height, Value fromK, Value toK) {
      loop(first, last, 1, [&](Value block) {
        Value row = firstRowOf(block);
        Value inChunk = sub(row, chunk.firstRow);
        MatrixView rows = chunk.a;
        rows.base = at(rows.base, rows.element, mul(plan.packsA ? inChunk : row, rows.row));
        // In a packed A, the rows of a block are interleaved: the pairs of all rows at one step
        // along K are adjacent.
        if (spec.packedA)
          rows.row = spec.pairSize(), rows.column = height * spec.pairSize();
        SmallVector<Value> sums(height * vectors, zeroVector());
        if (split)
          eachKept(inChunk, height, width, [&](Value address, int64_t i) {
            sums[i] = loadVector(address, sum, plan.lanes);
          });
        multiplyBlock(rows, panel, height, width, fromK, toK, sums);
        if (plan.keepsSums)
          return eachKept(inChunk, height, width,
                          [&](Value address, int64_t i) { store(sums[i], address); });
        for (int64_t i = 0; i < height * vectors; ++i) {
          int64_t j = i % vectors * plan.lanes;
          storeRow(sums[i], chunk.offsetC, chunk.batch, add(row, i64(i / vectors)),
                   add(firstColumn, i64(j)), width - j);
        }
      });
    };
    auto allBlocks = [&](Value fromK, Value toK) {
      if (tall)
        blocks(chunk.firstBlock, least(chunk.lastBlock, i64(tall)), base + 1, fromK, toK);
      if (tall < plan.blocks)
        blocks(most(chunk.firstBlock, i64(tall)), chunk.lastBlock, base, fromK, toK);
    };

    if (split) {
      loop(chunk.firstRow, chunk.endRow, 1, [&](Value row) {
        eachKept(sub(row, chunk.firstRow), 1, width,
                 [&](Value address, int64_t) { store(zeroVector(), address); });
      });
      loop(i64(0), i64(spec.steps()), plan.kBlock,
           [&](Value k) { allBlocks(k, least(add(k, i64(plan.kBlock)), i64(spec.steps()))); });
    } else {
      allBlocks(i64(0), i64(spec.steps()));
    }
    // The epilogue may be long. A separate loop over rows emits its code once per vector of a row,
    // and not once for each row of a block.
    if (plan.keepsSums)
      loop(chunk.firstRow, chunk.endRow, 1, [&](Value row) {
        eachKept(sub(row, chunk.firstRow), 1, width, [&](Value address, int64_t j) {
          storeRow(loadVector(address, sum, plan.lanes), chunk.offsetC, chunk.batch, row,
                   add(firstColumn, i64(j * plan.lanes)), width - j * plan.lanes);
        });
      });
  }

  void emit() {
    int64_t lastWidth = spec.n - (plan.panels - 1) * plan.panelColumns;
    int64_t wholePanels = lastWidth == plan.panelColumns ? plan.panels : plan.panels - 1;
    bool sharedB = spec.isShared(&BatchDim::strideB);

    // Work units are ordered by batch, chunk and panel, so that consecutive units use the same
    // chunk of A.
    Value firstRun = div(operands.begin, plan.panels);
    Value lastRun = div(add(operands.end, i64(plan.panels - 1)), plan.panels);
    loop(firstRun, lastRun, 1, [&](Value run) {
      Value runStart = mul(run, plan.panels);
      Value from = most(sub(operands.begin, runStart), i64(0));
      Value to = least(sub(operands.end, runStart), i64(plan.panels));
      Chunk chunk;
      chunk.batch = div(run, plan.chunks);
      chunk.offsetC = batchOffset(chunk.batch, &BatchDim::strideC);
      chunk.firstBlock = mul(rem(run, plan.chunks), plan.blocksPerChunk);
      chunk.lastBlock = least(add(chunk.firstBlock, i64(plan.blocksPerChunk)), i64(plan.blocks));
      chunk.firstRow = firstRowOf(chunk.firstBlock);
      chunk.endRow = firstRowOf(chunk.lastBlock);
      Type elementA = spec.sumsIntegers() ? getStorageType(spec.elementA) : spec.elementA,
           elementB = spec.sumsIntegers() ? getStorageType(spec.elementB) : spec.elementB;
      chunk.a = {at(operands.a, elementA, batchOffset(chunk.batch, &BatchDim::strideA)), elementA,
                 spec.strideAm, spec.strideAk};
      if (spec.packedA)
        chunk.a = {operands.a, held, spec.steps() * spec.pairSize(), spec.pairSize()};
      if (plan.packsA) {
        MatrixView rows = chunk.a;
        rows.base = at(rows.base, rows.element, mul(chunk.firstRow, rows.row));
        Value count = sub(chunk.endRow, chunk.firstRow);
        chunk.a = spec.sumsIntegers() ? packIntegersA(rows, count) : packA(rows, count);
      }

      auto panelAt = [&](Value index, int64_t width) {
        Value column = mul(index, plan.panelColumns);
        MatrixView panel{operands.b, elementB, spec.strideBk, spec.strideBn};
        if (spec.packedB) {
          Value number = sharedB ? index : add(mul(chunk.batch, plan.panels), index);
          Type packed = elementB.isInteger(32) ? held : elementB;
          int64_t row = plan.panelColumns * spec.pairSize();
          panel = {at(operands.b, packed, mul(number, spec.steps() * row)), packed, row, 1};
        } else {
          Value offset =
              add(batchOffset(chunk.batch, &BatchDim::strideB), mul(column, spec.strideBn));
          panel.base = at(operands.b, elementB, offset);
          if (plan.packsB) {
            Value scratch = at(operands.scratch, b.getI8Type(), plan.scratchB);
            panel = spec.sumsIntegers() ? packIntegersPanel(panel, width, scratch)
                                        : packPanel(panel, width, scratch);
          }
        }
        plan.walksRows ? rowByPanel(chunk, panel, column, width)
                       : chunkByPanel(chunk, panel, column, width);
      };
      if (wholePanels)
        loop(from, least(to, i64(wholePanels)), 1,
             [&](Value index) { panelAt(index, plan.panelColumns); });
      if (wholePanels < plan.panels)
        loop(most(from, i64(wholePanels)), to, 1, [&](Value index) { panelAt(index, lastWidth); });
    });
  }
};

} // namespace

void emitContract(OpBuilder &b, Location loc, const ContractOperands &operands,
                  const ContractSpec &spec, const ContractPlan &plan, const Epilogue &epilogue) {
  ContractEmitter(b, loc, operands, spec, plan, epilogue).emit();
}

} // namespace dlc::cpu
