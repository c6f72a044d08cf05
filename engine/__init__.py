"""The engine: the memory, the streets and the models. It has never heard of Qt.

Importing this package loads neither torch nor Qt; the modules below it load what they need.
"""

import os

# torch's threads wait for each other hundreds of times a chunk. By default they do so spinning: where something else wants a core too (the
# window's painting, the memory's workers), the spinner keeps it from the one that is waited for, and a chunk takes up to ten times as long.
# So they spin briefly, then sleep. OpenMP reads this once, when torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "2000")
