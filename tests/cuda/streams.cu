// Streams, events and captured graphs, in the way that the backend uses them. Returns what main does: 77 without a
// device.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

#define MUST(call)                                                                   \
  do {                                                                               \
    if (cudaError_t const status = (call); status != cudaSuccess) {                  \
      std::printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorString(status)); \
      std::exit(1);                                                                  \
    }                                                                                \
  } while (false)

constexpr int count = 1000, threads = 128, blocks = (count + threads - 1) / threads;

// to = factor[0] from + to
__global__ void add(float* to, float const* from, float const* factor) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = *factor * from[i] + to[i];
}
__global__ void fill(float* to, float value) {
  int const i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) to[i] = value;
}

static int wrong = 0;
static void expect(float const* values, float wanted, char const* what) {
  for (int i = 0; i < count; ++i)
    if (values[i] != wanted) {
      std::printf("%s: element %d is %g, not %g\n", what, i, static_cast<double>(values[i]),
                  static_cast<double>(wanted));
      ++wrong;
      return;
    }
}

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("skipped: no CUDA device");
    return 77;
  }
  float *a = nullptr, *b = nullptr, *factor = nullptr, *host = nullptr;
  for (float** p : {&a, &b}) MUST(cudaMalloc(reinterpret_cast<void**>(p), count * sizeof(float)));
  MUST(cudaMalloc(reinterpret_cast<void**>(&factor), sizeof(float)));
  MUST(cudaMallocHost(reinterpret_cast<void**>(&host), count * sizeof(float)));
  cudaStream_t work, copies;
  MUST(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
  MUST(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  cudaEvent_t ready;
  MUST(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));

  // What the host wrote goes over on one stream; another waits for it.
  for (int i = 0; i < count; ++i) host[i] = 2;
  MUST(cudaMemcpyAsync(a, host, count * sizeof(float), cudaMemcpyHostToDevice, copies));
  MUST(cudaEventRecord(ready, copies));
  fill<<<blocks, threads, 0, work>>>(b, 1.0f);
  float const three = 3;
  MUST(cudaMemcpyAsync(factor, &three, sizeof three, cudaMemcpyHostToDevice, work));
  MUST(cudaStreamWaitEvent(work, ready, 0));
  add<<<blocks, threads, 0, work>>>(b, a, factor);
  MUST(cudaMemcpyAsync(host, b, count * sizeof(float), cudaMemcpyDeviceToHost, work));
  MUST(cudaStreamSynchronize(work));
  expect(host, 7, "after an event");

  // A graph is replayed with what lies in the device's memory then.
  cudaGraph_t graph;
  cudaGraphExec_t runs;
  MUST(cudaStreamBeginCapture(work, cudaStreamCaptureModeThreadLocal));
  fill<<<blocks, threads, 0, work>>>(b, 0.5f);
  MUST(cudaEventRecord(ready, work));
  MUST(cudaStreamWaitEvent(copies, ready, 0));
  fill<<<blocks, threads, 0, copies>>>(a, 4.0f);
  MUST(cudaEventRecord(ready, copies));
  MUST(cudaStreamWaitEvent(work, ready, 0));
  add<<<blocks, threads, 0, work>>>(b, a, factor);
  MUST(cudaMemcpyAsync(host, b, count * sizeof(float), cudaMemcpyDeviceToHost, work));
  MUST(cudaStreamEndCapture(work, &graph));
  MUST(cudaGraphInstantiate(&runs, graph, 0));
  for (int i = 0; i < count; ++i) host[i] = -1;
  MUST(cudaStreamSynchronize(copies));
  expect(host, -1, "before the graph runs");
  MUST(cudaGraphLaunch(runs, work));
  MUST(cudaStreamSynchronize(work));
  expect(host, 12.5f, "the graph");
  float const ten = 10;
  MUST(cudaMemcpyAsync(factor, &ten, sizeof ten, cudaMemcpyHostToDevice, work));
  MUST(cudaGraphLaunch(runs, work));
  MUST(cudaStreamSynchronize(work));
  expect(host, 40.5f, "the graph again, with another factor");

  MUST(cudaGraphExecDestroy(runs));
  MUST(cudaGraphDestroy(graph));
  MUST(cudaEventDestroy(ready));
  MUST(cudaStreamDestroy(work));
  MUST(cudaStreamDestroy(copies));
  MUST(cudaFreeHost(host));
  for (float* p : {a, b, factor}) MUST(cudaFree(p));
  std::puts(wrong == 0 ? "streams, events and graphs: right" : "streams, events and graphs: WRONG");
  return wrong == 0 ? 0 : 1;
}
