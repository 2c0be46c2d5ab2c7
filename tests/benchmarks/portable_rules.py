"""Operations that no measurement can clear: what they do is wrong in a batched twin whatever their bits."""

from __future__ import annotations

# (name, spellings of calls, reason, what to use instead); those without a spelling are found by their form.
RULES: tuple[tuple[str, str, str, str], ...] = (
    (
        "host",
        "item tolist numpy cpu cuda __array__",
        "takes the batch to the host: it cannot be compiled into the graph and stalls a device",
        "tensor operations only; torch.where for choices",
    ),
    (
        "shape of data",
        "nonzero argwhere masked_select unique unique_consecutive bincount histc",
        "the shape of its result depends on data, and so on the other rows",
        "a mask of fixed shape with torch.where, any(dim=...) or sum(dim=..., dtype=torch.int32)",
    ),
    (
        "torch generator",
        "rand randn randint randperm rand_like randn_like randint_like bernoulli multinomial normal poisson "
        "dropout manual_seed seed initial_seed Generator",
        "torch's own generator is shared by all rows and not recorded",
        "the draws declared in schema.json: ctx.draw.uniform(...), ctx.draw.integers(...), ...",
    ),
    (
        "scatter",
        "scatter scatter_add scatter_reduce index_add index_copy index_fill index_put index_reduce put masked_scatter",
        "where an index comes twice, which write wins is not the same everywhere",
        "torch.where(torch.arange(K) == index[:, None], value[:, None], x)",
    ),
    (
        "uninitialised",
        "empty empty_like new_empty empty_strided",
        "holds whatever memory held",
        "torch.zeros, torch.full or their _like forms",
    ),
    (
        "ties",
        "median mode quantile msort",
        "which of several equal items is named is not the same everywhere",
        "torch.argsort(..., stable=True)",
    ),
    (
        "power",
        "** float_power",
        "torch computes powers and roots in ways that differ between forms",
        "x * x for a small whole power, simulacrum.portable.sqrt(x), or simulacrum.portable.pow(x, y)",
    ),
    (
        "in-place",
        "",
        "changes a tensor that the engine, the caller or another field may hold",
        "the form that returns a new tensor; torch.where for a part",
    ),
    (
        "boolean index",
        "",
        "the shape of its result depends on data, and so on the other rows",
        "torch.where(mask, new, old)",
    ),
    (
        "branch on data",
        "",
        "one answer is taken for the whole batch",
        "torch.where(condition, this, that); & | ~ for and, or, not",
    ),
    (
        "reduce over the batch",
        "",
        "without dim=, or with dim=0, rows are mixed",
        "name the axis of items: dim=-1, or dim=1",
    ),
    (
        "import",
        "",
        "only torch, simulacrum, the package itself and a few standard modules bear on numbers in known ways",
        "torch, simulacrum.portable.tensor, or a constant in the package's __init__.py",
    ),
    (
        "math function",
        "",
        "the host's mathematical library differs between machines",
        "a literal, or simulacrum.portable",
    ),
)
