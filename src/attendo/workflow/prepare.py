"""Corpora to a prepared folder: the vocabulary, the token shards, and an account of every pair kept or dropped.

The corpora are read three times, and nothing of them is held but a bounded sample and a byte a pair: once to clean them
and to find duplicates, once to learn the vocabulary, once to write the tokens.
"""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import batched
from pathlib import Path
from typing import IO
