"""A rosbag2 recorder as a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import ctypes
from pathlib import Path
import signal
import subprocess
import sys

from rclpy.qos import QoSProfile
import yaml

from dynid_ros.storage.whole_file import write_whole

#: A kill loses the chunk that is being filled: here some hundred messages instead of thousands.
CHUNKS = b'chunkSize: 32768\ncompression: "Zstd"\ncompressionLevel: "Fastest"\n'
#: Longest time that the bag takes to close, s.
PATIENCE = 10.0
_PDEATHSIG = 1


class BagProcess:
    """
    ``ros2 bag record`` of some topics into one MCAP bag.

    It ends, and closes its bag, when this process ends in whatever way.

    Parameters
    ----------
    folder : Path
        Existing folder, in which the bag ``bag`` and its log are made.
    topics : sequence of str
        Full names.
    name : str
        Name of its node.
    facts : mapping of str to str
        Custom data of the bag.
    qos : mapping of str to QoSProfile
        QoS of topics that are published already. rosbag2 itself would keep ten messages, and lose
        samples of 1 kHz whenever it stalls for ten milliseconds.

    """

    def __init__(
        self, folder: Path, topics: Sequence[str], name: str, facts: Mapping[str, str],
        qos: Mapping[str, QoSProfile],
    ) -> None:
        self.bag = folder / 'bag'
        self._log = folder / 'rosbag2.log'
        settings = folder / '.storage.yaml'
        write_whole(settings, CHUNKS)
        overrides = folder / '.qos.yaml'
        write_whole(overrides, yaml.safe_dump(
            {topic: _plain(profile) for topic, profile in qos.items()}).encode())
        command = [
            'ros2', 'bag', 'record', '--output', str(self.bag), '--storage', 'mcap',
            '--storage-config-file', str(settings), '--qos-profile-overrides-path',
            str(overrides), '--disable-keyboard-controls',
            '--node-name', name, '--custom-data', *(f'{k}={v}' for k, v in facts.items()),
            '--topics', *topics]
        with self._log.open('wb') as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                start_new_session=True, preexec_fn=_end_with_parent)

    def ended(self) -> str | None:
        """Why the recorder ended, or None while it runs."""
        status = self._process.poll()
        if status is None:
            return None
        lines = self._log.read_text(errors='replace').strip().splitlines()
        return f'rosbag2 ended with status {status}: {lines[-1] if lines else "no reason given"}'

    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.stat().st_size for file in self.bag.glob('*.mcap'))

    def stop(self) -> bool:
        """Close the bag; False if the recorder had to be killed."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGINT)
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return False
        return True


def _plain(qos: QoSProfile) -> dict[str, object]:
    return {'history': 'keep_last', 'depth': qos.depth, 'durability': 'volatile',
            'reliability': qos.reliability.name.lower()}


def _end_with_parent() -> None:
    """Let Linux send SIGINT when the parent is gone, so that no recorder is left behind."""
    if sys.platform == 'linux':
        ctypes.CDLL(None).prctl(_PDEATHSIG, signal.SIGINT)
