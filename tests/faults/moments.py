"""The moments at which something is killed: others in every run, and the same again where a seed is given.

FAULTS_SEED=123 draws the moments of an earlier run; every test prints the seed, which pytest shows when it fails.
"""

import os
import random

SEED_VARIABLE = "FAULTS_SEED"
SEEDS = 1_000_000


class Moments:
    """Delays drawn evenly over the time that some work takes; shorter once the work is seen to take less.

    The first measure may be of a loaded machine. Moments after the end of the work are of no use.
    """

    def __init__(self, takes_s):
        self.seed = int(os.environ.get(SEED_VARIABLE) or random.SystemRandom().randrange(SEEDS))
        print(f"the moments: {SEED_VARIABLE}={self.seed}, over {takes_s:.3f} s at first")
        self._random, self._takes_s = random.Random(self.seed), takes_s

    def next_s(self):
        """Return how long to wait this time."""
        return self._random.uniform(0, self._takes_s)

    def was_too_late(self, delay_s):
        """Note that the work had ended by then."""
        self._takes_s = min(self._takes_s, delay_s)
