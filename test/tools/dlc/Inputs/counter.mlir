// Counts its runs and sums its inputs.
func.func @main(%n: tensor<i64> {dlc.name = "n", dlc.state, dlc.init = dense<5> : tensor<i64>},
                %sum: tensor<1x3xf32> {dlc.name = "sum", dlc.state, dlc.parameter}, %x: tensor<1x3xf32> {dlc.name = "x"})
    -> (tensor<i64> {dlc.name = "n", dlc.state}, tensor<1x3xf32> {dlc.name = "sum", dlc.state}, tensor<i64> {dlc.name = "count"}) {
  %one = dlc.constant dense<1> : tensor<i64>
  %next = dlc.add %n, %one : (tensor<i64>, tensor<i64>) -> tensor<i64>
  %more = dlc.add %sum, %x : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %next, %more, %next : tensor<i64>, tensor<1x3xf32>, tensor<i64>
}
