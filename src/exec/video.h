/* video.h - the video instructions' modifiers, packed into i->imm by alu.c and read by video.c. */
#ifndef WG_EXEC_VIDEO_H
#define WG_EXEC_VIDEO_H
#include <stdint.h>

enum wg_video_op {
    WG_VIDEO_ADD, WG_VIDEO_SUB, WG_VIDEO_ABSDIFF, WG_VIDEO_MIN, WG_VIDEO_MAX, WG_VIDEO_AVRG, WG_VIDEO_SHL,
    WG_VIDEO_SHR, WG_VIDEO_SET, WG_VIDEO_MAD
};
enum wg_video_second { WG_VIDEO_NONE, WG_VIDEO_PLUS, WG_VIDEO_LEAST, WG_VIDEO_MOST }; /* what is done with c */
#define WG_VIDEO_OP(k) ((unsigned)(k) & 15)
#define WG_VIDEO_COUNT(k) ((unsigned)((k) >> 4) & 7) /* elements in a word: 1, 2 or 4 */
#define WG_VIDEO_SECOND(k) ((unsigned)((k) >> 8) & 3)
#define WG_VIDEO_REL(k) ((unsigned)((k) >> 12) & 15) /* WG_REL_* */
#define WG_VIDEO_SHIFT(k) ((unsigned)((k) >> 16) & 15) /* of vmad's result, right */
/* The part of d, a, b that is meant: 0 all of it, 1 to 4 a byte, 5 and 6 a half. */
#define WG_VIDEO_PART(k, operand) ((int)((k) >> (32 + 4 * (operand))) & 15)
enum {
    WG_VIDEO_D_SIGNED = 1 << 20, WG_VIDEO_A_SIGNED = 1 << 21, WG_VIDEO_B_SIGNED = 1 << 22, WG_VIDEO_SAT = 1 << 23,
    WG_VIDEO_WRAP = 1 << 24, WG_VIDEO_PLUS_ONE = 1 << 25, WG_VIDEO_NEG_PRODUCT = 1 << 26, WG_VIDEO_NEG_C = 1 << 27
};
/* SIMD: which parts of b:a are a's and b's elements, three bits each; which elements are wanted, one bit each. */
#define WG_VIDEO_CHOICE(k, operand, n) ((int)((k) >> (20 + 12 * (operand) + 3 * (n))) & 7) /* operand 1 or 2 */
#define WG_VIDEO_WANTED(k, n) ((int)((k) >> (56 + (n))) & 1)
#endif
