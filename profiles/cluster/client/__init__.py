"""What a client does with hosts: finds their devices, takes one, and measures there."""
