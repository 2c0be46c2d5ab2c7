// The loops that every limit program has: include it after `struct row`, `start`, `advance` and `observe`.
//
//   start(row)                                   the start of the episode whose key the row holds
//   advance(row, action, reward, terminated)     the rules of one step
//   observe(row, observation)                    what the row shows
//
// A row that ended restarts in the next step, its action ignored (Gymnasium's NEXT_STEP). Rows are structs, the code
// branches, and only rows that ended are reset: what a person would write first.

long row_bytes(void) { return sizeof(struct row); }

// seeds: uint64 [n]. Puts every row at the start of episode 0 of its seed; observations: float32 [n, OBSERVED].
void reset(struct row *rows, const uint64_t *seeds, float *observations, long n) {
    for (long i = 0; i < n; i++) {
        rows[i].episode.seed[0] = (u32)seeds[i];
        rows[i].episode.seed[1] = (u32)(seeds[i] >> 32);
        begin(&rows[i].episode, 0);
        start(&rows[i]);
        observe(&rows[i], observations + i * OBSERVED);
    }
}

// actions: int64 [n]. Returns how many were outside 0..ACTIONS-1; such rows are held still.
long step(struct row *rows, const int64_t *actions, float *observations, float *rewards, uint8_t *terminated,
          uint8_t *truncated, long n) {
    long illegal = 0;
    for (long i = 0; i < n; i++) {
        struct row *row = &rows[i];
        float reward = 0.0f;
        int done = 0, cut = 0;
        if (row->episode.ended) {
            begin(&row->episode, row->episode.number + 1);
            start(row);
        } else if (actions[i] < 0 || actions[i] >= ACTIONS) {
            illegal++;
        } else {
            advance(row, (int)actions[i], &reward, &done);
            row->episode.t++;
            cut = row->episode.t >= LIMIT;
            row->episode.ended = done || cut;
        }
        observe(row, observations + i * OBSERVED);
        rewards[i] = reward;
        terminated[i] = (uint8_t)done;
        truncated[i] = (uint8_t)cut;
    }
    return illegal;
}
