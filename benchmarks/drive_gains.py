"""
Drive gains from recordings: simulated arms of which they are known, and arms with published ones.

    python benchmarks/drive_gains.py [FOLDER]

Each simulated arm follows one random motion with its friction for a minute, recorded many times:
white noise of 10 % of each joint's torque at 250 Hz, coloured noise of 1 % (correlation 0.98 from
sample to sample), and stated gains that are off by factors of 0.5 to 2. The table counts ratios of
gains with a standard deviation of at most 5 %, which `dynid gains` calls determined, and how
often 95 % intervals hold the truth; for a load of 2.8 kg, the gains themselves. A second table
lists runs from right and from wrong stated gains side by side. FOLDER holds recordings of real
arms (ur10/ur10_exciting_trajectory.db3 and others, see accuracy.py): published gains against the
data, and held-out errors with gains of the first two thirds, from the published gains and from
wrong ones.
"""

from __future__ import annotations

import dynid_ros.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from dataclasses import dataclass, replace
from pathlib import Path
import sys

import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.calibration.gain_verdict import DriveGains
from dynid_ros.excitation.random_motion import random_motion
from dynid_ros.identification.gain_recordings import recorded_gains
from dynid_ros.identification.identify import identify
from dynid_ros.identification.validation import split
from dynid_ros.recordings.recording import Recording
from dynid_ros.simulation.record import simulate, Simulation
from dynid_ros.simulation.sensors import coloured_noise, drive_signal, SensorModel
from dynid_ros.storage.recording_reader import read_recording

ARMS = ('ur10', 'panda', 'tx40')
RECORDINGS = {'ur10': 'ur10/ur10_exciting_trajectory.db3',
              'panda': 'panda/panda_exciting_trajectory.db3', 'tx40': 'tx40/pos_read_data.csv'}
RATE, PERIODS, REPETITIONS, SIDE_BY_SIDE = 250.0, 6, 12, 3
WHITE, COLOURED, CORRELATION = 0.1, 0.01, 0.98
MASS = 2.8
LOAD = inertial_from_com(MASS, [0.02, 0.01, 0.08], np.diag([0.01, 0.01, 0.006]))
HOLDOUT = 1 / 3


@dataclass(frozen=True, eq=False)
class Known:
    """A simulated arm and its recordings."""

    arm: ArmModel
    free: Simulation
    loaded: Simulation

    @staticmethod
    def simulated(name: str) -> Known:
        """Simulate an arm with and without the load."""
        arm = load_arm(name)
        motion = random_motion(arm, 3, periods=PERIODS, tries=50)
        assert arm.inertial is not None
        heavy = arm.inertial.copy()
        heavy[-1] += LOAD
        runs = [simulate(each, motion, rate_hz=RATE, sensors=SensorModel())
                for each in (arm, replace(arm, inertial=heavy))]
        return Known(arm, *runs)

    def stated(self, factors: np.ndarray) -> ArmModel:
        """Return the arm with other gains."""
        return replace(self.arm, drive=replace(self.arm.drive, gain=self.arm.drive.gain * factors))

    def recorded(self, run: Simulation, seed: int) -> Recording:
        """Record one run with noise of its own."""
        rng, spread = np.random.default_rng(seed), run.truth.tau.std(axis=0)
        noise = WHITE * spread * rng.normal(size=run.truth.tau.shape)
        noise += coloured_noise(rng, len(noise), COLOURED * spread, CORRELATION)
        signal = drive_signal(run.truth.tau + noise, 0 * noise, self.arm.drive)
        return replace(run.log, q=joint_position(run.log.q, self.arm.drive), u=signal)


