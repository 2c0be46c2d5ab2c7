"""An exported graph in, one native loop out.

The way through the room: `graph` turns each node of a `torch.export` program into a lazy `Tensor` (`tensors`) by the
rule of its operation (`rules`), whose scalars are single assignments of a typed `program`; `kernel` writes its outputs
and drops what nobody needs; `emit` writes the C of a kernel; `library` joins kernels to functions of a batch;
`compiler` calls clang on it.
"""
