// A plug-in with a mistake, to see that the sanitizer finds it: its kernel writes one element more than the output has.
import { ContextBuilder } from '../../../src/operations/index.ts'
import { compilePlugin } from './compiler.ts'

const library = compilePlugin(`
KERNEL(overrun) {
  const hr_tensor *y = hr_operand(call, 1);
  (void)user_data;
  for (int64_t i = 0; i <= hr_element_count(y); i++) ((float *)y->data)[i] = 0;
  return HR_OK;
}
ENTRY {
  hr_operation_desc operation = unary_operation("plug.overrun");
  hr_kernel_desc kernel = unary_kernel("plug.overrun");
  kernel.execute = overrun;
  host->register_operation(registrar, &operation, error);
  host->register_kernel(registrar, &kernel, error);
  return introduce(info);
}`)
const context = new ContextBuilder().loadPlugin(library).build()
context.execute('plug.overrun', { input0: new Float32Array(4096), output0: new Float32Array(4096) })
console.log('nothing was noticed')
