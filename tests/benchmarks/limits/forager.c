// forager as a person would write it in C: the limit that forms of forager are measured against.
// -DSIZE and -DBERRIES build it for other grids, as variants.py does with the package.
#include "draws.h"

#ifndef SIZE
#define SIZE 8
#endif
#ifndef BERRIES
#define BERRIES 6
#endif
#define OBSERVED (5 + 3 * BERRIES)
#define ACTIONS 4
#define LIMIT 80
#define KINDS 3
#define GUST 0.15f

static const float WORTH[KINDS] = {0.1f, 0.15f, 0.3f};

struct berry {
    int x, y, kind, alive;
};

struct row {
    struct episode episode;
    int x, y, left;  // left: berries still alive
    float energy;
    struct berry berries[BERRIES];
};

static inline void start(struct row *row) {
    u32 words[2 + 3 * BERRIES];
    reset_words(row->episode.key, words, 2 + 3 * BERRIES);
    row->x = integers(words[0], 0, SIZE);
    row->y = integers(words[1], 0, SIZE);
    row->left = BERRIES;
    row->energy = 1.0f;
    for (int k = 0; k < BERRIES; k++) {
        row->berries[k].x = integers(words[2 + k], 0, SIZE);
        row->berries[k].y = integers(words[2 + BERRIES + k], 0, SIZE);
        row->berries[k].kind = integers(words[2 + 2 * BERRIES + k], 0, KINDS);
        row->berries[k].alive = 1;
    }
}

static inline void advance(struct row *row, int action, float *reward, int *terminated) {
    u32 word[2];
    threefry(row->episode.key, (u32)row->episode.t, 0, word);
    if (unit(word[0]) < GUST) action = (action + 1) % 4;
    switch (action) {
        case 0: if (row->y < SIZE - 1) row->y++; break;
        case 1: if (row->x < SIZE - 1) row->x++; break;
        case 2: if (row->y > 0) row->y--; break;
        default: if (row->x > 0) row->x--; break;
    }
    float gain = 0.0f;
    for (int k = 0; k < BERRIES; k++) {
        struct berry *berry = &row->berries[k];
        if (berry->alive && berry->x == row->x && berry->y == row->y) {
            berry->alive = 0;
            row->left--;
            gain += WORTH[berry->kind];
        }
    }
    row->energy = row->energy - 0.02f + gain;
    if (row->energy < 0.0f) row->energy = 0.0f;
    *reward = gain * 10.0f - 0.1f;
    *terminated = row->left == 0 || row->energy <= 0.0f;
}

static inline void observe(const struct row *row, float *observation) {
    const float span = (float)(SIZE - 1);
    observation[0] = (float)row->x / span;
    observation[1] = (float)row->y / span;
    observation[2] = row->energy;
    observation[3] = (float)row->left / (float)BERRIES;
    observation[4] = (float)row->episode.t / (float)LIMIT;
    float *east = observation + 5, *north = east + BERRIES, *worth = north + BERRIES;
    for (int k = 0; k < BERRIES; k++) {
        const struct berry *berry = &row->berries[k];
        east[k] = north[k] = worth[k] = 0.0f;
        if (!berry->alive) continue;
        east[k] = (float)(berry->x - row->x) / span;
        north[k] = (float)(berry->y - row->y) / span;
        worth[k] = WORTH[berry->kind] / 0.3f;
    }
}

#include "program.h"
