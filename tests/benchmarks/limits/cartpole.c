// cartpole as a person would write it in C: the limit that forms of cartpole are measured against.
// Sine and cosine are the portable ones (simulacrum/portable), for |x| < pi/4, which the pole never leaves.
#include "draws.h"

#define OBSERVED 4
#define ACTIONS 2
#define LIMIT 500
#define X_LIMIT 2.4
#define ANGLE_LIMIT 0.20943951023931953
#define TAU 0.02

struct row {
    struct episode episode;
    double x, x_dot, theta, theta_dot;
};

static const double SIN[] = {-0.16666666666666666, 0.008333333333333331, -0.00019841269841265065,
                             2.7557319219339167e-06, -2.5052106232447578e-08, 1.6058531618986147e-10,
                             -7.586697117706918e-13};
static const double COS[] = {0.041666666666666664, -0.0013888888888888887, 2.4801587301584645e-05,
                             -2.7557319221402824e-07, 2.087675579108042e-09, -1.1470460887609959e-11,
                             4.7458719020432915e-14};

static inline double polynomial(double z, const double *c, int count) {
    double total = z * c[count - 1] + c[count - 2];
    for (int i = count - 3; i >= 0; i--) total = total * z + c[i];
    return total;
}

static inline double sine(double y) {
    double z = y * y;
    return y + (z * y) * polynomial(z, SIN, sizeof SIN / sizeof *SIN);
}

static inline double cosine(double y) {
    double z = y * y, half = z * 0.5, first = 1.0 - half;
    return first + (((1.0 - first) - half) + z * z * polynomial(z, COS, sizeof COS / sizeof *COS));
}

// Index k of the float64 uniform in [-0.05, 0.05).
static inline double start_value(const u32 *words, int k) {
    double u = ((double)(words[2 * k] >> 5) * 0x1p26 + (double)(words[2 * k + 1] >> 6)) * 0x1p-53;
    double value = u * (0.05 - -0.05) + -0.05;
    return value < 0.05 ? value : -0.05;
}

static inline void start(struct row *row) {
    u32 words[8];
    reset_words(row->episode.key, words, 8);
    row->x = start_value(words, 0);
    row->x_dot = start_value(words, 1);
    row->theta = start_value(words, 2);
    row->theta_dot = start_value(words, 3);
}

static inline void advance(struct row *row, int action, float *reward, int *terminated) {
    double force = action == 1 ? 10.0 : -10.0, s = sine(row->theta), c = cosine(row->theta);
    double push = (force + 0.05 * (row->theta_dot * row->theta_dot) * s) / 1.1;
    double theta_acc = (9.8 * s - c * push) / (0.5 * (4.0 / 3.0 - 0.1 * (c * c) / 1.1));
    double x_acc = push - 0.05 * theta_acc * c / 1.1;
    row->x += TAU * row->x_dot;
    row->x_dot += TAU * x_acc;
    row->theta += TAU * row->theta_dot;
    row->theta_dot += TAU * theta_acc;
    *reward = 1.0f;
    *terminated = row->x < -X_LIMIT || row->x > X_LIMIT || row->theta < -ANGLE_LIMIT || row->theta > ANGLE_LIMIT;
}

static inline void observe(const struct row *row, float *observation) {
    observation[0] = (float)row->x;
    observation[1] = (float)row->x_dot;
    observation[2] = (float)row->theta;
    observation[3] = (float)row->theta_dot;
}

#include "program.h"