def errors(found: DriveGains, factors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Errors of the logarithms, and their standard deviations; NaN for the reference."""
    logarithms, reference = found.logarithms, found.logarithms.reference
    error = logarithms.value + np.log(factors)
    std = logarithms.std.copy()
    if reference is not None:
        error -= error[reference]
        error[reference] = std[reference] = np.nan
    return error, std


def row(known: Known, what: str, seconds: float, *, loaded: bool) -> None:
    """Print one row of the first table."""
    found = []
    for seed in range(REPETITIONS):
        factors = factors_of(seed, known.arm.n)
        weighed = {'loaded': [known.recorded(known.loaded, seed + REPETITIONS)], 'mass': MASS}
        gains = recorded_gains(known.stated(factors), [known.recorded(known.free, seed)],
                               **(weighed if loaded else {}))
        found.append((*errors(gains, factors), gains.logarithms.std <= 0.05))
    error, std, determined = (np.array(each) for each in zip(*found, strict=True))
    determined &= np.isfinite(error)
    fine = determined & (std <= 0.005)
    holds = np.abs(error) < 1.96 * std
    open_ones = [str(j + 1) for j in np.flatnonzero((~determined & np.isfinite(error)).any(0))]
    print(f'| {what} | {seconds:.0f} | {determined.sum()} of {np.isfinite(error).sum()} '
          f'| {", ".join(open_ones) or "none"} '
          f'| {100 * np.sqrt((error[determined] ** 2).mean()):.2f} % '
          f'| {100 * np.abs(error[determined]).max():.1f} % '
          f'| {share_within(error[fine])} | {100 * holds[determined].mean():.0f} % '
          f'| {100 * holds[np.isfinite(error)].mean():.0f} % |', flush=True)


def share_within(error: np.ndarray) -> str:
    """Tell how many errors are below 1 %, and how many there are."""
    return f'{(np.abs(error) < 0.01).sum()} of {len(error)}' if len(error) else '-'


def factors_of(seed: int, joints: int) -> np.ndarray:
    """Return random factors by which stated gains are wrong."""
    return np.asarray(2 ** np.random.default_rng(1000 + seed).uniform(-1, 1, joints))


def side_by_side(known: Known, name: str) -> None:
    """Compare ratios from right and from wrong stated gains."""
    most, by_std = 0.0, 0.0
    for seed in range(SIDE_BY_SIDE):
        recording, factors = known.recorded(known.free, seed), factors_of(seed, known.arm.n)
        right = recorded_gains(known.arm, [recording]).logarithms
        wrong = recorded_gains(known.stated(factors), [recording]).logarithms
        assert right.reference is not None
        wrong, wanted = wrong.relative_to(right.reference), np.log(factors)
        change = np.abs(wrong.value + wanted - wanted[right.reference] - right.value)
        clear = (right.std <= 0.05) & (right.std > 0)
        most = max(most, float(change[clear].max(initial=0)))
        by_std = max(by_std, float((change[clear] / right.std[clear]).max(initial=0)))
    print(f'| {name} | {100 * most:.3f} % | {by_std:.3f} |', flush=True)


def real_arms(folder: Path) -> None:
    """Print published gains against the data, and held-out errors."""
    for name, path in RECORDINGS.items():
        arm = load_arm(name)
        recording = read_recording(folder / path, arm)
        found = recorded_gains(arm, [recording])
        print(f'\n{name}, stated gains: ' + '; '.join(
            f'{joint} {ratio:.3f} ± {std:.3f} {verdict}' for joint, ratio, std, verdict in zip(
                found.joint_names, found.ratio, found.ratio_std, found.verdicts, strict=True)))
        first = split(recording, HOLDOUT)[0]
        published = recorded_gains(arm, [first])
        ratio = np.where(published.determined, published.ratio, 1.0)
        wrong = factors_of(0, arm.n)
        spoiled = replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * wrong))
        mended = recorded_gains(spoiled, [first]).gain / arm.drive.gain
        print('held-out error, %, in the published units: ' + ', '.join(
            f'{held_out(arm, recording, factors):.2f} with {what}' for what, factors in (
                ('the published gains', np.ones(arm.n)),
                (f'all determined ones, {np.round(ratio, 3).tolist()}', ratio),
                (f'wrong ones, {np.round(wrong, 2).tolist()}', wrong),
                (f'those that dynid gains makes of these, {np.round(mended, 3).tolist()}',
                 mended))), flush=True)


def held_out(arm: ArmModel, recording: Recording, factors: np.ndarray) -> float:
    """Relative error with gains times factors, torque divided by these again, %."""
    other = replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * factors))
    metrics = identify(other, [recording], holdout=HOLDOUT).validation
    assert metrics is not None
    rmse = np.array([joint.rmse for joint in metrics.joints]) / factors
    torque = rmse / np.array([joint.relative_error_percent for joint in metrics.joints])
    return float(np.sqrt((rmse**2).sum() / (torque**2).sum()))


def main() -> None:
    """Print Markdown tables."""
    print('| recorded | seconds | determined | not determined at times: joint | error, rms '
          '| largest | within 1 % of those with std up to 0.5 % | 95 % intervals that hold '
          '| of all |')
    print('|---|---|---|---|---|---|---|---|---|')
    arms = {name: Known.simulated(name) for name in ARMS}
    for name, known in arms.items():
        row(known, f'{name}, ratios', known.free.log.t[-1], loaded=False)
        row(known, f'{name}, 2.8 kg', known.free.log.t[-1], loaded=True)
    print('\n| recorded | ratios from wrong stated gains differ by | in standard deviations |')
    print('|---|---|---|')
    for name, known in arms.items():
        side_by_side(known, name)
    if len(sys.argv) > 1:
        real_arms(Path(sys.argv[1]))


if __name__ == '__main__':
    main()
