//===- Cost.h - how long kernels may take, by arithmetic alone ------------===//
#ifndef DLC_CODEGEN_SELECT_COST_H
#define DLC_CODEGEN_SELECT_COST_H

#include "codegen/cpu/ContractFusion.h"
#include "codegen/select/LibraryCall.h"

namespace dlc {

/// The machine of the cost model: figures of one core and of all together, good enough to rank what differs by factors.
/// Everything that the model believes about hardware stands here.
struct Machine {
  double vectorGflops = 110;       ///< one core, blocked f32 products of AVX-512 width; half of it with AVX2
  double elementGflops = 30;       ///< one core, elementwise bodies with lanes
  double scalarGflops = 2;         ///< one core, loops without lanes or without reuse of registers
  double gatherGigaelements = 0.5; ///< one core, elements loaded one by one into lanes
  double cacheGigabytes = 40;      ///< one core, what lies in its caches
  double memoryGigabytes = 20;     ///< all cores together, from memory
  double cacheBytes = 24e6;        ///< what is larger comes from memory
  double launchMicroseconds = 0.3; ///< a command that runs generated code
  double callMicroseconds = 2.0;   ///< a command that calls a library
  double wakeMicroseconds = 1.5;   ///< work that is spread over several threads
};

/// Microseconds of each kind of candidate with so many threads.
struct CostModel {
  explicit CostModel(const cpu::Target &target, int threads);

  double call(const LibraryCall &call) const;
  /// A body pulled row by row.
  double rows(FusionOp normal, const cpu::KernelPlan &plan) const;
  double contract(const cpu::ContractFusion &contract, const cpu::KernelPlan &plan) const;

private:
  double traffic(double bytes) const;
  Machine machine;
  int threads;
};

} // namespace dlc
#endif
