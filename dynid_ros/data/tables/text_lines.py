"""Lines of a text file, and numbers and dates in its cells."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import date
from itertools import islice
from pathlib import Path
import re

from dynid_ros.errors import RecordingError

#: Lines in which a header is sought.
MOST = 60
#: First bytes of text in UTF-16.
UTF_16 = (b'\xff\xfe', b'\xfe\xff')
#: Day from which seconds count.
EPOCH = date(1970, 1, 1).toordinal()
_DATE = re.compile(
    r'\s*(?:(\d{4})[-/](\d\d)[-/](\d\d)[T ])?(\d\d?):(\d\d):(\d\d(?:\.\d+)?)'
    r'\s*(?:Z|[+-]\d\d:?\d\d)?\s*')


def text_lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """Yield number and text of each line that is not empty, without comments and quotes."""
    with path.open(encoding=encoding, errors='replace') as file:
        for number, line in enumerate(file, start=1):
            text = line.split('#', 1)[0].strip('\r\n ').replace('"', '')
            if text:
                yield number, text


def text_encoding(path: Path) -> str:
    """
    Find the encoding of a text by its first lines: UTF-8 or UTF-16, else that of Windows.

    Raises
    ------
    RecordingError
        The file cannot be read.

    """
    try:
        with path.open('rb') as raw:
            head = b''.join(islice(raw, MOST))
    except OSError as error:
        raise RecordingError(f'{path} cannot be read: {error.strerror}') from error
    if head[:2] in UTF_16:
        return 'utf-16'
    with suppress(UnicodeDecodeError):
        head.decode()
        return 'utf-8-sig'
    return 'cp1252'


def number_in(cell: str) -> float | None:
    """Read a number, or seconds of a date or a time of day."""
    with suppress(ValueError):
        # Python takes 1_000 for a number, and other writers of tables never do.
        return None if '_' in cell else float(cell)
    found = _DATE.fullmatch(cell)
    if not found:
        return None
    year, month, day, hour, minute, second = found.groups()
    # There is no month 13.
    with suppress(ValueError):
        days = date(int(year), int(month), int(day)).toordinal() if year else EPOCH
        return 86400.0 * (days - EPOCH) + 3600 * int(hour) + 60 * int(minute) + float(second)
    return None
