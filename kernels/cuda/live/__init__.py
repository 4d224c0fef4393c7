"""A launch in slow motion on a GPU: the builds that tell of their tiles, their pace, and running one."""
