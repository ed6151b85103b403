// A softmax with a dynamic number of rows.
func.func @main(%x: tensor<?x4xf32> {dlc.name = "x"}) -> (tensor<?x4xf32> {dlc.name = "y"}) {
  %y = dlc.softmax %x {axis = 1 : i64} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
