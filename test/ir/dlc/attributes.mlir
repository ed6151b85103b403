// Attributes that passes exchange, attributes with another prefix, and attributes without a prefix are accepted.
// RUN: dlc-opt %s | FileCheck %s

// CHECK: module attributes {dlc.accuracy = "strict", dlc.buckets = array<i64: 0, 64>, test.note = 1 : i64}
module attributes {dlc.accuracy = "strict", dlc.buckets = array<i64: 0, 64>, test.note = 1} {
  // CHECK: func.func @f(%{{.*}}: tensor<2xf32> {dlc.name = "x", test.note}) -> (tensor<2xf32> {dlc.layout = "any", dlc.name = "y"})
  func.func @f(%x: tensor<2xf32> {dlc.name = "x", test.note}) -> (tensor<2xf32> {dlc.layout = "any", dlc.name = "y"}) {
    // CHECK: dlc.relu %{{.*}} {dlc.device = "cpu", dlc.no_gradient, note = "a", test.note = "b"}
    %y = dlc.relu %x {dlc.device = "cpu", dlc.no_gradient, note = "a", test.note = "b"} : (tensor<2xf32>) -> tensor<2xf32>
    return %y : tensor<2xf32>
  }
}
