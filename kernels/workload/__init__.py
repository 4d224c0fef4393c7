"""What is computed: one attention workload, its masks, lengths, layout and tensors, however it is run."""
