"""C that turns columns into rows: how a loop over rows stores an output whose elements lie row by row.

A vectorised loop has 16 rows in each of its vectors, one element of the output a vector. Stored as they are, each
would be scattered over 16 rows, which costs a store an element. So the loop writes a strip of columns to the stack,
and blocks of 16 rows by 4, 8 or 16 columns are turned in registers: each round interleaves the vectors of the upper
half with those of the lower, which rotates the bits of an element's place by one; after as many rounds as the columns
have bits, the columns' bits stand lowest. Blocks overlap where the width is no multiple.
"""

from __future__ import annotations

NARROWEST = 4  # columns; fewer are stored as they are, which compilers do well


def _block(columns: int) -> str:
    rounds: list[str] = []
    names = [f"a{number}" for number in range(columns)]
    lines = [f"  wide a{number} = *(const wide *)(t + {number} * stride);" for number in range(columns)]
    for turn in range(columns.bit_length() - 1):
        new = [f"{'bcde'[turn]}{number}" for number in range(columns)]
        half = columns // 2
        for number in range(half):
            pair = f"{names[number]}, {names[number + half]}"
            rounds.append(f"  wide {new[2 * number]} = LOWER({pair}), {new[2 * number + 1]} = UPPER({pair});")
        names = new
    per_vector = 16 // columns
    stores = [
        f"  STORE{columns}(out + {number * per_vector + part} * width, {name}, {part * columns});"
        for number, name in enumerate(names)
        for part in range(per_vector)
    ]
    body = "\n".join([*lines, *rounds, *stores])
    return (
        f"static inline void block{columns}(const uint32_t *t, int64_t stride, uint32_t *out, int64_t width)\n"
        f"{{\n{body}\n}}\n"
    )


TRANSPOSE = (
    """\
typedef uint32_t wide __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t eight __attribute__((vector_size(32), aligned(4), may_alias));
typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));
#define LOWER(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#define STORE16(to, v, at) *(wide *)(to) = v
#define STORE8(to, v, at) \\
  *(eight *)(to) = __builtin_shufflevector(v, v, at, at + 1, at + 2, at + 3, at + 4, at + 5, at + 6, at + 7)
#define STORE4(to, v, at) *(four *)(to) = __builtin_shufflevector(v, v, at, at + 1, at + 2, at + 3)

"""
    + "\n".join(map(_block, (4, 8, 16)))
    + """
/* `rows` rows of `width` columns, from columns of length `stride` to rows. */
static inline void to_rows(const void *strip, void *to, int64_t width, int64_t stride, int64_t rows)
{
  const uint32_t *t = (const uint32_t *)strip;
  uint32_t *out = (uint32_t *)to;
  const int64_t whole = rows & ~(int64_t)15;
  for (int64_t row = 0; row < whole; row += 16) {
    uint32_t *line = out + row * width;
    int64_t column = 0;
    for (; column + 16 <= width; column += 16) block16(t + column * stride + row, stride, line + column, width);
    if (column == width) continue;
    if (width - column > 8 && width >= 16) {
      block16(t + (width - 16) * stride + row, stride, line + width - 16, width);
      continue;
    }
    if (width - column >= 8) { block8(t + column * stride + row, stride, line + column, width); column += 8; }
    if (column == width) continue;
    if (width - column > 4 && width >= 8) {
      block8(t + (width - 8) * stride + row, stride, line + width - 8, width);
      continue;
    }
    if (width - column >= 4) { block4(t + column * stride + row, stride, line + column, width); column += 4; }
    if (column < width) block4(t + (width - 4) * stride + row, stride, line + width - 4, width);
  }
  for (int64_t row = whole; row < rows; row++)
    for (int64_t column = 0; column < width; column++) out[row * width + column] = t[column * stride + row];
}
"""
)
