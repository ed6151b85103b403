/* main.c - loads a compiled program, runs it on ones, and prints the outputs. */
#include <dlc/dlc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(dlc_error *error) {
  if (error) {
    fprintf(stderr, "%s\n", dlc_error_message(error));
    exit(1);
  }
}

int main(int argc, char **argv) {
  dlc_program *program;
  dlc_session *session;
  check(dlc_program_load(argc > 1 ? argv[1] : "model.dlcx", &program));
  check(dlc_session_create(program, NULL, &session));
  size_t inputs = dlc_program_input_count(program), outputs = dlc_program_output_count(program);
  DLTensor *in = calloc(inputs, sizeof *in);
  DLManagedTensor **out = calloc(outputs, sizeof *out);
  for (size_t i = 0; i < inputs; ++i) {
    dlc_tensor_info info;
    check(dlc_program_input(program, i, &info));
    float *data = malloc(info.bytes); /* assumes f32 inputs */
    for (size_t k = 0; k < info.bytes / sizeof *data; ++k)
      data[k] = 1;
    in[i] = (DLTensor){data, {kDLCPU, 0}, info.ndim, info.dtype, (int64_t *)info.shape, NULL, 0};
  }
  check(dlc_session_run_alloc(session, in, inputs, out, outputs));
  for (size_t i = 0; i < outputs; ++i) {
    const DLTensor *t = &out[i]->dl_tensor;
    for (int64_t k = 0; k < t->shape[t->ndim - 1]; ++k)
      printf("%g ", ((float *)t->data)[k]);
    puts("");
  }
  return 0;
}
