"""How many cells are built at once."""

CPUS_A_CELL = 4
"""A cell by itself uses every CPU while it compiles; a second one fills what its installing and linking leave."""
JOBS_A_CELL = 2
"""Compilers for whose memory there must be room in each cell."""


def at_once(cells: int, cpus: int, gib: float, gib_per_job: int) -> int:
    """How many of `cells` a machine of `cpus` and `gib` of memory builds at once: at least one."""
    by_memory = int(gib // (JOBS_A_CELL * max(1, gib_per_job)))
    return max(1, min(cells, cpus // CPUS_A_CELL, by_memory))
