//===- collective.hpp - collective operations over the processes of a world --===//
//
//   Tensor all = dlc::trace::all_reduce(part, dlc::trace::Reduction::Mean);
//
// All processes run the same program and synchronize at these calls. Without a launcher the world
// consists of this process alone.
//
//===----------------------------------------------------------------------===//
#ifndef DLC_COLLECTIVE_HPP
#define DLC_COLLECTIVE_HPP

#include "dlc/optim.hpp"

namespace dlc::trace {

enum class Reduction { Sum, Mean, Max };

/// All-reduce: reduces the elements over all processes. Every process gets the result.
Tensor all_reduce(const Operand &x, Reduction reduction = Reduction::Sum);
/// Broadcast: returns the elements of process `root` in every process.
Tensor broadcast_ranks(const Operand &x, int64_t root = 0);
/// All-gather and reduce-scatter for a world of `size` processes. all_gather concatenates the rows
/// of all processes in rank order. reduce_scatter reduces the rows over all processes and returns
/// this process's share of them.
Tensor all_gather(const Operand &x, int64_t size);
Tensor reduce_scatter(const Operand &x, int64_t size, Reduction reduction = Reduction::Sum);
/// Concatenates the rows of the operands and returns this process's share of the rows in a world of
/// `size` processes. If `size` is 0, the share is one row, and the world may have any size up to
/// the number of rows. Does not communicate.
Tensor own_rows(const Operands &xs, int64_t size);

} // namespace dlc::trace

namespace dlc::optim {

/// Averages the gradients over the processes of the world. If the loss of each process is a mean
/// over its batch and all batches have the same size, the results are the gradients of the mean
/// loss of the global batch.
Gradients averaged(const Gradients &gradients);

} // namespace dlc::optim

#endif // DLC_COLLECTIVE_HPP
