// A CUDA plug-in: a kernel of audio.gain for float32 arrays on a device. The operation itself comes from gain.c, loaded before or after
// it in the same context. It loads on a machine without a GPU too, where the kernel is described as unavailable.
#include <cuda_runtime.h>
#include <harrier/plugin.h>

namespace {

__global__ void gain(const float *x, const float *factor, float *y, int64_t count) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) y[i] = *factor * x[i];
}

// Enqueues the work on the stream of the call, and waits for nothing: the host does.
hr_status gain_f32(const hr_invocation *call, void *) {
  const int64_t count = hr_element_count(hr_operand(call, 0));
  if (count == 0) return HR_OK;  // a grid of 0 blocks would be a launch error
  const int threads = 256;
  const int64_t blocks = (count + threads - 1) / threads;
  gain<<<static_cast<unsigned>(blocks < 4096 ? blocks : 4096), threads, 0, static_cast<cudaStream_t>(call->stream)>>>(
      static_cast<const float *>(hr_operand(call, 0)->data), static_cast<const float *>(hr_operand(call, 1)->data),
      static_cast<float *>(hr_operand(call, 2)->data), count);
  const cudaError_t launched = cudaGetLastError();
  return launched == cudaSuccess ? HR_OK : hr_fail(call->error, HR_CUDA, cudaGetErrorString(launched));
}

constexpr hr_backend_operand_spec array(uint32_t role, uint32_t kind, uint32_t access) {
  return {sizeof(hr_backend_operand_spec), role, kind, access, HR_DTYPE_FLOAT32, HR_DTYPE_FLOAT32, HR_LOCATION_CUDA,
          HR_LAYOUT_ROW_MAJOR, HR_CONTIGUITY_CONTIGUOUS, 0};
}

}  // namespace

hr_status hr_plugin_entry_v1(const hr_host_api *host, hr_registrar *registrar, hr_plugin_info *info, hr_error *error) {
  if (host->abi_major != HR_ABI_MAJOR) return HR_ABI_MISMATCH;
  const hr_backend_operand_spec operands[] = {
      array(HR_ROLE_INPUT(0), HR_KIND_VECTOR, HR_ACCESS_READ),
      array(HR_ROLE_INPUT(1), HR_KIND_SCALAR, HR_ACCESS_READ),
      array(HR_ROLE_OUTPUT(0), HR_KIND_VECTOR, HR_ACCESS_WRITE),
  };
  hr_kernel_desc kernel{};
  kernel.struct_size = sizeof kernel;
  kernel.operation = hr_text("audio.gain");
  kernel.backend = HR_BACKEND_CUDA;
  kernel.operand_count = 3;
  kernel.operands = operands;
  kernel.execute = gain_f32;
  kernel.label = hr_text("gain_f32 on CUDA");
  const hr_status status = host->register_kernel(registrar, &kernel, error);
  if (status != HR_OK) return status;

  info->struct_size = sizeof *info;
  info->abi_major = HR_ABI_MAJOR;
  info->name = hr_text("gain for CUDA");
  info->version = hr_text("1.0.0");
  return HR_OK;
}

uint32_t hr_plugin_abi_version(void) { return HR_ABI_VERSION; }
