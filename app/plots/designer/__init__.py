"""What the Designer draws: an SM filled with blocks, and the cuts around one."""
