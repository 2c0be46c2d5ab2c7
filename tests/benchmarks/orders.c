// Words of the draws in the orders in which environments meet them, for batteries of statistical tests.
//
//   orders ORDER words FIRST COUNT          prints words, one a line, to compare with the Python form
//   orders ORDER bytes COUNT                writes COUNT bytes to standard output (PractRand: RNG_test stdin32)
//   orders ORDER small|rabbit|crush ROUNDS  runs that battery of TestU01, prints one JSON line
//
// A word is a pure function of its place i in the order. Built by statistics_large.py; without TestU01: -DNO_TESTU01.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef NO_TESTU01
#include "bbattery.h"
#include "swrite.h"
#include "unif01.h"
#endif

typedef uint32_t u32;
typedef uint64_t u64;

static int rounds = 13;
static const int ROTATE[8] = {13, 15, 26, 6, 17, 29, 16, 24};

static void threefry(u32 k0, u32 k1, u32 c0, u32 c1, u32 *word) {
    u32 key[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDA}, x0 = c0 + k0, x1 = c1 + k1;
    for (int r = 0; r < rounds; r++) {
        int turn = ROTATE[r % 8];
        x0 += x1;
        x1 = (x1 << turn | x1 >> (32 - turn)) ^ x0;
        if (r % 4 == 3) {
            u32 j = r / 4 + 1;
            x0 += key[j % 3];
            x1 += key[(j + 1) % 3] + j;
        }
    }
    word[0] = x0, word[1] = x1;
}

// A place: which word of which phase of which step of which episode of which row.
typedef struct {
    u64 seed;
    u32 episode, t, number;
    int reset;
} place;

static u32 draw(place p) {
    // Neighbours often share a key: keep the last one.
    static u64 seed = 0;
    static u32 episode = 0, key[2];
    static int known = 0;
    u32 word[2];
    if (!known || seed != p.seed || episode != p.episode) {
        seed = p.seed, episode = p.episode, known = 1;
        threefry((u32)seed, (u32)(seed >> 32), episode, 0x45504953, key);
    }
    threefry(key[0], key[1], p.t, p.number / 2 + (p.reset ? 0x80000000u : 0), word);
    return word[p.number % 2];
}

// seed, episode, t, number, reset
static place rows(u64 i) { return (place){i % 4096, i / 4096 / 200, i / 4096 % 200, 0, 0}; }
static place steps(u64 i) { return (place){7, 0, (u32)i, 0, 0}; }
static place episodes(u64 i) { return (place){7, (u32)i, 0, 0, 1}; }
static place slots(u64 i) { return (place){7, 0, i / 37, i % 37, 0}; }
static place indices(u64 i) { return (place){i / 256 % 64, 0, i / 256 / 64, i % 256, 0}; }
static place batch(u64 i) { return (place){i / 6 % 1024, i / 6 / 1024 / 50, i / 6 / 1024 % 50, i % 6, 0}; }
static place seed_bits(u64 i) { return (place){i / 64 * 0x9E3779B97F4A7C15u ^ 1ull << i % 64, 0, 0, 0, 1}; }
static place high_seeds(u64 i) { return (place){i << 32, 0, 0, 0, 1}; }
static place resets(u64 i) {
    // For each row the first word of its reset, then that of its first step: t is 0 in both.
    return (place){i / 2 % 4096, i / 2 / 4096, 0, 0, i % 2 == 0};
}

typedef struct {
    const char *name;
    place (*at)(u64);
} order;
static const order ORDERS[] = {
    {"rows", rows},         {"steps", steps},         {"episodes", episodes},
    {"slots", slots},       {"indices", indices},     {"batch", batch},
    {"resets", resets},     {"seed_bits", seed_bits}, {"high_seeds", high_seeds},
    {"low_bytes", batch},   {"reversed", batch},      {"keys", rows},
};
static const order *chosen;
static u64 position = 0;

static u32 reverse(u32 x) {
    x = x >> 1 & 0x55555555u | (x & 0x55555555u) << 1;
    x = x >> 2 & 0x33333333u | (x & 0x33333333u) << 2;
    x = x >> 4 & 0x0F0F0F0Fu | (x & 0x0F0F0F0Fu) << 4;
    return __builtin_bswap32(x);
}

static u32 word_at(u64 i) {
    if (!strcmp(chosen->name, "low_bytes")) {
        u32 word = 0;
        for (int part = 0; part < 4; part++) word = word << 8 | (draw(batch(4 * i + part)) & 255);
        return word;
    }
    if (!strcmp(chosen->name, "keys")) {
        u32 key[2];
        place p = rows(i / 2);
        // Episodes change 200 times as often as in `rows`: every key is new.
        threefry((u32)p.seed, (u32)(p.seed >> 32), p.episode * 200 + p.t, 0x45504953, key);
        return key[i % 2];
    }
    u32 word = draw(chosen->at(i));
    return strcmp(chosen->name, "reversed") ? word : reverse(word);
}

static unsigned int next(void) { return word_at(position++); }

#ifndef NO_TESTU01
static int battery(const char *name) {
    unif01_Gen *generator = unif01_CreateExternGenBits("words", next);
    swrite_Basic = FALSE;
    freopen("/dev/null", "w", stdout);  // the batteries print their reports; only the JSON line below is wanted
    if (!strcmp(name, "small")) bbattery_SmallCrush(generator);
    else if (!strcmp(name, "rabbit")) bbattery_Rabbit(generator, 1073741824.0);
    else if (!strcmp(name, "crush")) bbattery_Crush(generator);
    else return 2;
    int suspect = 0, failed = 0;
    double least = 1;
    for (int test = 0; test < bbattery_NTests; test++) {
        double p = bbattery_pVal[test], side = p < 0.5 ? p : 1 - p;
        if (p < 0) continue;  // a statistic that this test does not have
        suspect += side < 1e-4;
        failed += side < 1e-10;
        if (side < least) least = side;
    }
    fprintf(stderr, "{\"tests\": %d, \"suspect\": %d, \"failed\": %d, \"least\": %.3g, \"words\": %" PRIu64 "}\n",
            bbattery_NTests, suspect, failed, least, position);
    return 0;
}
#else
static int battery(const char *name) {
    fprintf(stderr, "built without TestU01, no battery %s\n", name);
    return 2;
}
#endif

int main(int count, char **arguments) {
    if (count < 4) return 2;
    for (unsigned n = 0; n < sizeof ORDERS / sizeof *ORDERS; n++)
        if (!strcmp(ORDERS[n].name, arguments[1])) chosen = ORDERS + n;
    if (!chosen) return 2;
    u64 number = strtoull(arguments[3], 0, 10);
    if (!strcmp(arguments[2], "words") && count == 5) {
        u64 stop = number + strtoull(arguments[4], 0, 10);
        for (; number < stop; number++) printf("%u\n", word_at(number));
        return 0;
    }
    if (!strcmp(arguments[2], "bytes")) {
        static u32 block[1 << 14];
        for (u64 left = number; left;) {
            u64 size = left < sizeof block ? left : sizeof block;
            for (u64 n = 0; n < (size + 3) / 4; n++) block[n] = next();
            if (fwrite(block, 1, size, stdout) != size) return 0;  // the reader has seen enough
            left -= size;
        }
        return 0;
    }
    rounds = (int)number;
    return battery(arguments[2]);
}
