//===- options.hpp - what is asked of a model's compilation -----------------------===//
#ifndef DLC_OPTIONS_HPP
#define DLC_OPTIONS_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace dlc {

class Model;

struct ModelOptions {
  /// Where inputs, outputs and all else stand.
  std::string device = "cpu";
  /// PATTERN=DEVICE: operations of layers (nodes) of such names; input:PATTERN=DEVICE and
  /// output:PATTERN=DEVICE; all others where it costs least, auto:cpu,cuda:0=8GiB, or parallel
  /// branches at the same time, split:cpu,cpu:1.
  std::vector<std::string> place = {};
  /// Operations of such names may not need a transfer that nobody wrote; empty: any may.
  std::string forbidTransfers = {};
  /// PATTERN=rows or PATTERN=columns: parameters of such names are split over the ranks of `world`,
  /// along the first or the last dimension; PATTERN=N along dimension N, and PATTERN=columns:3 each
  /// of three blocks by itself. What follows from that is split too.
  std::vector<std::string> split = {};
  /// So many processes run the program together; 0: any number, where nothing is split.
  int world = 0;
  /// 0: as many as the process may use.
  int threads = 0;
  /// Measure candidate kernels instead of asking the cost model.
  bool tune = false;
  /// Seconds to measure kernels in the background of a program that runs already, on the model's
  /// choice: between its runs, in another thread. What is faster is swapped in from one run to the
  /// next, its state going over; the choices are kept in the tuning database of `cacheDir`. 0: not.
  double tuneInBackground = 0;
  /// none, bf16 or f16: products take operands of 16 bits and sum in f32; so activations take half
  /// the memory. Parameters, losses and updates stay f32.
  std::string precision = "none";
  /// highest, high or medium: products of f32 may round their operands to tf32 on GPUs, to two bf16
  /// parts on processors with tiles (high), to bf16 (medium).
  std::string matmulPrecision = "highest";
  /// strict: sums of f32 as written. default: convolutions with fewer products and, on processors
  /// with tiles, products of two bf16 parts of each number; errors up to 2e-5 of the largest
  /// result. fast: also what matmulPrecision = medium allows.
  std::string accuracy = "default";
  /// PATTERN=strict|default|fast: products of layers (nodes) of such names, whatever `accuracy`.
  std::vector<std::string> accuracyOf = {};
  /// f32 (in 16 bits where these hold the same and few rows wait for them), bf16, or int8 (with a
  /// scale for each column): what constant weights of products are kept in, and made f32 from
  /// there.
  std::string weights = "f32";
  /// PATTERN=f32|bf16|f16: operations of layers (nodes) of such names, whatever `precision`.
  std::vector<std::string> precisionOf = {};
  /// Bytes of state, constants and intermediate values that a training step may take: what does not
  /// fit is computed again for the backward pass. 0: any.
  int64_t maxMemory = 0;
  /// A program is made for each set of input shapes that the model is run with; so many are kept.
  size_t maxPrograms = 16;
  /// Where object code and tuning results are kept; by default $DLC_CACHE_DIR or the user's cache.
  /// Empty: nowhere.
  std::optional<std::string> cacheDir = std::nullopt;
  /// What kernels' times are estimated by: a processor that ships with dlc, a file that dlc tune
  /// --machine wrote, or "measured" (this machine, once, kept in `cacheDir`). Empty: by default
  /// $DLC_PROFILE; else what ships for the processor, else as "measured".
  std::string profile = {};
  /// States that the other model has by the same name are its memory: what one writes the other
  /// reads. Types must agree. Their runs then take turns. Null: nothing is shared.
  const Model *shareState = nullptr;
};

} // namespace dlc

#endif // DLC_OPTIONS_HPP
