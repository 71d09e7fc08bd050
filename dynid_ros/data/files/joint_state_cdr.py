# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Messages sensor_msgs/msg/JointState in CDR, many at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import struct

import numpy as np
from numpy.typing import NDArray

from dynid_ros.data.files.sample_blocks import SampleBlock
from dynid_ros.utilities.arrays import Array

Part = slice | NDArray[np.int64]
NOTHING = slice(0, 0)

# CDR aligns relative to the first byte after the four-byte encapsulation header.
ENCAPSULATION = 4
STAMP = slice(ENCAPSULATION, ENCAPSULATION + 8)
# Writers may round a message up to a multiple of four bytes.
MAX_TRAILING = 3


class Layout:
    """
    Parse a message to find the places of its fields.

    Parameters
    ----------
    data : bytes
        Message.
    stamped : bool
        Whether it begins with a header.

    Attributes
    ----------
    order : str
        Byte order, ``<`` or ``>``.
    names : tuple of str
        Joint names.
    arrays : (slice or ndarray, slice or ndarray, slice or ndarray)
        Bytes of positions, velocities and efforts.
    fixed : list of int
        Bytes that equal messages share: header and all counts, without alignments.

    """

    def __init__(self, data: bytes, *, stamped: bool) -> None:
        if len(data) < ENCAPSULATION:
            raise ValueError('the message ends early')
        self.data, self.stamped = data, stamped
        self.at = ENCAPSULATION
        self.order = '<' if data[1] & 1 else '>'
        self.names: tuple[str, ...] = ()
        self.arrays: tuple[Part, Part, Part] = (NOTHING, NOTHING, NOTHING)
        self.fixed: list[int] = [1]
        if stamped:
            self.at = STAMP.stop
            self.string(fixed=False)

    def align(self, width: int) -> None:
        """Step to a multiple of some bytes."""
        self.at += -(self.at - ENCAPSULATION) % width

    def count(self) -> int:
        """Read an unsigned integer of 32 bits."""
        self.align(4)
        if self.at + 4 > len(self.data):
            raise ValueError('the message ends early')
        (value,) = struct.unpack_from(f'{self.order}I', self.data, self.at)
        self.fixed += range(self.at, self.at + 4)
        self.at += 4
        return int(value)

    def string(self, *, fixed: bool) -> str:
        """Read a string; `fixed` if equal messages agree in it."""
        length = self.count()
        text = self.data[self.at:self.at + length]
        if len(text) < length:
            raise ValueError('a string runs past the end')
        if fixed:
            self.fixed += range(self.at, self.at + length)
        self.at += length
        return text.rstrip(b'\0').decode()

    def strings(self) -> tuple[str, ...]:
        """Read a sequence of strings in which equal messages agree."""
        count = self.count()
        if count > len(self.data):
            raise ValueError('more names than bytes')
        return tuple(self.string(fixed=True) for _ in range(count))

    def doubles(self) -> slice:
        """Step over a sequence of doubles, and return its bytes."""
        count = self.count()
        if count:
            self.align(8)
        start, self.at = self.at, self.at + 8 * count
        if self.at > len(self.data):
            raise ValueError('an array runs past the end')
        return slice(start, self.at)

    def end(self) -> Layout:
        """Check that the message ends here."""
        if len(self.data) - self.at > MAX_TRAILING:
            raise ValueError('the message is longer than its fields')
        return self


#: Reads the layout of a message.
Parser = Callable[[bytes], Layout]


def parse_layout(data: bytes) -> Layout:
    """
    Find the fields of one message.

    Raises
    ------
    ValueError
        The bytes are not a JointState message.

    """
    layout = Layout(data, stamped=True)
    layout.names = layout.strings()
    layout.arrays = layout.doubles(), layout.doubles(), layout.doubles()
    return layout.end()


