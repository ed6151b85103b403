//===- options.hpp - options of a model's compilation ---------------------===//
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
  /// Default device of inputs, outputs and operations, such as "cpu" or "cuda:0".
  std::string device = "cpu";
  /// Placement of operations on other devices. PATTERN=DEVICE: the layers (nodes) whose names match
  /// PATTERN. input:PATTERN=DEVICE and output:PATTERN=DEVICE: inputs and outputs.
  /// auto:cpu,cuda:0=8GiB: all other operations on the devices with the least cost.
  /// split:cpu,cpu:1: parallel branches on different devices at the same time.
  std::vector<std::string> place = {};
  /// Pattern of names of layers and values for which no implicit transfer between devices may be
  /// inserted ("*": nowhere). Empty: transfers may be inserted everywhere.
  std::string forbidTransfers = {};
  /// Parameters that are split over the ranks of `world`. PATTERN=rows and PATTERN=columns: the
  /// parameters whose names match PATTERN, along the first or the last dimension. PATTERN=N: along
  /// dimension N. PATTERN=columns:3: each of three blocks of columns separately. Values derived
  /// from these parameters are split accordingly.
  std::vector<std::string> split = {};
  /// Number of processes (ranks) that run the program together. 0: any number, if no parameter is
  /// split.
  int world = 0;
  /// Number of threads. 0: all threads that the process may use.
  int threads = 0;
  /// Whether candidate kernels are benchmarked instead of relying on the cost model.
  bool tune = false;
  /// Time limit in seconds for background tuning of a running program: between runs, in another
  /// thread. A faster kernel replaces the previous one between two runs, and the state of the
  /// program is preserved. The choices are stored in the tuning database in `cacheDir`. 0: no
  /// background tuning.
  double tuneInBackground = 0;
  /// Type of the operands of matmuls and convolutions, which accumulate in f32: none, bf16 or f16.
  /// A 16-bit type halves the memory of activations. Parameters, losses and updates stay f32.
  std::string precision = "none";
  /// Permitted rounding of the f32 operands of matmuls and convolutions: highest, high or medium.
  /// high: tf32 on GPUs, a sum of two bf16 values on CPUs with AMX tiles. medium: bf16.
  std::string matmulPrecision = "highest";
  /// Permitted rounding of f32 operations: strict, default or fast. strict: f32 sums are computed
  /// as written. default: convolution algorithms with fewer multiplications (such as Winograd) and,
  /// on CPUs with AMX tiles, products of operands split into two bf16 values; errors are at most
  /// 2e-5 of the largest result. fast: also the rounding that matmulPrecision = medium permits.
  std::string accuracy = "default";
  /// Overrides of `accuracy` by name, PATTERN=strict|default|fast, for the matmuls and convolutions
  /// of layers (nodes) whose names match PATTERN.
  std::vector<std::string> accuracyOf = {};
  /// Storage type of the constant weights of matmuls, which are converted to f32 when used. f32: as
  /// given, but in 16 bits if that is lossless and the matmul has few rows. bf16. int8: with one
  /// scale for each column.
  std::string weights = "f32";
  /// Whether matmuls read f32 copies of quantized weights. auto: if this is faster, up to 256 MiB
  /// of a program. never: the program has about the size of the quantized weights.
  std::string dequantizeWeights = "auto";
  /// Overrides of `precision` by name, PATTERN=f32|bf16|f16, for the layers (nodes) whose names
  /// match PATTERN.
  std::vector<std::string> precisionOf = {};
  /// Number of channels, 8 or 16, in a block of the NCHWc weights of an ONNX file that ONNX Runtime
  /// has optimized. 0: determined by the file; if both sizes fit, the import reports an error.
  int nchwcBlock = 0;
  /// Limit in bytes for the state, constants and intermediate values of a training step. Values
  /// that exceed it are recomputed in the backward pass. 0: no limit.
  int64_t maxMemory = 0;
  /// Maximum number of cached programs. Each set of input shapes is compiled to a separate program.
  size_t maxPrograms = 16;
  /// Folder for object code and tuning results. By default $DLC_CACHE_DIR or the user's cache
  /// folder. Empty: no files are stored.
  std::optional<std::string> cacheDir = std::nullopt;
  /// Parameters of the cost model: the name of a processor profile that ships with dlc, a file
  /// written by `dlc tune --machine`, or "measured" (this machine is measured once, and the result
  /// is stored in `cacheDir`). Empty: $DLC_PROFILE if it is set, otherwise the profile that ships
  /// for this processor, otherwise "measured".
  std::string profile = {};
  /// Model that shares its state with this one: states of the same name use the same memory, so
  /// that each model reads what the other one writes. Their types must be equal, and their runs are
  /// serialized. Null: no state is shared.
  const Model *shareState = nullptr;
};

} // namespace dlc

#endif // DLC_OPTIONS_HPP
