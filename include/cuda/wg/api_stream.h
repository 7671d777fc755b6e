/* wg/api_stream.h - streams, capture, events, imported semaphores. Included by cuda_runtime_api.h only. */
cudaError_t cudaStreamCreate(cudaStream_t *stream);
WG_BOTH cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned int flags, int priority);
cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority);
cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned int *flags);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device);
cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src);
cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attr, cudaStreamAttrValue *value);
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attr, const cudaStreamAttrValue *value);
WG_BOTH cudaError_t cudaStreamDestroy(cudaStream_t stream);
WG_BOTH cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags WG_DEFAULT(0));
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *userData);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t fn, void *userData, unsigned int flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *devPtr, size_t length WG_DEFAULT(0),
                                     unsigned int flags WG_DEFAULT(cudaMemAttachSingle));
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode);
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t *dependencies,
                                          const cudaGraphEdgeData *edges, size_t n, enum cudaStreamCaptureMode mode);
cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
                                     unsigned long long *id WG_DEFAULT(0), cudaGraph_t *graph WG_DEFAULT(0),
                                     const cudaGraphNode_t **dependencies WG_DEFAULT(0),
                                     const cudaGraphEdgeData **edges WG_DEFAULT(0), size_t *n WG_DEFAULT(0));
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *edges, size_t n,
                                                unsigned int flags WG_DEFAULT(0));

cudaError_t cudaEventCreate(cudaEvent_t *event);
WG_BOTH cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags);
WG_BOTH cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream WG_DEFAULT(0));
WG_BOTH cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream WG_DEFAULT(0),
                                             unsigned int flags WG_DEFAULT(0));
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
WG_BOTH cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end);

cudaError_t cudaImportExternalSemaphore(cudaExternalSemaphore_t *semaphore,
                                        const struct cudaExternalSemaphoreHandleDesc *desc);
cudaError_t cudaSignalExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                              const struct cudaExternalSemaphoreSignalParams *params, unsigned int n,
                                              cudaStream_t stream WG_DEFAULT(0));
cudaError_t cudaWaitExternalSemaphoresAsync(const cudaExternalSemaphore_t *semaphores,
                                            const struct cudaExternalSemaphoreWaitParams *params, unsigned int n,
                                            cudaStream_t stream WG_DEFAULT(0));
cudaError_t cudaDestroyExternalSemaphore(cudaExternalSemaphore_t semaphore);
