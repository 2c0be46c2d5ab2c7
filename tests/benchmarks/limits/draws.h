// The draws of docs/draws.md for one row, and what every limit program keeps of an episode.
#include <stdint.h>

typedef uint32_t u32;

#define MIX(R) x0 += x1; x1 = (x1 << R | x1 >> (32 - R)) ^ x0;
#define INJECT(A, B, N) x0 += A; x1 += B + N;

// Threefry-2x32 with 13 rounds.
static inline void threefry(const u32 key[2], u32 c0, u32 c1, u32 word[2]) {
    u32 k0 = key[0], k1 = key[1], k2 = k0 ^ k1 ^ 0x1BD11BDA, x0 = c0 + k0, x1 = c1 + k1;
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k1, k2, 1)
    MIX(17) MIX(29) MIX(16) MIX(24) INJECT(k2, k0, 2)
    MIX(13) MIX(15) MIX(26) MIX(6) INJECT(k0, k1, 3)
    MIX(17)
    word[0] = x0, word[1] = x1;
}

#define EPISODE_BLOCK 0x45504953u
#define RESET_BLOCKS 0x80000000u

// Words of the reset draws of the episode whose key this is, `count` of them.
static inline void reset_words(const u32 key[2], u32 *words, int count) {
    for (int block = 0; 2 * block < count; block++) {
        u32 pair[2];
        threefry(key, 0, RESET_BLOCKS + (u32)block, pair);
        words[2 * block] = pair[0];
        if (2 * block + 1 < count) words[2 * block + 1] = pair[1];
    }
}

// integers(slot, high, low=0) of an int32 slot.
static inline int integers(u32 word, int low, int high) {
    return low + (int)((uint64_t)word * (uint64_t)(high - low) >> 32);
}

// The uniform in [0, 1) of a float32 slot.
static inline float unit(u32 word) { return (float)(word >> 8) * 0x1p-24f; }

struct episode {
    u32 seed[2], key[2];  // low word first
    u32 number;
    int t;                // steps taken in this episode
    int ended;            // the last step ended it; the next one restarts the row
};

static inline void begin(struct episode *episode, u32 number) {
    episode->number = number;
    episode->t = 0;
    episode->ended = 0;
    threefry(episode->seed, number, EPISODE_BLOCK, episode->key);
}
