// Device and layout of a tensor: one test per constraint.
// RUN: dlc-opt %s -verify-diagnostics -split-input-file

// expected-error @+1 {{C1: the device must be cpu, cpu:N or cuda:N, or KIND:N of a plugin's kind in lower-case letters, digits and '_'; found 'Tpu'; correct the name}}
func.func private @f(tensor<4x16xf32, #dlc.on<Tpu:0>>)

// -----

// expected-error @+1 {{C2: the layout must name each of the 2 dimensions once, from 'a' on; found 'a'; correct the tag}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, a>>)

// -----

// expected-error @+1 {{C2: the layout must name each of the 2 dimensions once, from 'a' on; found 'aa'}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, aa>>)

// -----

// expected-error @+1 {{C2: the layout must name each of the 2 dimensions once, from 'a' on; found 'ac'}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, ac>>)

// -----

// expected-error @+1 {{C3: every upper-case dimension must have an inner block; found 'aB'; add blocks such as 16b}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, aB>>)

// -----

// expected-error @+1 {{C3: inner blocks must read like 16b, each for an upper-case dimension; found 'ab16b'; correct the tag}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, ab16b>>)

// -----

// expected-error @+1 {{C3: inner blocks must read like 16b}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, aB0b>>)

// -----

// expected-error @+1 {{C3: inner blocks must read like 16b}}
func.func private @f(tensor<4x16xf32, #dlc.on<cpu, aB16>>)
