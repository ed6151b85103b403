// RUN: dlc-opt %s --dlc-place --dlc-verify-placement | FileCheck %s
// RUN: dlc-opt %s --dlc-layout='threads=1' | FileCheck %s

// The module has no operation that would load the dialect.
// CHECK: module {
// CHECK-NEXT: }
module {}
