"""What Python calls: `attention`, `attention_backward`, `register_transformers`, and what layouts cost.

Where the kernel reads the arrays as they lie, nothing is copied: the NumPy kernels read any strides, and so
any layout and slices of a packed QKV. Their bits do not depend on the layout where head_dim is contiguous;
elsewhere they may in the last places, as NumPy then takes another road through a product. The CUDA kernels
and those of libraries read row-major (batch, heads, seqlen, head_dim) alone; anything else is refused, or
copied with `copy=True`, and then O is copied once more, into the layout of Q.

Sequences in "thd" are computed on views, by one launch for each run of neighbours of the same lengths: as
many launches as there are sequences where all differ. With `copy=True` a kernel that reads copies alone,
but takes ragged lengths, is given all of them in one launch, copied into a batch as long as the longest,
which holds batch x longest rows and keys at once. Backward passes take no ragged lengths: they go from run
to run.

PyTorch's tensors share their memory with NumPy (CPU) or CuPy (GPU), and results are tensors that share
theirs; on a GPU the work is enqueued on PyTorch's current stream. Nothing is recorded for autograd, so a
tensor that requires grad is refused while autograd records.
"""
