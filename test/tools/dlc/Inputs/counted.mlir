// The elements of x above one half, whose number is known only at run time.
func.func @main(%x: tensor<6xf32> {dlc.name = "x"})
    -> (tensor<6xf32> {dlc.name = "large", dlc.counted = array<i64: 0, 1>}, tensor<i64> {dlc.name = "large.size"}) {
  %half = dlc.constant dense<0.5> : tensor<f32>
  %m = dlc.compare gt %x, %half : (tensor<6xf32>, tensor<f32>) -> tensor<6xi1>
  %n = dlc.cast %m to i64 : (tensor<6xi1>) -> tensor<6xi64>
  %sum = dlc.cumulative sum %n axis 0 : (tensor<6xi64>) -> tensor<6xi64>
  %one = dlc.constant dense<1> : tensor<i64>
  %number = dlc.sub %sum, %one : (tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
  %last = dlc.constant dense<6> : tensor<i64>
  %to = dlc.select %m, %number, %last : (tensor<6xi1>, tensor<6xi64>, tensor<i64>) -> tensor<6xi64>
  %none = dlc.constant dense<0.0> : tensor<7xf32>
  %all = dlc.scatter_elements none 0 %none, %to, %x : (tensor<7xf32>, tensor<6xi64>, tensor<6xf32>) -> tensor<7xf32>
  %y = dlc.slice %all start [0] size [6] stride [1] : (tensor<7xf32>) -> tensor<6xf32>
  %count = dlc.reduce sum %n axes [0] : (tensor<6xi64>) -> tensor<i64>
  return %y, %count : tensor<6xf32>, tensor<i64>
}
