"""The entry point: `pinctl`, `python -m pinctl`."""

import sys


def run() -> None:
    """Run the command line and exit with its status."""
    import gc

    # A run is short, and looking for cycles while modules load takes a twentieth of it.
    gc.set_threshold(50_000)
    try:
        from pinctl.cli import main
    except KeyboardInterrupt:  # before there was anything to be told
        sys.exit(130)

    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    # `python -m` puts the working directory first, and a stranger's checkout may hold a tomllib.py of its own.
    if not sys.flags.safe_path:
        del sys.path[0]
    run()
