/*===- run.c - loads a program, runs it on ones and prints the outputs --------===*/
#include <dlc/dlc.h>
#include <stdio.h>
#include <stdlib.h>

static void check(dlc_error *error) {
  if (!error)
    return;
  fprintf(stderr, "%s\n", dlc_error_message(error));
  exit(1);
}

int main(int argc, char **argv) {
  dlc_program *program;
  dlc_session *session;
  DLTensor in[16] = {0};
  DLManagedTensor *out[16];
  check(dlc_program_load(argc > 1 ? argv[1] : "model.dlcx", &program));
  check(dlc_session_create(program, NULL, &session));
  size_t inputs = dlc_program_input_count(program), outputs = dlc_program_output_count(program);
  for (size_t i = 0; i < inputs && i < 16; ++i) {
    dlc_tensor_info info;
    check(dlc_program_input(program, i, &info));
    void *data = calloc(info.bytes, 1);
    in[i] = (DLTensor){data, {kDLCPU, 0}, info.ndim, info.dtype, (int64_t *)info.shape, NULL, 0};
    for (size_t j = 0; info.dtype.code == kDLFloat && j < info.bytes / 4; ++j)
      ((float *)data)[j] = 1;
  }
  check(dlc_session_run_alloc(session, in, inputs, out, outputs));
  for (size_t i = 0; i < outputs; ++i) {
    printf("%g\n", ((float *)out[i]->dl_tensor.data)[0]);
    out[i]->deleter(out[i]);
  }
  dlc_session_destroy(session);
  dlc_program_destroy(program);
}
