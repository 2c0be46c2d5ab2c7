// The generators compared in docs/draws.md, one block a row, written so that a compiler vectorises over rows.
// Built and timed by generators.py. Every loop has the same shape: keys and counters in, words out, all arrays.
#include <stdint.h>

typedef uint32_t u32;
typedef uint64_t u64;

// k0, k1, c0: [rows]. c1: one number, raised by one a repeat so that no repeat can be left out.
// out: [words][rows]; repeats overwrite it.
#define LOOP(NAME, WORDS, BODY)                                                                          \
    void NAME(const u32 *restrict k0, const u32 *restrict k1, const u32 *restrict c0, u32 c1,            \
              u32 *restrict out, long rows, long repeats) {                                              \
        for (long repeat = 0; repeat < repeats; repeat++, c1++) {                                        \
            for (long row = 0; row < rows; row++) {                                                      \
                u32 word[4];                                                                             \
                BODY(k0[row], k1[row], c0[row], c1, word);                                               \
                for (int w = 0; w < WORDS; w++) out[w * rows + row] = word[w];                           \
            }                                                                                            \
        }                                                                                                \
    }

#define MIX(R) x0 += x1; x1 = (x1 << R | x1 >> (32 - R)) ^ x0;
#define INJECT(A, B, N) x0 += A; x1 += B + N;

static inline void threefry13(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    u32 k2 = k0 ^ k1 ^ 0x1BD11BDA, x0 = c0 + k0, x1 = c1 + k1;
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k1, k2, 1)
    MIX(17) MIX(29) MIX(16) MIX(24) INJECT(k2, k0, 2)
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k0, k1, 3)
    MIX(17)
    word[0] = x0, word[1] = x1;
}

static inline void threefry20(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    u32 k2 = k0 ^ k1 ^ 0x1BD11BDA, x0 = c0 + k0, x1 = c1 + k1;
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k1, k2, 1)
    MIX(17) MIX(29) MIX(16) MIX(24) INJECT(k2, k0, 2)
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k0, k1, 3)
    MIX(17) MIX(29) MIX(16) MIX(24) INJECT(k1, k2, 4)
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k2, k0, 5)
    word[0] = x0, word[1] = x1;
}

#define TEN(ROUND) ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND

// Philox2x32 has a key of one word; it is here for its cost alone.
#define PHILOX2                                                                                          \
    { u64 p = (u64)x0 * 0xD256D193; x0 = (u32)(p >> 32) ^ k0 ^ x1; x1 = (u32)p; k0 += 0x9E3779B9; }

static inline void philox2(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    u32 x0 = c0, x1 = c1;
    TEN(PHILOX2)
    word[0] = x0, word[1] = x1;
}

#define PHILOX4                                                                                          \
    { u64 p = (u64)x0 * 0xD2511F53, q = (u64)x2 * 0xCD9E8D57;                                            \
      x0 = (u32)(q >> 32) ^ x1 ^ k0; x1 = (u32)q; x2 = (u32)(p >> 32) ^ x3 ^ k1; x3 = (u32)p;            \
      k0 += 0x9E3779B9; k1 += 0xBB67AE85; }

static inline void philox4full(u32 k0, u32 k1, u32 x0, u32 x1, u32 x2, u32 x3, u32 *word) {
    TEN(PHILOX4)
    word[0] = x0, word[1] = x1, word[2] = x2, word[3] = x3;
}

static inline void philox4(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    philox4full(k0, k1, c0, c1, 0, 0, word);
}

static inline u64 swap(u64 x) { return x >> 32 | x << 32; }

static inline void squares4(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    u64 key = (u64)k1 << 32 | k0, x = ((u64)c0 << 32 | c1) * key, y = x, z = y + key;
    x = swap(x * x + y);
    x = swap(x * x + z);
    x = swap(x * x + y);
    word[0] = (x * x + z) >> 32;
}

LOOP(run_threefry13, 2, threefry13)
LOOP(run_threefry20, 2, threefry20)
LOOP(run_philox2, 2, philox2)
LOOP(run_philox4, 4, philox4)
LOOP(run_squares4, 1, squares4)

// Philox4x32 at a whole counter, for its known answers.
void one_philox4(const u32 *key, const u32 *counter, u32 *out) {
    philox4full(key[0], key[1], counter[0], counter[1], counter[2], counter[3], out);
}
