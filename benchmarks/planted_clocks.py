"""
Logs as people write them, made of simulated recordings with even stamps.

Each function of the first half takes stamps (N,), positions (N, n) and drive signals (N, n) with
true and even stamps, and a random generator, and returns the same of another log. `PLANTED` lists
what logs.py makes of them. ``python benchmarks/logs.py FOLDER planted`` runs all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate, Simulation
from dynid_ros.simulation.sensors import measure

Array = NDArray[np.float64]
#: Stamps, positions and drive signals.
Samples = tuple[Array, Array, Array]
Plant = Callable[[Array, Array, Array, np.random.Generator], Samples]

#: Arms of three makers. All have the motion, the noise and the clocks of one seed.
ARMS, SEED = ('ur10', 'panda', 'gluon_6l3'), 1
#: Fundamental period of the motion, s, and how often it is repeated.
PERIOD, PERIODS = 10.0, 6
#: Rate of the simulation, of which all drivers read the state, Hz.
TRUE_HZ = 1000.0
#: Rate of the drivers where a clock asks for none, Hz.
USUAL_HZ = 500.0
#: Jitter of receive stamps, ms, and rate, Hz: for the first arm, and for the others.
JITTER = tuple((ms, rate) for rate in (100.0, 500.0, 1000.0) for ms in (0.1, 1.0, 4.0))
FEWER = tuple(each for each in JITTER if each[0] == 1.0 or each == (4.0, 1000.0))
#: Steps of a logger that polls as fast as it can: the least one and the scale of the gamma
#: distribution beyond it, s, its shape, and how often the logger is held up for how long, s.
#: A log of a Panda at 1 kHz has such steps, from 0.7 to 8.8 ms.
STEP, SCALE, SHAPE, HELD_UP, HOLD_UP = 0.7e-3, 0.26e-3, 1.2, 0.003, 7e-3


def jittered(t: Array, q: Array, u: Array, rng: np.random.Generator, seconds: float) -> Samples:
    """Stamp samples when they are received, in their order, with Gaussian errors."""
    return np.sort(t + seconds * rng.normal(size=len(t))), q, u


def newest(t: Array, q: Array, u: Array, at: Array) -> Samples:
    """Log at some times the newest sample of a driver."""
    place = np.searchsorted(t, at, side='right') - 1
    return at - at[0], q[place], u[place]


def polled(t: Array, q: Array, u: Array, rng: np.random.Generator) -> Samples:
    """Log the newest sample whenever a busy loop comes round, with the stamps of the loop."""
    steps = STEP + rng.gamma(SHAPE, SCALE, len(t))
    steps[rng.random(len(t)) < HELD_UP] += HOLD_UP
    at = t[0] + np.cumsum(steps)
    return newest(t, q, u, at[at < t[-1]])


def looped(t: Array, q: Array, u: Array, rng: np.random.Generator, rate_hz: float) -> Samples:
    """Log the newest sample in an even loop, with stamps that count its turns."""
    begin = t[0] + rng.random() / rate_hz
    return newest(t, q, u, begin + np.arange(int((t[-1] - begin) * rate_hz)) / rate_hz)


def repeated(t: Array, q: Array, u: Array, rng: np.random.Generator, share: float) -> Samples:
    """Publish the sample before again, with a new stamp, instead of a share of the samples."""
    again = rng.random(len(t)) < share
    again[0] = False
    place = np.maximum.accumulate(np.where(again, 0, np.arange(len(t))))
    return t, q[place], u[place]


def lost(t: Array, q: Array, u: Array, rng: np.random.Generator, share: float) -> Samples:
    """Lose a share of the samples."""
    keep = rng.random(len(t)) >= share
    return t[keep], q[keep], u[keep]


def late(t: Array, q: Array, u: Array, _: np.random.Generator, seconds: float) -> Samples:
    """Report drive signals later than positions."""
    keep = t >= t[0] + seconds
    delayed = np.column_stack([np.interp(t[keep] - seconds, t, each) for each in u.T])
    return t[keep], q[keep], delayed


class Planted(NamedTuple):
    """A log to make: name of the arm and of the clock, rate of the driver in Hz, and how."""

    arm: str
    clock: str
    rate_hz: float
    plant: Plant

    @property
    def name(self) -> str:
        """Return arm and clock in words."""
        return f'planted {self.arm}, {self.clock}'

    def recording(self) -> Recording:
        """Return the log."""
        even = even_recording(self.arm, self.rate_hz)
        # The sensors have drawn from the generator of the seed alone.
        t, q, u = self.plant(even.t, even.q, even.u, np.random.default_rng([SEED, 1]))
        return Recording(
            t, q, u, even.joint_names, even.signal, self.name, as_logged=True)


def clocks(arm: str) -> list[Planted]:
    """List the logs of an arm."""
    made: list[tuple[str, float, Plant]] = [
        *((f'jitter {ms:g} ms, {rate:g} Hz', rate, partial(jittered, seconds=1e-3 * ms))
          for ms, rate in (JITTER if arm == ARMS[0] else FEWER)),
        ('polled at 1 kHz', 1000.0, polled),
        ('newest of 246 Hz at 200 Hz', 246.0, partial(looped, rate_hz=200.0)),
        ('newest of 101 Hz at 100 Hz', 101.0, partial(looped, rate_hz=100.0)),
        ('1 % repeated', USUAL_HZ, partial(repeated, share=0.01)),
        ('10 % repeated', USUAL_HZ, partial(repeated, share=0.1)),
        ('1 % lost', USUAL_HZ, partial(lost, share=0.01)),
        ('10 % lost', USUAL_HZ, partial(lost, share=0.1)),
        ('effort 30 ms late', USUAL_HZ, partial(late, seconds=0.03))]
    return [Planted(arm, *each) for each in made]


#: All logs, arm by arm.
PLANTED = [each for arm in ARMS for each in clocks(arm)]


@lru_cache(maxsize=1)
def simulated(name: str) -> tuple[ArmModel, Simulation]:
    """Simulate an arm once for all of its drivers."""
    arm = load_arm(name)
    motion = random_motion(arm, SEED, period=PERIOD, periods=PERIODS)
    return arm, simulate(arm, motion, rate_hz=TRUE_HZ, seed=SEED)


@lru_cache
def even_recording(name: str, rate_hz: float) -> Recording:
    """Record the simulated arm with a driver of some rate that stamps its samples when due."""
    arm, simulation = simulated(name)
    truth = simulation.truth
    t = np.arange(int(truth.t[-1] * rate_hz) + 1) / rate_hz
    q, qd, tau = (CubicSpline(truth.t, each)(t) for each in (truth.q, truth.qd, truth.tau))
    q, _, u = measure(arm, simulation.sensors, np.random.default_rng(SEED), q, qd, tau)
    return Recording(
        t, joint_position(q, arm.drive), u, arm.joint_names, arm.drive.signal,
        f'{name}, even stamps at {rate_hz:g} Hz')
