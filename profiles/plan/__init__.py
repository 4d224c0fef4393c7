"""What a sweep will do: plan, presets, sequence lengths, the machine it is made for."""