def decode(
    received: Sequence[int], messages: Sequence[bytes], first: int, parse: Parser = parse_layout,
) -> tuple[list[SampleBlock], list[tuple[int, str]]]:
    """
    Decode messages, all of equal layout at once.

    Parameters
    ----------
    received : (k,) sequence of int
        Time at which each was received, ns.
    messages : (k,) sequence of bytes
        Messages with their encapsulation header.
    first : int
        Place of the first in the recording.
    parse : callable
        Finds the fields of a message.

    Returns
    -------
    list of SampleBlock, list of (int, str)
        The messages; place of each one that cannot be decoded, and the reason.

    """
    times = np.array(received, dtype=np.int64)
    sizes = np.array([len(message) for message in messages], dtype=np.int64)
    blocks, damaged = [], []
    for size in np.unique(sizes):
        left = np.flatnonzero(sizes == size)
        rows = np.frombuffer(b''.join([messages[i] for i in left.tolist()]), dtype=np.uint8)
        rows = rows.reshape(len(left), size)
        while len(left):
            try:
                layout = parse(rows[0].tobytes())
            except ValueError as error:
                damaged.append((first + int(left[0]), str(error)))
                left, rows = left[1:], rows[1:]
                continue
            equal = (rows[:, layout.fixed] == rows[0, layout.fixed]).all(axis=1)
            blocks.append(_block(layout, rows[equal], left[equal] + first, times[left[equal]]))
            left, rows = left[~equal], rows[~equal]
    return blocks, damaged


def _block(
    layout: Layout, rows: NDArray[np.uint8], index: NDArray[np.int64], received: NDArray[np.int64]
) -> SampleBlock:
    """Read the values of messages of one layout; an absent stamp is zero."""
    stamps = np.zeros(len(rows), dtype=np.int64)
    if layout.stamped:
        stamp = np.ascontiguousarray(rows[:, STAMP])
        seconds = stamp.view(f'{layout.order}i4')[:, 0].astype(np.int64)
        nanoseconds = stamp.view(f'{layout.order}u4')[:, 1].astype(np.int64)
        stamps = seconds * 1_000_000_000 + nanoseconds
    parts = (np.ascontiguousarray(rows[:, part]) for part in layout.arrays)
    values = (part.view(f'{layout.order}f8').astype(np.float64) if part.shape[1]
              else np.empty((len(rows), 0)) for part in parts)
    return SampleBlock(layout.names, index, stamps, received, *values)


def encode(
    names: Sequence[str], stamps: NDArray[np.int64], values: Sequence[Array | None]
) -> NDArray[np.uint8]:
    """
    Encode messages, little endian, with an empty frame.

    Parameters
    ----------
    names : sequence of str
        Joint names.
    stamps : (N,) ndarray of int64
        Header stamps, ns.
    values : three of (N, n) ndarray or None
        Position, velocity and effort; None leaves the array of the messages empty.

    Returns
    -------
    (N, size) ndarray of uint8
        One message a row.

    """
    template = bytearray(b'\0\1\0\0' + bytes(8) + struct.pack('<I', 1) + b'\0')
    _append_count(template, len(names))
    for name in names:
        text = name.encode() + b'\0'
        _append_count(template, len(text))
        template += text
    for value in values:
        width = 0 if value is None else value.shape[1]
        _append_count(template, width)
        if width:
            template += bytes(-(len(template) - ENCAPSULATION) % 8 + 8 * width)
    layout = parse_layout(bytes(template))
    rows = np.tile(np.frombuffer(bytes(template), dtype=np.uint8), (len(stamps), 1))
    time = np.column_stack([stamps // 1_000_000_000, stamps % 1_000_000_000])
    rows[:, STAMP] = time.astype('<u4').view(np.uint8)
    for part, value in zip(layout.arrays, values, strict=True):
        if value is not None:
            rows[:, part] = np.ascontiguousarray(value, dtype='<f8').view(np.uint8)
    return rows


def _append_count(template: bytearray, count: int) -> None:
    template += bytes(-(len(template) - ENCAPSULATION) % 4) + struct.pack('<I', count)
