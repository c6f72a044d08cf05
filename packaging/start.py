"""What the bundle runs: the program's command line."""

import multiprocessing
import sys

from worldpager.engine.cli import main

if __name__ == "__main__":
    multiprocessing.freeze_support()
    sys.exit(main())
