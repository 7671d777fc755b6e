/* lex.h - tokens of PTX text. */
#ifndef WG_PTX_LEX_H
#define WG_PTX_LEX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Single characters are their own kind. */
enum wg_tok {
    WG_TOK_EOF,
    WG_TOK_IDENT = 256, /* name, register or mnemonic with its dots: "%tid.x", "ld.global.f32" */
    WG_TOK_DIR,         /* ".reg" */
    WG_TOK_INT,         /* bits */
    WG_TOK_FLOAT,       /* bits of a double */
    WG_TOK_STRING,      /* with its quotes */
    WG_TOK_BAD,         /* wg_lexer.error says why */
};
struct wg_token {
    int kind;
    uint32_t line;
    const char *s;
    size_t n;
    uint64_t bits;
    bool is_unsigned; /* INT: had a U, or does not fit the signed type */
};
/* text[len] must be NUL. */
struct wg_lexer {
    const char *p, *end;
    uint32_t line;
    const char *error;
    struct wg_token t;
};
void wg_lex_start(struct wg_lexer *l, const char *text, size_t len); /* and reads the first token */
void wg_lex_next(struct wg_lexer *l);
void wg_lex_skip_block(struct wg_lexer *l); /* current token is '{': on to the token after its partner, or EOF */
uint64_t wg_lex_f32_to_f64(uint32_t bits);  /* exact, NaN payloads kept */
#endif
