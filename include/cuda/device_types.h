/* device_types.h - rounding modes. */
#ifndef WG_CUDA_DEVICE_TYPES_ROUND_H
#define WG_CUDA_DEVICE_TYPES_ROUND_H
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif
