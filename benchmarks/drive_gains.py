"""
Drive gains from recordings: simulated arms of which they are known, and arms with published ones.

    python benchmarks/drive_gains.py [FOLDER]

Each simulated arm follows random motions with its friction for a minute each, recorded several
times: white noise of 10 % of each joint's torque at 250 Hz, coloured noise of 1 % (correlation
0.98 from sample to sample), and stated gains that are off by factors of 0.5 to 2. The first table
counts gains that `dynid gains` calls determined, rough, and refuted with less certainty (ratios;
with a load of 2.8 kg, the gains themselves), their errors, and how often the 95 % intervals of all
these hold the truth; "open" are the joints that are not determined. The second one lists
runs from right and from wrong stated gains side by side, the third gains from rests with and
without 5 kg, in which friction holds a random share of the torque, and the fourth what
`dynid identify` finds where all stated gains are off by 0.65 to 1.4, or none is. FOLDER holds
recordings of real arms (ur10/ur10_exciting_trajectory.db3 and others, see accuracy.py): published
gains against the data, and held-out errors with gains of the first two thirds, from the published
gains and from wrong ones.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
import sys
from time import process_time

from coloured_noise import coloured_noise
import numpy as np

from dynid_ros.arm import load_arm
from dynid_ros.arm.drive import joint_position
from dynid_ros.arm.model import ArmModel
from dynid_ros.arm.parameters import inertial_from_com
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.recording import Recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.load_columns import load_columns
from dynid_ros.dynamics.regressor import regressor
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.calibration.gain_verdict import DriveGains, REFUTING_STD, ROUGH_STD
from dynid_ros.estimation.identification.gain_recordings import recorded_gains
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.identification.train_test_split import split
from dynid_ros.estimation.suspects.best_size import INTERVAL
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.simulation.record import simulate, Simulation
from dynid_ros.simulation.sensors import drive_signal, SensorModel

ARMS = ('ur10', 'panda', 'tx40')
RECORDINGS = {'ur10': 'ur10/ur10_exciting_trajectory.db3',
              'panda': 'panda/panda_exciting_trajectory.db3', 'tx40': 'tx40/pos_read_data.csv'}
RATE, PERIODS, MOTIONS, REPETITIONS, SIDE_BY_SIDE = 250.0, 6, 4, 10, 3
WHITE, COLOURED, CORRELATION = 0.1, 0.01, 0.98
MASS = 2.8
LOAD = inertial_from_com(MASS, [0.02, 0.01, 0.08], np.diag([0.01, 0.01, 0.006]))
HOLDOUT = 1 / 3
RESTING, POSES, TRIALS = inertial_from_com(5.0, [0.02, 0.01, 0.08], 0.02 * np.eye(3)), 8, 20


@dataclass(frozen=True, eq=False)
class Known:
    """A simulated arm and its recordings."""

    arm: ArmModel
    free: Simulation
    loaded: Simulation

    @staticmethod
    def simulated(name: str, seed: int) -> Known:
        """Simulate an arm with and without the load."""
        arm = load_arm(name)
        motion = random_motion(arm, 3 + seed, periods=PERIODS, tries=50)
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


def row(motions: list[Known], what: str, *, loaded: bool) -> None:
    """Print one row of the first table."""
    found = []
    for number, known in enumerate(motions):
        for seed in range(number * REPETITIONS, (number + 1) * REPETITIONS):
            factors = factors_of(seed, known.arm.n)
            weighed = {'loaded': [known.recorded(known.loaded, seed + 1000)], 'mass': MASS}
            gains = recorded_gains(known.stated(factors), [known.recorded(known.free, seed)],
                                   **(weighed if loaded else {}))
            error, std = errors(gains, factors)
            seen = np.isfinite(error)
            found.append((error, INTERVAL * std, seen & gains.determined, seen & gains.known,
                          seen))
    error, half, fine, known_ones, seen = (np.array(each) for each in zip(*found, strict=True))
    rough = seen & ~fine & (half <= INTERVAL * ROUGH_STD)
    vague = known_ones & ~fine & ~rough
    holds = np.abs(error) < half
    open_ones = [str(j + 1) for j in np.flatnonzero((seen & ~known_ones).any(0))]
    print(f'| {what} | {fine.sum()} | {share_within(error[fine])} | {largest(error[fine])} '
          f'| {rough.sum()} | {rms(error[rough])} | {largest(error[rough])} '
          f'| {vague.sum()} | {rms(error[vague])} '
          f'| {100 * holds[known_ones].mean():.0f} % of {known_ones.sum()} '
          f'| {(seen & ~known_ones).sum()}: {", ".join(open_ones) or "none"} |', flush=True)


def rms(error: np.ndarray) -> str:
    """Root mean square of errors, %."""
    return f'{100 * np.sqrt((error**2).mean()):.1f} %' if len(error) else '-'


def largest(error: np.ndarray) -> str:
    """Format the largest of errors, %."""
    return f'{100 * np.abs(error).max():.1f} %' if len(error) else '-'


def share_within(error: np.ndarray) -> str:
    """Format how many of all errors are below 1 %."""
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
        clear = (right.std <= ROUGH_STD) & (right.std > 0)
        most = max(most, float(change[clear].max(initial=0)))
        by_std = max(by_std, float((change[clear] / right.std[clear]).max(initial=0)))
    print(f'| {name} | {100 * most:.3f} % | {by_std:.3f} |', flush=True)


def at_rest(arm: ArmModel, load: np.ndarray, seed: int) -> Recording:
    """Record rests of 1.5 s at poses, each approached from both sides."""
    rng = np.random.default_rng(seed)
    lower, upper = (np.clip(0.9 * x, -2.5, 2.5) for x in (arm.limits.lower, arm.limits.upper))
    points = []
    for pose in rng.uniform(lower, upper, (POSES, arm.n)):
        way = 0.1 * np.where(rng.random(arm.n) < 0.5, -1, 1)
        points += [pose - way, pose, pose + way, pose]
    points = np.array([points[0] + 0.2, *points])
    t = np.arange(round((len(points) - 1) * 3.0 * 100)) / 100
    number = (t / 3.0).astype(int)
    s = np.clip((t - 3.0 * number) / 1.5, 0, 1)[:, None]
    step = points[number + 1] - points[number]
    q = points[number] + step * (10 * s**3 - 15 * s**4 + 6 * s**5)
    qd = step / 1.5 * (30 * s**2 - 60 * s**3 + 30 * s**4)
    base = base_parameters(arm)
    theta = base.grouping @ nominal_parameters(arm) + load_columns(arm) @ load
    tau = regressor(arm, q, qd, 0 * q)[:, :, base.columns] @ theta
    coulomb = theta[[base.names.index(f'Fc{j + 1}') for j in range(arm.n)]]
    share = rng.uniform(-0.2, 0.8, (len(points), arm.n))[number]
    tau += (s >= 1) * np.sign(step) * coulomb * share
    tau += 0.02 * tau.std(axis=0) * rng.normal(size=tau.shape)
    return Recording(t, q, tau, arm.joint_names, source='rests')


def rests(name: str) -> None:
    """Print one row of the table of rests."""
    arm, found = load_arm(name), []
    for seed in range(TRIALS):
        factors = factors_of(seed, arm.n)
        wrong = replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * factors))
        gains = recorded_gains(wrong, [at_rest(arm, 0 * RESTING, 2 * seed)],
                               loaded=[at_rest(arm, RESTING, 2 * seed + 1)], mass=RESTING[0])
        error, std = errors(gains, factors)
        found.append((error, INTERVAL * std, std < REFUTING_STD))
    error, half, known = (np.array(each) for each in zip(*found, strict=True))
    by_joint = [f'{rms(error[known[:, j], j])}' for j in range(arm.n)]
    print(f'| {name} | {", ".join(by_joint)} | {100 * (np.abs(error) < half)[known].mean():.0f} % '
          f'of {known.sum()} |', flush=True)


def findings(motions: list[Known], name: str) -> None:
    """Print one row of the table of findings."""
    for wrong in (True, False):
        codes: Counter[str] = Counter()
        seconds, worst, trials = 0.0, 0.0, 0
        for number, known in enumerate(motions):
            for seed in range(5 * number, 5 * number + 5):
                rng = np.random.default_rng(seed)
                factors = np.exp(rng.uniform(np.log(0.65), np.log(1.4), known.arm.n))
                arm = known.stated(factors if wrong else np.ones(known.arm.n))
                recording, start = known.recorded(known.free, seed), process_time()
                model = identify(arm, [recording], holdout=HOLDOUT)
                seconds += process_time() - start
                assert model.validation is not None
                codes[model.verdict.findings[0].code if model.verdict.findings else 'none'] += 1
                if not model.verdict.findings:
                    worst = max(worst, model.validation.relative_error_percent)
                trials += 1
        what = 'all gains off by 0.65 to 1.4' if wrong else 'right gains'
        listed = ', '.join(f'{code} {count}' for code, count in codes.most_common())
        print(f'| {name}, {what} | {trials} | {listed} | {worst:.1f} % '
              f'| {seconds / trials:.2f} s |', flush=True)


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
        ratio = np.where(published.known, published.ratio, 1.0)
        wrong = factors_of(0, arm.n)
        spoiled = replace(arm, drive=replace(arm.drive, gain=arm.drive.gain * wrong))
        mended = recorded_gains(spoiled, [first]).gain / arm.drive.gain
        print('held-out error, %, in the published units: ' + ', '.join(
            f'{held_out(arm, recording, factors):.2f} with {what}' for what, factors in (
                ('the published gains', np.ones(arm.n)),
                (f'all that are known, {np.round(ratio, 3).tolist()}', ratio),
                (f'wrong ones, {np.round(wrong, 2).tolist()}', wrong),
                (f'corrected by dynid gains, {np.round(mended, 3).tolist()}',
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
    print('| recorded | determined | within 1 % | largest error | rough | error, rms | largest '
          '| refuted, vaguer | error, rms | 95 % intervals that hold | open: joints |')
    print('|---|---|---|---|---|---|---|---|---|---|---|')
    arms = {name: [Known.simulated(name, seed) for seed in range(MOTIONS)] for name in ARMS}
    for name, motions in arms.items():
        row(motions, f'{name}, ratios', loaded=False)
        row(motions, f'{name}, free and with 2.8 kg', loaded=True)
    print('\n| recorded | ratios from wrong stated gains differ by | in standard deviations |')
    print('|---|---|---|')
    for name, motions in arms.items():
        side_by_side(motions[0], name)
    print(f'\n| rests, {TRIALS} trials | error of each joint, rms, where it is known to 25 % '
          '| 95 % intervals that hold |')
    print('|---|---|---|')
    for name in ('ur10', 'panda'):
        rests(name)
    print('\n| identified | trials | first finding | largest held-out error without one '
          '| processor time |')
    print('|---|---|---|---|---|')
    for name, motions in arms.items():
        findings(motions, name)
    if len(sys.argv) > 1:
        real_arms(Path(sys.argv[1]))


if __name__ == '__main__':
    main()
