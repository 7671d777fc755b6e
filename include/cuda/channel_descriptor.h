/* channel_descriptor.h - cudaCreateChannelDesc<T>(). */
#ifndef WG_CUDA_CHANNEL_DESCRIPTOR_H
#define WG_CUDA_CHANNEL_DESCRIPTOR_H
#include "cuda_runtime_api.h"
#ifdef __cplusplus
template <class T> static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc(void)
{
    return cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define WG_CHANNEL1(T, S, kind)                                                                                        \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<T>(void)                               \
    {                                                                                                                  \
        return cudaCreateChannelDesc(8 * (int)sizeof(S), 0, 0, 0, cudaChannelFormatKind##kind);                        \
    }
#define WG_CHANNEL(T, S, kind)                                                                                         \
    WG_CHANNEL1(T##1, S, kind)                                                                                         \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<T##2>(void)                            \
    {                                                                                                                  \
        return cudaCreateChannelDesc(8 * (int)sizeof(S), 8 * (int)sizeof(S), 0, 0, cudaChannelFormatKind##kind);       \
    }                                                                                                                  \
    template <> __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<T##4>(void)                            \
    {                                                                                                                  \
        const int b = 8 * (int)sizeof(S);                                                                              \
        return cudaCreateChannelDesc(b, b, b, b, cudaChannelFormatKind##kind);                                         \
    }
WG_CHANNEL(char, char, Signed)
WG_CHANNEL(uchar, char, Unsigned)
WG_CHANNEL(short, short, Signed)
WG_CHANNEL(ushort, short, Unsigned)
WG_CHANNEL(int, int, Signed)
WG_CHANNEL(uint, int, Unsigned)
WG_CHANNEL(float, float, Float)
WG_CHANNEL1(char, char, Signed)
WG_CHANNEL1(signed char, char, Signed)
WG_CHANNEL1(unsigned char, char, Unsigned)
WG_CHANNEL1(short, short, Signed)
WG_CHANNEL1(unsigned short, short, Unsigned)
WG_CHANNEL1(int, int, Signed)
WG_CHANNEL1(unsigned int, int, Unsigned)
WG_CHANNEL1(float, float, Float)
#undef WG_CHANNEL
#undef WG_CHANNEL1
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDescHalf(void)
{
    return cudaCreateChannelDesc(16, 0, 0, 0, cudaChannelFormatKindFloat);
}
#endif
#endif
