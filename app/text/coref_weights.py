from typing import Final
THRESHOLD: Final = 0.8
CHAIN: Final = 0.5
WEIGHTS: Final[dict[str, float]] = {}
