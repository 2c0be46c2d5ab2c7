// toywalk as a person would write it in C: the limit that forms of toywalk are measured against.
#include "draws.h"

#define OBSERVED 2
#define ACTIONS 2
#define LIMIT 60
#define LEFT_END -5
#define GOAL 5
#ifndef SLIP  // the tests build a wrong one
#define SLIP 0.1f
#endif

struct row {
    struct episode episode;
    int position;
};

static inline void start(struct row *row) {
    u32 word;
    reset_words(row->episode.key, &word, 1);
    row->position = integers(word, -2, 3);
}

static inline void advance(struct row *row, int action, float *reward, int *terminated) {
    u32 word[2];
    threefry(row->episode.key, (u32)row->episode.t, 0, word);
    int move = action == 1 ? 1 : -1;
    if (unit(word[0]) < SLIP) move = -move;
    int position = row->position + move;
    if (position < LEFT_END) position = LEFT_END;
    if (position > GOAL) position = GOAL;
    row->position = position;
    *terminated = position == GOAL;
    *reward = position == GOAL ? 10.0f : -1.0f;
}

static inline void observe(const struct row *row, float *observation) {
    observation[0] = (float)row->position / (float)GOAL;
    observation[1] = (float)row->episode.t / (float)LIMIT;
}

#include "program.h"
