//===- Cost.h - how long kernels may take, by arithmetic alone ------------===//
#ifndef DLC_CODEGEN_PROVIDERS_COST_H
#define DLC_CODEGEN_PROVIDERS_COST_H

#include "codegen/cpu/Kernel.h"
#include "codegen/cpu/Target.h"
#include "codegen/providers/LibraryCall.h"

namespace dlc {

/// The machine of the cost model: figures of one core unless they say otherwise, good enough to
/// rank what differs by factors. Everything that the model believes about hardware and libraries
/// stands here; the figures were measured with
/// --tune on a Zen 5 core (AVX-512 at full width), those of `withTiles` on Sapphire Rapids, of
/// `inVectors` on Emerald Rapids.
struct Machine {
  // Products, f32 with 512-bit vectors; half of it with 256.
  double libraryGflops = 230;
  double referenceGflops = 0.1; ///< of reference implementations, whatever the type
  double contractGflops = 232,
         contractLargeGflops = 218; ///< large: the right operand is beyond `largeBytes`
  double largeBytes = 1.5e6;
  double libraryPackedPart = 1; ///< of libraryGflops, where weights were packed before
  double convolutionGflops = 210;
  double transformedGigabytes = 40; ///< transforming tiles, what passes through the caches
  /// Our own direct convolutions; elements per nanosecond that are copied for them, and that leave
  /// sums.
  double directGflops = 200, directCopied = 12, directResults = 8;
  double directShared = 16; ///< bytes per nanosecond that other cores wrote
  /// Packed weights from memory, where kernels ask for them ahead and go on multiplying, and what
  /// those bytes from so many on cost a library that does not. 0: counted with other traffic.
  double streamedGigabytes = 0, libraryStreamedGigabytes = 0, libraryStreamedBytes = 5e5;
  /// And those of a product, beside whose sums they come; what is not hidden behind them.
  double libraryBesideGigabytes = 0, vectorsBesideGigabytes = 0;
  /// And of a generated product, which asks for nothing ahead: each core waits for them.
  double contractStreamedGigabytes = 12;
  double libraryStrided =
      0; ///< elements per nanosecond that it copies where strides leave pixels out; 0: nothing
  double summed =
      20; ///< results per nanosecond that are added to sums of their channels while they are made
  double recurrentGflops = 110;
  double unfoldedPart =
      0.5; ///< what convolutions as products over unfolded images reach of their rate
  double unfoldedSteps = 0.25; ///< results per nanosecond of each step after those
  double builtinWindows =
      1.5; ///< window elements, or products of a weight gradient, of the runtime's own kernels
  double libraryBf16Gain = 1.8;           ///< where the processor multiplies bf16 itself
  double libraryBf16Convolutions = 1.8;   ///< of f32's rate, in vectors
  double libraryTilesPart = 0.5;          ///< of tileGflops, of the library's convolutions on tiles
  double libraryTilesGradientPart = 0.23; ///< and of their gradients by weights
  double tileGradientPart = 0.6;          ///< of our own
  double turnedPixels = 4; ///< elements of bf16 per nanosecond that are packed for sums over pixels
  double tileGflops =
      600; ///< of bf16, on tiles; neighbours on the same core may halve or double it
  double tileRows = 16, tileColumns = 32, tileDepth = 32;
  double tileCall = 8; ///< microseconds: packing ends before products begin, and tiles are set up
  double tileResults = 4; ///< sums per nanosecond that become results
  /// Attention by blocks: its products in vectors and on tiles, scores per nanosecond that become
  /// probabilities, keys of a block.
  double attentionGflops = 130, attentionTileGflops = 500, attentionScores = 1.6,
         attentionBlock = 512;
  /// Products in our own vectors, elements per nanosecond that are packed for them, and of a left
  /// operand that lies across.
  double vectorsGflops = 250, vectorsPacked = 1.8, vectorsAcross = 1.5;
  double vectorsBatchNanoseconds = 100; ///< it starts anew for each batch
  double vectorsOwn = 3.7; ///< and of one whose rows each thread packs for itself, while it
                           ///< multiplies by few columns
  double summedPacked =
      12; ///< of an operand that are summed up when they have been packed, in vectors of 16
  /// By Strassen's algorithm: how much faster a product's sums are, how much slower its packing,
  /// which adds quarters up, and results per nanosecond that are written in each round of so much
  /// depth.
  double strassenGain = 1.23, strassenPacking = 1.9, strassenResults = 4, strassenDepth = 768;
  double splitParts = 2;                          ///< elements per nanosecond that become parts
  double changed = 4, changedByExponential = 1.5; ///< and that become something else before
  /// A product of one row has so much of the rate, each further row so much more.
  double oneRow = 0.35, eachRow = 0.15;
  double libraryShortProduct = 1.1, libraryOneRow = 1.2; ///< longer than contract for the same
  double gemmPart = 0.93;                                ///< what oneDNN's gemm reaches of its rate
  double gemmInner = 1e9,
         gemmLongPart = 0.93; ///< and where more than so many products go into a sum
  /// Elements per nanosecond of a left operand that lies across, in oneDNN's gemm and in generated
  /// products.
  double gemmAcross = 1e9, contractAcross = 1e9;
  double gemmPacked = 8,
         gemmTransposed = 8; ///< elements per nanosecond of a right operand that it packs
  /// A contracted dimension of at most so many is short for the other products: they take longer by
  /// this.
  double shortInner = 0, shortInnerPart = 1;
  double gemmBatchNanoseconds = 250,
         libraryBatchNanoseconds = 60; ///< oneDNN's gemm starts anew for each batch

