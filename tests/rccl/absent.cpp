// Every call fails: a program that was linked with this has no device either.
#include <rccl/rccl.h>

char const* ncclGetErrorString(ncclResult_t) { return "RCCL is absent"; }
ncclResult_t ncclGetUniqueId(ncclUniqueId*) { return ncclSystemError; }
ncclResult_t ncclCommInitRank(ncclComm_t*, int, ncclUniqueId, int) { return ncclSystemError; }
ncclResult_t ncclCommDestroy(ncclComm_t) { return ncclSystemError; }
ncclResult_t ncclCommAbort(ncclComm_t) { return ncclSystemError; }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t*) { return ncclSystemError; }
ncclResult_t ncclGroupStart() { return ncclSystemError; }
ncclResult_t ncclGroupEnd() { return ncclSystemError; }
ncclResult_t ncclSend(void const*, size_t, ncclDataType_t, int, ncclComm_t, hipStream_t) { return ncclSystemError; }
ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, hipStream_t) { return ncclSystemError; }
ncclResult_t ncclAllGather(void const*, void*, size_t, ncclDataType_t, ncclComm_t, hipStream_t) { return ncclSystemError; }
ncclResult_t ncclBroadcast(void const*, void*, size_t, ncclDataType_t, int, ncclComm_t, hipStream_t) { return ncclSystemError; }
ncclResult_t ncclAllReduce(void const*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, hipStream_t) { return ncclSystemError; }
ncclResult_t ncclReduceScatter(void const*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, hipStream_t) { return ncclSystemError; }
