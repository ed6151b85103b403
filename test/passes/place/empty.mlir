// RUN: dlc-opt %s --dlc-place --dlc-verify-placement | FileCheck %s
// RUN: dlc-opt %s --dlc-layout='threads=1' | FileCheck %s

// There is nothing that would load the dialect.
// CHECK: module {
// CHECK-NEXT: }
module {}
