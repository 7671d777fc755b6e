/* abi.h - the binary interface of the CUDA runtime: codes, structures and constants as a compiled program uses them.
 *
 * Written from the public API. Names in this file keep the API's spelling, since they are the interface; everything
 * else in the shim is named as in the rest of the tree. WG_CUDART_MAJOR (11, 12 or 13) chooses between layouts. */
#ifndef WG_SHIM_ABI_H
#define WG_SHIM_ABI_H
#include <stddef.h>
#include <stdint.h>

#ifndef WG_CUDART_MAJOR
#define WG_CUDART_MAJOR 13
#endif

enum cudaError {
#define WG_ERROR(code, name, since, text) name = code,
#include "shim/errors.def"
#undef WG_ERROR
};

struct wg_dim3 { unsigned x, y, z; };

enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
                      cudaMemcpyDefault };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };

struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
/* CUDA arrays: opaque memory with a shape and a format, made for textures and surfaces. */
enum { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
       cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w, f; }; /* bits a channel; f: the kind */
enum { cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2, cudaArrayCubemap = 4, cudaArrayTextureGather = 8,
       cudaArraySparse = 64, cudaArrayDeferredMapping = 128 };
struct cudaArray;
struct cudaMemcpy3DParms {
    struct cudaArray *srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    struct cudaArray *dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    int kind;
};
struct cudaMemcpy3DPeerParms {
    struct cudaArray *srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    struct cudaArray *dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};

/* What a texture or surface object reads, and how. */
enum { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
    int resType;
    union {
        struct { struct cudaArray *array; } array;
        struct { struct cudaArray *mipmap; } mipmap;
        struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
        struct { void *devPtr; struct cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
#if WG_CUDART_MAJOR >= 13
        int reserved[32];
#endif
    } res;
#if WG_CUDART_MAJOR >= 13
    unsigned flags;
#endif
};
struct cudaTextureDesc {
    int addressMode[3], filterMode, readMode, sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap; /* not in the layout that the plain name has in CUDA 11 */
};
/* The program's variable behind a texture reference, as the headers up to CUDA 11 had it. */
struct textureReference {
    int normalized, filterMode, addressMode[3];
    struct cudaChannelFormatDesc channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};
struct cudaResourceViewDesc {
    int format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
#if WG_CUDART_MAJOR >= 13
    unsigned reserved[16];
#endif
};

struct cudaPointerAttributes {
    int type; /* enum cudaMemoryType */
    int device;
    void *devicePointer, *hostPointer;
#if WG_CUDART_MAJOR >= 13
    long reserved[8];
#endif
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
    int maxDynamicSharedSizeBytes, preferredShmemCarveout;
#if WG_CUDART_MAJOR >= 12
    int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
    int reserved[16];
#endif
};
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9,
    cudaFuncAttributeClusterDimMustBeSet = 10,
    cudaFuncAttributeRequiredClusterWidth = 11,
    cudaFuncAttributeRequiredClusterHeight = 12,
    cudaFuncAttributeRequiredClusterDepth = 13,
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14,
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15,
};

enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
                 cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity, cudaLimitPersistingL2CacheSize,
                 WG_CUDA_LIMIT_SHARED, /* has no name in the runtime API, but its number is answered */
                 WG_CUDA_LIMIT_COUNT };

/* cudaStream_t: NULL is the default stream, whose kind depends on how the caller was compiled; these two name one. */
#define WG_STREAM_LEGACY ((void *)0x1)
#define WG_STREAM_PER_THREAD ((void *)0x2)
enum { cudaStreamNonBlocking = 1 };
enum { cudaEventBlockingSync = 1, cudaEventDisableTiming = 2, cudaEventInterprocess = 4 };
enum { cudaHostAllocPortable = 1, cudaHostAllocMapped = 2, cudaHostAllocWriteCombined = 4 };
enum { cudaHostRegisterPortable = 1, cudaHostRegisterMapped = 2, cudaHostRegisterIoMemory = 4,
       cudaHostRegisterReadOnly = 8 };
enum { cudaMemAttachGlobal = 1, cudaMemAttachHost = 2, cudaMemAttachSingle = 4 };
enum { cudaDeviceScheduleMask = 7, cudaDeviceMapHost = 8, cudaDeviceLmemResizeToMax = 16, cudaDeviceSyncMemops = 128,
       cudaDeviceMask = 255 };

enum { cudaLaunchAttributeIgnore = 0, cudaLaunchAttributeAccessPolicyWindow = 1, cudaLaunchAttributeCooperative = 2,
       cudaLaunchAttributeSynchronizationPolicy = 3, cudaLaunchAttributeClusterDimension = 4,
       cudaLaunchAttributeClusterSchedulingPolicyPreference = 5,
       cudaLaunchAttributeProgrammaticStreamSerialization = 6, cudaLaunchAttributeProgrammaticEvent = 7,
       cudaLaunchAttributePriority = 8, cudaLaunchAttributeMemSyncDomainMap = 9, cudaLaunchAttributeMemSyncDomain = 10,
       cudaLaunchAttributePreferredClusterDimension = 11, cudaLaunchAttributeLaunchCompletionEvent = 12,
       cudaLaunchAttributePreferredSharedMemoryCarveout = 14, cudaLaunchAttributeLast = 16 };
union cudaLaunchAttributeValue {
    char pad[64];
    int value; /* cooperative, policies, priority, ...: every one-word attribute */
    struct wg_dim3 clusterDim;
};
struct cudaLaunchAttribute {
    int id;
    char pad[4];
    union cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig {
    struct wg_dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    void *stream;
    struct cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum cudaMemLocationType { cudaMemLocationTypeInvalid, cudaMemLocationTypeDevice, cudaMemLocationTypeHost,
                           cudaMemLocationTypeHostNuma, cudaMemLocationTypeHostNumaCurrent };
struct cudaMemLocation { int type, id; };
struct cudaMemAccessDesc { struct cudaMemLocation location; int flags; };
enum { cudaMemAllocationTypePinned = 1, cudaMemAllocationTypeManaged = 2 };
struct cudaMemPoolProps {
    int allocType, handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};
enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic,
    cudaMemPoolReuseAllowInternalDependencies,
    cudaMemPoolAttrReleaseThreshold,
    cudaMemPoolAttrReservedMemCurrent,
    cudaMemPoolAttrReservedMemHigh,
    cudaMemPoolAttrUsedMemCurrent,
    cudaMemPoolAttrUsedMemHigh,
};

/* What a compiled file hands to __cudaRegisterFatBinary. */
#define WG_WRAPPER_MAGIC 0x466243b1u
struct wg_fatbin_wrapper {
    uint32_t magic, version; /* version 2: prelinked holds a NULL-terminated list of images, from -rdc=true */
    const void *data;
    const void *const *prelinked;
};

#endif
