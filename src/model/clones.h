/* clones.h - asks the compiler for wider-vector copies of a hot function, chosen when the program is loaded. */
#ifndef WG_MODEL_CLONES_H
#define WG_MODEL_CLONES_H
/* gcc only: clang 19 crashes on clones of a function that a header declares. Sanitizers instrument the resolver, which
 * runs before their runtime is up; debug builds do not need the speed. */
#if defined(__x86_64__) && defined(__ELF__) && defined(__OPTIMIZE__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WG_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define WG_CLONES
#endif
#endif