  // Bodies pulled row by row.
  double elementGflops = 30;
  double scalarGflops = 2;        ///< no lanes along the loop, or no reuse of registers
  double innerProductGflops = 60; ///< a product whose right operand stays in the first-level cache
  double outerProductGflops = 6;  ///< and one whose does not
  double averageGigataps = 3, maximumGigataps = 0.5;
  double firstLevelBytes = 32e3;

  // Moving elements, in elements per nanosecond.
  double gathered = 1.6; ///< loaded one by one into lanes
  double libraryTransposed = 3.2;
  /// Bytes of a right operand that is not in panels, read in short runs, count so many times in a
  /// generated product.
  double shortRuns = 1.4;
  double packed = 80, packedTransposed = 25, packedTransposedLarge = 7, libraryPacked = 12;
  double libraryPoolOutputs = 1.0; ///< results of a pool in a plain layout
  double libraryPoolTaps = 30;     ///< and its taps in a blocked one

  // Bytes per nanosecond.
  double nearGigabytes = 110, cacheGigabytes = 65;
  double memoryGigabytes = 30; ///< all cores together
  double nearBytes = 6e6, cacheBytes = 24e6;

  // Microseconds.
  double launch = 0.05, call = 0.6, wake = 1.5;
  double wakeFlops = 400e3; ///< a library starts other threads for more than that

  /// Intel's with AVX-512, and those with AMX.
  static Machine inVectors();
  static Machine withTiles();
};

/// Microseconds by the machine's figures: what all kernels' estimates have in common. How long a
/// provider's own kernels take stands with the provider.
struct CostModel {
  CostModel(const cpu::Target &target, int threads);

  /// Cores that work on so many operations.
  double coresFor(double flops) const;
  /// Cores that a generated kernel's units keep busy.
  double coresFor(const cpu::KernelPlan &plan) const;
  /// Nanoseconds for bytes that pass once.
  double traffic(double bytes, double cores) const;
  /// Nanoseconds for bytes from memory at the rate of each core, as far as memory goes; none at
  /// rate 0.
  double streamed(double bytes, double rate, double cores) const;
  /// Nanoseconds that packed weights add to so many of sums.
  double beside(const LibraryCall &call, double nanoseconds, double rate, double cores) const;
  /// Microseconds in the end.
  double ended(double nanoseconds, double overhead, double cores) const;
  /// Microseconds of a call that works for so many nanoseconds.
  double ended(const LibraryCall &call, double nanoseconds) const;

  /// Microseconds that no kernel beats by much that does so many operations, multiplications above
  /// all, on so many bytes.
  double least(double flops, double bytes) const;
  /// Microseconds that a product on tiles takes longer where it makes so many elements of an
  /// operand first.
  double prologue(double elements, bool exponential) const;
  /// Microseconds that a product takes longer where it sums up so many elements of an operand.
  double sums(double elements) const;
  /// Microseconds that a convolution takes longer where it sums up the channels of so many results.
  double statistics(double elements) const;

  Machine machine;
  double threads, lanes;
};

/// Of vectors over n columns, the part that is not behind the last one.
double laneShare(double n, double lanes);
/// Of sizes; the last `drop` left out.
double productOf(llvm::ArrayRef<int64_t> sizes, size_t drop = 0);
/// Bytes of weights that were packed before.
double packedBytes(const LibraryCall &call);
/// Whether all matrices of a batch are one: strides without those of rows and columns are 0.
bool isShared(const nlohmann::json &strides);

} // namespace dlc
#endif
