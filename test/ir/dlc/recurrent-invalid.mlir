// Recurrent layers: one test per constraint, and the inferred types.
// RUN: dlc-opt %s -verify-diagnostics=only-expected -split-input-file

func.func @lstm_c1_x(%x: tensor<7x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'x' must be [T, N, I]; found [7, 5]; reshape it}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_r(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<3x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'r' must be [D, G*H, H]; found [3, 3]; reshape it}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<3x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_w(%x: tensor<7x2x5xf32>, %w: tensor<1x12x6xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'w' must be [D, G*H, I], here [1, 12, 5]; found [1, 12, 6]; correct the shape}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x6xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_gates(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x13x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'r' must be [D, G*H, H], here [1, 12, 3]; found [1, 13, 3]}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x13x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_b(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x12xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'b' must be [D, 2*G*H], here [1, 24]; found [1, 12]}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x12xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_h(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x3x2xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'h0' must be [D, N, H], here [1, 2, 3]; found [1, 3, 2]}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x3x2xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c2(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf16>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C2: element types must agree; 'x' has 'f32', 'h0' has 'f16'}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf16>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_x(%x: tensor<7x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'x' must be [T, N, I]; found [7, 5]; reshape it}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_r(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<3x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'r' must be [D, G*H, H]; found [3, 3]; reshape it}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<3x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_w(%x: tensor<7x2x5xf32>, %w: tensor<1x9x6xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'w' must be [D, G*H, I], here [1, 9, 5]; found [1, 9, 6]; correct the shape}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x6xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_gates(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x10x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'r' must be [D, G*H, H], here [1, 9, 3]; found [1, 10, 3]}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x10x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_b(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x9xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'b' must be [D, 2*G*H], here [1, 18]; found [1, 9]}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x9xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c1_h(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x3x2xf32>) {
  // expected-error @+1 {{'dlc.gru' op C1: 'h0' must be [D, N, H], here [1, 2, 3]; found [1, 3, 2]}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x3x2xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @gru_c2(%x: tensor<7x2x5xf32>, %w: tensor<1x9x5xf32>, %r: tensor<1x9x3xf32>, %b: tensor<1x18xf32>, %h: tensor<1x2x3xf16>) {
  // expected-error @+1 {{'dlc.gru' op C2: element types must agree; 'x' has 'f32', 'h0' has 'f16'}}
  %0:2 = dlc.gru %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>, tensor<1x18xf32>, tensor<1x2x3xf16>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_x(%x: tensor<7x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'x' must be [T, N, I]; found [7, 5]; reshape it}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_r(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'r' must be [D, G*H, H]; found [3, 3]; reshape it}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_w(%x: tensor<7x2x5xf32>, %w: tensor<1x3x6xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'w' must be [D, G*H, I], here [1, 3, 5]; found [1, 3, 6]; correct the shape}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x6xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_gates(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x4x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'r' must be [D, G*H, H], here [1, 3, 3]; found [1, 4, 3]}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x4x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_b(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x3xf32>, %h: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'b' must be [D, 2*G*H], here [1, 6]; found [1, 3]}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c1_h(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x3x2xf32>) {
  // expected-error @+1 {{'dlc.rnn' op C1: 'h0' must be [D, N, H], here [1, 2, 3]; found [1, 3, 2]}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x3x2xf32>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @rnn_c2(%x: tensor<7x2x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x2x3xf16>) {
  // expected-error @+1 {{'dlc.rnn' op C2: element types must agree; 'x' has 'f32', 'h0' has 'f16'}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x2x3xf16>) -> (tensor<?x?x?x?xf32>, tensor<?x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_c(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x4xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'c0' must be [D, N, H], here [1, 2, 3]; found [1, 2, 4]}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction forward>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x4xf32>) -> (tensor<?x1x?x?xf32>, tensor<1x?x?xf32>, tensor<1x?x?xf32>)
  return
}

// -----

func.func @lstm_c1_directions(%x: tensor<7x2x5xf32>, %w: tensor<1x12x5xf32>, %r: tensor<1x12x3xf32>, %b: tensor<1x24xf32>, %h: tensor<1x2x3xf32>, %c: tensor<1x2x3xf32>) {
  // expected-error @+1 {{'dlc.lstm' op C1: 'w' must be [D, G*H, I], here [2, 12, 5]; found [1, 12, 5]}}
  %0:3 = dlc.lstm %x, %w, %r, %b, %h, %c {direction = #dlc<direction both>} : (tensor<7x2x5xf32>, tensor<1x12x5xf32>, tensor<1x12x3xf32>, tensor<1x24xf32>, tensor<1x2x3xf32>, tensor<1x2x3xf32>) -> (tensor<?x1x?x?xf32>, tensor<1x?x?xf32>, tensor<1x?x?xf32>)
  return
}

// -----

func.func @rnn_c2_device(%x: tensor<7x2x5xf32, #dlc.on<cpu>>, %w: tensor<1x3x5xf32, #dlc.on<cpu>>, %r: tensor<1x3x3xf32, #dlc.on<cpu>>, %b: tensor<1x6xf32, #dlc.on<cpu>>, %h: tensor<1x2x3xf32, #dlc.on<cuda:0>>) {
  // expected-error @+1 {{'dlc.rnn' op C2: operands must be on one device; 'x' is on cpu, 'h0' on cuda:0}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<7x2x5xf32, #dlc.on<cpu>>, tensor<1x3x5xf32, #dlc.on<cpu>>, tensor<1x3x3xf32, #dlc.on<cpu>>, tensor<1x6xf32, #dlc.on<cpu>>, tensor<1x2x3xf32, #dlc.on<cuda:0>>) -> (tensor<7x1x2x3xf32, #dlc.on<cpu>>, tensor<1x2x3xf32, #dlc.on<cpu>>)
  return
}

// -----

func.func @inferred(%x: tensor<?x?x5xf32>, %w: tensor<1x3x5xf32>, %r: tensor<1x3x3xf32>, %b: tensor<1x6xf32>, %h: tensor<1x?x3xf32>) {
  // expected-error @+1 {{'dlc.rnn' op inferred type(s) 'tensor<?x1x?x3xf32>', 'tensor<1x?x3xf32>' are incompatible with return type(s) of operation 'tensor<f32>', 'tensor<f32>'}}
  %0:2 = dlc.rnn %x, %w, %r, %b, %h {direction = #dlc<direction forward>} : (tensor<?x?x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>, tensor<1x?x3xf32>) -> (tensor<f32>, tensor<f32>)
  return
}
