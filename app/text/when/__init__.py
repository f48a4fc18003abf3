"""Time in text: which days Chinese and English words mean, seen from the day on which they were written.

Pure; knows no clock, no cards and no time zones beyond the one that the reference carries.
"""

from app.text.when.find import find_times
from app.text.when.found import OPEN_END, OPEN_START, Kind, Precision, TimeFound
from app.text.when.words import month_words, strip_times
from app.text.when.written import find_date

__all__ = [
    "OPEN_END",
    "OPEN_START",
    "Kind",
    "Precision",
    "TimeFound",
    "find_date",
    "find_times",
    "month_words",
    "strip_times",
]
