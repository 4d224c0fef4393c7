"""The context planner: what a model's attention holds, how long a context fits, and what it would take."""
