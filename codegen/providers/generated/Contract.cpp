//===- Contract.cpp - generated code for blocked matmuls ------------------===//
#include "codegen/cpu/contract/ContractFusion.h"
#include "codegen/providers/Provider.h"

using namespace mlir;

namespace dlc {

namespace {

/// Rate of integer matmuls that add pairs of products in one instruction (`pmaddwd`), relative to
/// the f32 rate. kPairsWithDots applies if the library has instructions that sum four products
/// (VNNI): it is lower because the estimate of the library's time still assumes the f32 rate.
constexpr double kPairs = 1.6, kPairsWithDots = 0.4;
/// Rate of matmuls that sum four products of 8-bit integers in one instruction (VNNI), relative to
/// the f32 rate. kBytesFewRows applies to at most two blocks of rows. Measured times relative to
/// the library: 0.9 to 1.3 for 64 to 256 rows (mean 1.1), and 0.3 to 0.8 for at most two blocks of
/// rows.
constexpr double kBytes = 0.9, kBytesFewRows = 1.4;

/// Relative cost of reading a transposed left operand. It is 1 if adjacent elements of the
/// reduction dimension (k) are at least kFar bytes apart, and proportionally less otherwise.
double estimateStridedReadCost(const cpu::ContractSpec &spec) {
  constexpr double kFar = 2048; // bytes
  return std::min(1.0, double(spec.strideAk * ref::elementBytes(spec.elementA)) / kFar);
}

/// Estimated microseconds of a generated blocked matmul.
double estimate(const cpu::ContractFusion &contract, const cpu::KernelPlan &plan,
                const CostModel &cost) {
  const Machine &machine = cost.machine;
  const cpu::ContractSpec &spec = contract.spec;
  const cpu::ContractPlan &schedule = contract.plan;
  double batches = double(spec.batchSize()), m = double(spec.m), n = double(spec.n),
         k = double(spec.k);
  double bytesB = n * k * double(ref::elementBytes(spec.elementB));
  bool large = bytesB > machine.largeBytes;
  double rate = (large && !spec.packedB ? machine.contractLargeGflops : machine.contractGflops) *
                (spec.elementA.isF64() ? 0.5 : 1);
  if (spec.sumsIntegers())
    rate *= schedule.multipliesBytes ? (schedule.blocks <= 2 ? kBytesFewRows : kBytes)
            : hasExactInt8Library()  ? kPairsWithDots
                                     : kPairs;
  // The rate is lower for blocks of few rows, because each accumulation waits for the result of the
  // previous one. It is also lower if the last vector of columns is partial. The first does not
  // apply to kernels that multiply bytes: for few rows, their panels are wider.
  if (!schedule.multipliesBytes)
    rate *= std::min(1.0, machine.oneRow + machine.eachRow * double(schedule.blockHeight()));
  rate *= laneShare(n, double(schedule.lanes));
  double cores = cost.coresFor(plan);
  double nanoseconds = 2 * batches * m * n * k / rate;
  if (schedule.packsA)
    nanoseconds += batches * m * k / machine.packed;
  else if (spec.strideAk != 1)
    nanoseconds += batches * m * k * estimateStridedReadCost(spec) / machine.contractAcross;
  if (schedule.packsB)
    nanoseconds += batches * double(schedule.chunks) * n * k /
                   (spec.strideBn == 1 ? machine.packed
                    : large            ? machine.packedTransposedLarge
                                       : machine.packedTransposed);
  double bytes = cost.traffic(plan.bytes, cores) *
                 (spec.packedB || schedule.packsB || schedule.walksRows ? 1 : machine.shortRuns);
  nanoseconds = std::max(nanoseconds / cores, bytes);
  // The packed weights may be read from memory. The schedule for bytes prefetches them like the
  // library's matmuls.
  if (schedule.multipliesBytes)
    nanoseconds +=
        std::min(nanoseconds, cost.streamed(bytesB, machine.libraryBesideGigabytes, cores));
  else if (spec.packedB)
    nanoseconds += cost.streamed(bytesB, machine.contractStreamedGigabytes, cores);
  return cost.ended(nanoseconds, machine.launch, cores);
}

class ContractProvider : public Provider {
public:
  ContractProvider()
      : Provider({.name = "contract",
                  .description = "generated code for products in blocks",
                  .kind = KernelKind::Host,
                  .family = "generated"}) {}

  void propose(CandidateCollector &collector) const override {
    std::string why;
    FusionOp normal = collector.fusion ? collector.normal(why) : FusionOp();
    if (!normal)
      return;
    const cpu::Target &target = collector.selection.target;
    auto schedule = planContractSchedule(collector.fusion, normal, target, /*packs=*/false, why);
    if (failed(schedule))
      return;
    std::optional<unsigned> packed;
    if (schedule->packed)
      packed = schedule->packed->argument;
    auto contract = cpu::matchContract(normal, target, packed);
    collector.add({"contract",
                   schedule->packed ? "contract:packed" : "contract",
                   {},
                   estimate(*contract, schedule->plan, collector.cost)});
  }

  FailureOr<Schedule> schedule(FusionOp fusion, FusionOp normal, const cpu::Target &target,
                               bool packs, std::string &why) const override {
    return planContractSchedule(fusion, normal, target, packs, why);
  }
};

} // namespace

const Provider &provide::contract() {
  static const ContractProvider provider;
  return provider;
}

} // namespace dlc
