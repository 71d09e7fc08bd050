# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Changes of bytes, of text and of values, as disks, editors and drivers make them, and worse."""

from __future__ import annotations

from random import Random
import re
import struct

import numpy as np

NUMBERS = (
    'nan', 'inf', '-inf', '.nan', '-.inf', '1e308', '-1e308', '1e-308', '1e999', '0', '-0', '-1',
    '1e6', '1e12', '5,0', '010', '1:30', '0x10', '1_0', '-.087', '1e-3', '', '٣', '2147483648',
    '9' * 30, '9' * 400, '1e', '--1', '1.5.2', 'true', '~')
TEXTS = (
    '', ' ', 'x' * 5000, 'x ' * 2000, 'a\nb', '\x00', '\x1b[31m', '\\0', '\u202e', '\x85', 'null',
    '!!bool x', '!!int ""', '!!binary é', '!!python/name:os.system', '&a [*a]', '*a', '<<: 1',
    '..', '{', '}', '[' * 300, ']', '"', "'", '<', '>', '&lt;', '&e;', '${x}', '-', '--', '%', '#',
    '|', '🤖', '<!DOCTYPE a>', '/dev/zero', '/', 'joint_1', 'nan', '\t', ': ', '? ', '\ufeff')
FLOATS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 1e-308, 0.0, -0.0, 1e6, 1e18, 1e9, -1.0)
_NUMBER = re.compile(r'-?\d+\.?\d*(?:e[-+]?\d+)?')
_WORD = re.compile(r'[^\s:,{}\[\]"<>=/]+')


def mutated_bytes(rng: Random, data: bytes) -> bytes:
    """Change, repeat, remove or add some of the bytes."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 4))):
        at, size = rng.randrange(len(changed) + 1), rng.choice((1, 4, 8, 200))
        match rng.randrange(7):
            case 0 if at < len(changed):
                changed[at] ^= 1 << rng.randrange(8)
            case 1:
                del changed[at:at + size]
            case 2:
                del changed[at:]
            case 3:
                changed[at:at] = changed[at:at + size]
            case 4:
                changed[at:at] = rng.randbytes(size)
            case 5:
                changed[at:at + 8] = struct.pack('<d', rng.choice(FLOATS))
            case _:
                changed[at:at + 4] = struct.pack('<I', rng.choice((0, 1, 2**31, 2**32 - 1)))
    return bytes(changed)


def mutated_text(rng: Random, text: str) -> str:
    """Change numbers, words and lines."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        lines = text.splitlines(keepends=True) or ['']
        line = rng.randrange(len(lines))
        match rng.randrange(8):
            case 0 | 1 | 2:
                text = _replaced(rng, text, _NUMBER, rng.choice(NUMBERS))
            case 3 | 4:
                text = _replaced(rng, text, _WORD, rng.choice((*TEXTS, *_WORD.findall(text)[:50])))
            case 5:
                del lines[line]
                text = ''.join(lines)
            case 6:
                lines.insert(rng.randrange(len(lines)), lines[line])
                text = ''.join(lines)
            case _:
                at = rng.randrange(len(text) + 1)
                text = text[:at] + rng.choice(TEXTS) + text[at:]
    return text


def _replaced(rng: Random, text: str, pattern: re.Pattern[str], new: str) -> str:
    found = list(pattern.finditer(text))
    if not found:
        return text
    place = rng.choice(found)
    return text[:place.start()] + new + text[place.end():]


def mutated_array(rng: Random, values: np.ndarray) -> np.ndarray:
    """Change numbers, rows, the shape or the kind of an array."""
    x = values.copy()
    first = rng.randrange(len(x))
    part = slice(first, first + rng.choice((1, 1, 10, len(x))))
    match rng.randrange(9):
        case 0 | 1 | 2:
            x[part] = rng.choice(FLOATS)
        case 3:
            x[part] = x[part][::-1]
        case 4:
            x = np.delete(x, part, axis=0)
        case 5:
            x = x.astype(rng.choice(('f4', 'i4', 'u1', 'c16', 'U8', 'bool', 'f2')))
        case 6:
            x = x.reshape(rng.choice(((-1,), (1, -1), (-1, 1), (1, 1, -1))))
        case 7:
            x[part] = x[first]
        case _:
            x = x * rng.choice(FLOATS)
    return x


def utf8(text: str) -> bytes:
    """Encode a text, with what no text may hold."""
    return text.encode('utf-8', errors='surrogatepass')
