"""The entry point: `pinctl`, `python -m pinctl`."""

import sys


def run() -> None:
    """Run the command line and exit with its status. What CI or a closed terminal sends ends it as ^C does: programs
    that run are ended, and what was begun is taken back."""
    import gc
    from signal import SIG_DFL, SIGHUP, SIGTERM, default_int_handler, getsignal, signal

    for number in (SIGHUP, SIGTERM):
        if getsignal(number) is SIG_DFL:  # nohup has it ignored
            signal(number, default_int_handler)

    # A run is short, and looking for cycles while modules load takes a twentieth of it.
    gc.set_threshold(50_000)
    try:
        from pinctl.cli import main
    except KeyboardInterrupt:  # before there was anything to be told
        sys.exit(130)

    status = main(sys.argv[1:])
    gc.freeze()  # nor need the end be spent on that: looking through all that is loaded takes a tenth of a run
    sys.exit(status)


if __name__ == "__main__":
    # `python -m` puts the working directory first, and a stranger's checkout may hold a tomllib.py of its own.
    if not sys.flags.safe_path:
        del sys.path[0]
    run()
