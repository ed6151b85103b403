//===- collective.hpp - what the processes of a world share ---------------===//
//
//   Tensor all = dlc::trace::all_reduce(part, dlc::trace::Reduction::Mean);
//
// All processes run one program, and meet where it calls these. Without a launcher the world is
// this process alone.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_COLLECTIVE_HPP
#define DLC_COLLECTIVE_HPP

#include "dlc/optim.hpp"

namespace dlc::trace {

enum class Reduction { Sum, Mean, Max };

/// The elements of all processes, combined.
Tensor all_reduce(const Operand &x, Reduction reduction = Reduction::Sum);
/// The root's elements, in every process.
Tensor broadcast_ranks(const Operand &x, int64_t root = 0);
/// These two are for a world of `size` processes alone. The rows of all, one process's after the
/// other's; and of the combined rows each process's share.
Tensor all_gather(const Operand &x, int64_t size);
Tensor reduce_scatter(const Operand &x, int64_t size, Reduction reduction = Reduction::Sum);
/// Of the operands' rows, one operand's after the other's, this process's share in a world of
/// `size`; 0: one row, in a world of any size that there are rows for. Nobody is waited for.
Tensor own_rows(const Operands &xs, int64_t size);

} // namespace dlc::trace

namespace dlc::optim {

/// Averaged over the processes of the world: where each one's loss is a mean over its batch, and
/// batches are of one size, these are the gradients of the whole batch's mean.
Gradients averaged(const Gradients &gradients);

} // namespace dlc::optim

#endif // DLC_COLLECTIVE_HPP
