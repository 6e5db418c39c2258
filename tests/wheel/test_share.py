import pytest

from pinctl.wheel.share import at_once


@pytest.mark.parametrize(
    ("cells", "cpus", "gib", "gib_per_job", "wanted"),
    [
        (8, 64, 8.0, 4, 1),  # H20: many CPUs, little memory
        (8, 64, 256.0, 4, 8),
        (32, 64, 256.0, 4, 16),
        (32, 64, 100.0, 4, 12),
        (8, 2, 24.0, 4, 1),
        (1, 64, 512.0, 4, 1),
        (4, 1, 0.5, 4, 1),
    ],
)
def test_cells_at_once_by_cores_and_memory(cells: int, cpus: int, gib: float, gib_per_job: int, wanted: int) -> None:
    assert at_once(cells, cpus, gib, gib_per_job) == wanted
