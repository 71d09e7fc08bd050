# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""
Plant errors into the rules by which estimates are chosen, and see that tests of their room fail.

    python benchmarks/mutants.py [NAME ...]

Each mutant changes one rule in one file of a copy of the package, and pytest runs the tests that
are listed for it on the copy; the tree that this file belongs to is only read. The table says
which test failed first. Before, the same tests run on the copy without any mutant: a test that
fails anyway kills nothing. Exits with 1 if a mutant survives, if its text is not found exactly
once, or if its tests do not run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import cache_from_source
import os
from pathlib import Path
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = Path(__file__).resolve().parents[1]
#: What the tests read: the package, the arms, themselves, benchmarks, and the settings of pytest.
COPIED = ('dynid_ros', 'config', 'test', 'benchmarks', 'pyproject.toml')
ESTIMATION = Path('dynid_ros', 'estimation')
#: Time after which a mutant counts as one that never ends, s.
PATIENCE = 300.0
#: A plugin of pytest, since an installed package must not take the place of the copy.
GUARD, GUARDED = 'only_the_copy', """
from pathlib import Path
import pytest
import dynid_ros

def pytest_configure():
    if not Path(dynid_ros.__file__).is_relative_to(Path(__file__).parent):
        pytest.exit(f'{dynid_ros.__file__} is not the copy', returncode=3)
"""
FAILED = re.compile(r'^FAILED \S+?::(.+?)(?: - .*)?$', re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """
    One rule that no longer holds.

    Attributes
    ----------
    name : str
        What is wrong, as an argument of this script.
    file : str
        Source, relative to `ESTIMATION`.
    old, new : str
        What is there exactly once, and what takes its place.
    tests : tuple of str
        Files or tests that are to fail, relative to ``test/estimation``. Of a file, slow tests are
        left out, unless all of them are slow.

    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


COVARIANCE = ('estimate/test_covariance.py',)
FOLDS = ('estimate/test_folds.py',)
FRICTION = tuple(f'estimate/test_friction_strengths.py::test_{name}' for name in (
    'groups_shorter_than_the_low_pass_are_no_evidence',
    'a_kind_that_explains_nothing_stays_absent_beside_one_that_does',
    'plain_friction_is_left_to_itself_in_most_recordings'))
FREE_OR_POSSIBLE = ('estimate/test_free_or_possible.py',)
POSSIBLE = tuple(f'estimate/test_possible_parameters.py::test_{name}' for name in (
    'single_terms_of_a_friction_curve_have_either_sign',
    'minimum_is_that_of_clarabel',
    'search_for_what_is_a_thousand_times_its_prior_ends_at_the_minimum',
    'only_what_the_motion_excites_counts_as_the_data_s',
    'a_boundary_does_not_narrow_an_error_bar',
    'a_link_much_heavier_than_stated_keeps_its_shape_not_its_size',
    'a_mass_that_no_joint_feels_is_not_from_data',
    'friction_that_nothing_shows_is_far_below_what_the_drive_can_give',
    'friction_that_no_motion_shows_is_little_of_the_drive_or_what_arm_yaml_states'))
CHOSEN = ('estimate/test_chosen_estimate.py',)
GROUPS = ('blocks/test_groups.py',)
TABLE = ('suspects/test_table.py',)
MOMENTS = ('suspects/test_moments_and_times.py',)
TIME_BLOCKS = ('online/test_time_blocks.py',)

MUTANTS = (
    Mutant('only_the_jackknife', 'estimate/covariance.py',
           'JACKKNIFE_SHARE = 0.5', 'JACKKNIFE_SHARE = 1.0', COVARIANCE),
    Mutant('only_the_mean_colour', 'estimate/covariance.py',
           'JACKKNIFE_SHARE = 0.5', 'JACKKNIFE_SHARE = 0.0', COVARIANCE),
    Mutant('normal_quantile', 'estimate/covariance.py',
           'wider = float(stdtrit(min(count - 1, freedom), 0.975)) / INTERVAL', 'wider = 1.0',
           COVARIANCE),
    Mutant('no_leverage', 'estimate/covariance.py',
           'np.maximum(eigenvalues, INFORMATION_ROUNDING)', '1.0', COVARIANCE),
    Mutant('colour_below_one', 'estimate/covariance.py',
           'max(1.0, inflation)', 'inflation', COVARIANCE),
    Mutant('colour_of_the_prior', 'estimate/covariance.py',
           'FROM_ROWS = 0.5', 'FROM_ROWS = 0.0', COVARIANCE),
    Mutant('one_prior_of_all_folds', 'estimate/folds.py',
           'for torque in self.rms_torque]',
           'for torque in 0 * self.rms_torque + self.rms_torque.mean(axis=0)]', FOLDS),
    Mutant('folds_weighted_once', 'estimate/folds.py',
           'for _ in range(MOST_REWEIGHTINGS):', 'for _ in range(1):', FOLDS),
    Mutant('friction_by_chance', 'estimate/friction_strengths.py',
           'better = mean + STANDARD_ERRORS * standard_error < 0', 'better = mean < 0',
           FRICTION),
    Mutant('friction_as_free_as_can_be', 'estimate/friction_strengths.py',
           'min(found, key=lambda each: log_error_ratio(each[0], baseline)[0])',
           'found[-1]', FRICTION),
    Mutant('groups_within_the_low_pass', 'estimate/friction_strengths.py',
           'return parts if shortest > settings.decimator().reach else []', 'return parts',
           FRICTION),
    Mutant('some_percent_worse_are_no_objection', 'estimate/folds.py',
           'if mean > STANDARD_ERRORS * standard_error else 1.0',
           'if mean > max(0.1, STANDARD_ERRORS * standard_error) else 1.0', FREE_OR_POSSIBLE),
    Mutant('chance_is_an_objection', 'estimate/folds.py',
           'if mean > STANDARD_ERRORS * standard_error else 1.0',
           'if mean > 0 else 1.0', FREE_OR_POSSIBLE),
    Mutant('links_of_the_stated_size', 'estimate/physical_cone.py',
           'return self if settled else replace(self, sizes=sizes)', 'return self', POSSIBLE),
    Mutant('error_bars_of_the_prior', 'estimate/possible_parameters.py',
           'prior - gain @ G @ prior + gain @ self.base_covariance @ gain.T', 'prior',
           POSSIBLE),
    Mutant('all_from_data', 'estimate/possible_parameters.py',
           'FROM_DATA = 0.5', 'FROM_DATA = 0.0', POSSIBLE),
    Mutant('strong_barrier', 'estimate/physical_cone.py',
           'SCALAR = UNSEEN**2 / 4', 'SCALAR = 25 * UNSEEN**2', POSSIBLE),
    Mutant('scalars_weigh_as_bodies', 'estimate/barrier_newton.py',
           'self.s @ self.z) / self.cone.size',
           'self.s @ self.z / SCALAR) / (self.d.size + len(self.s))', POSSIBLE),
    Mutant('pull_that_cools', 'estimate/barrier_newton.py',
           'weight * T.T @ sized.pull', 'near.weight * T.T @ sized.pull', POSSIBLE),
    Mutant('steps_that_are_not_bent', 'estimate/barrier_newton.py',
           'step = near.step(aim, slope, predicted)', 'step = near.step(aim, slope)', POSSIBLE),
    Mutant('rotors_below_zero', 'estimate/physical_cone.py',
           '[*layout.rotors, *_plain_columns(arm)]', '_plain_columns(arm)', POSSIBLE),
    Mutant('always_possible', 'estimate/chosen_estimate.py',
           'return replace(free, excess=error_ratio)',
           'return replace(free, theta=possible.theta)', FREE_OR_POSSIBLE),
    Mutant('model_errors_do_not_count', 'estimate/chosen_estimate.py',
           'return max(1.0, float(off @ inverse(covariance) @ off) / (len(off) / 2))',
           'return 1.0', CHOSEN),
    Mutant('shrunk_terms_not_relaxed', 'estimate/chosen_estimate.py',
           'np.where(shrunk, np.sqrt(self.colour), 1.0)', '1.0', CHOSEN),
    Mutant('motion_judged_with_the_prior', 'estimate/chosen_estimate.py',
           'NEGLIGIBLE_PRIOR = 1e-6', 'NEGLIGIBLE_PRIOR = 1.0', CHOSEN),
    Mutant('phases_apart', 'blocks/groups.py',
           'if shift is not None:', 'if False:', GROUPS),
    Mutant('two_groups', 'blocks/groups.py', 'GROUPS = 10', 'GROUPS = 2', GROUPS),
    Mutant('recordings_share_groups', 'blocks/groups.py',
           'recording * parts + number', 'number', GROUPS),
    Mutant('ends_without_rows_count', 'blocks/groups.py',
           '& _inner(len(motion.t), reach)', '', GROUPS),
    Mutant('driving_friction_is_fine', 'diagnosis/dissipation.py',
           'SIGNIFICANT_DEVIATIONS = 4.0', 'SIGNIFICANT_DEVIATIONS = 40.0',
           ('diagnosis/test_dissipation.py',)),
    Mutant('small_negative_rotors_condemn', 'diagnosis/dissipation.py',
           'and np.hypot(torque, residual) > largest', '', ('diagnosis/test_dissipation.py',)),
    Mutant('dead_signals_are_exchanged', 'suspects/reported_lines.py',
           'and not _leaves_dead(line, lines)', '', TABLE),
    Mutant('contacts_that_bend_condemn', 'verdict/judge.py',
           'if each.is_error and place.any():', 'if False:', ('verdict/test_judge.py',)),
    Mutant('contacts_explain_any_drive', 'verdict/judge.py',
           'if not worse:', 'if True:', ('verdict/test_judge.py',)),
    Mutant('likeliest_direction_without_limits', 'suspects/table.py',
           "turned = each.fault.code.startswith('gravity')", 'turned = False',
           ('suspects/test_gravity.py',)),
    Mutant('tilts_from_no_gravity', 'suspects/table.py',
           'as_it_is if each.size.typical else UnitRows(likelihood, each)', 'as_it_is',
           ('suspects/test_gravity.py',)),
    Mutant('each_signal_lacks_friction_alone', 'suspects/signal_suspects.py',
           '*([driven] if len(driven) > 1 else [])', '*[]',
           ('suspects/test_planted_faults.py::'
            'test_signals_without_the_compensation_of_friction_are_named_together',)),
    Mutant('compensation_against_the_motion', 'suspects/suspect_rows.py',
           'W[:, :, -len(self.compensated):] *= -1.0', 'pass',
           ('suspects/test_planted_faults.py::'
            'test_signals_without_the_compensation_of_friction_are_named_together',)),
    Mutant('masses_of_nothing', 'diagnosis/copied_signals.py',
           'stated = inertial[:, 0] > 0', 'stated = inertial[:, 0] >= 0',
           ('diagnosis/test_signal_unit.py',)),
    Mutant('one_part_decides', 'suspects/cross_validation.py',
           'float(gains.sum() - gains.max())', 'float(gains.sum())', TABLE),
    Mutant('faults_that_hardly_matter', 'suspects/reported_lines.py',
           'MATTERS = float(np.sqrt(2.0))', 'MATTERS = 1.0', TABLE),
    Mutant('small_faults_count', 'suspects/reported_lines.py',
           'NORMAL_SIZE = 0.5', 'NORMAL_SIZE = 0.0', TABLE),
    Mutant('quiet_joints_count', 'suspects/reported_lines.py',
           'return not line.suspect.joints or bool(np.isin(line.suspect.joints, loud).any())',
           'return True', ('verdict/test_cause.py',)),
    Mutant('the_best_has_to_matter', 'suspects/reported_lines.py',
           'any(\n        _matters(line, line.null or reference) for line in winners)',
           'winners and _matters(winners[0], winners[0].null or reference)', TABLE),
    Mutant('one_part_shows_that_it_matters', 'suspects/reported_lines.py',
           'each.sum(axis=0) - np.take_along_axis(each, most, axis=0)[0]',
           'each.sum(axis=0)', TABLE),
    Mutant('one_fault_at_most', 'suspects/table.py', 'MOST_FAULTS = 3', 'MOST_FAULTS = 1', TABLE),
    Mutant('sizes_as_tried', 'suspects/best_size.py',
           'FAULT_SIZE_STEPS, SIZE_SETTLED = 8,', 'FAULT_SIZE_STEPS, SIZE_SETTLED = 0,', TABLE),
    Mutant('all_gains_hide_one', 'suspects/reported_lines.py',
           'if line.suspect.fault.code != GAINS:\n        return True', 'return True', TABLE),
    Mutant('density_by_the_mean_count', 'suspects/likelihood.py',
           'counts @ np.log(lengths)', 'counts.mean() * np.log(lengths).sum()', TABLE),
    Mutant('white_error_bars', 'suspects/best_size.py',
           'jackknife = (len(parts) - 1) / len(parts) * changes.T @ changes',
           'jackknife = half @ half.T', ('suspects/test_fitted_rows.py',)),
    Mutant('columns_before_the_low_pass', 'suspects/suspect_rows.py',
           'W += self.low_passed', 'pass',
           ('suspects/test_fitted_rows.py',)),
    Mutant('reversals_count', 'identification/gain_recordings.py',
           'MOTOR_REVERSAL_PERIODS = 0.5', 'MOTOR_REVERSAL_PERIODS = 0.05',
           ('calibration/test_drive_gains.py',)),
    Mutant('gains_that_pass_for_right', 'calibration/gain_verdict.py',
           'SIGNIFICANT_DEVIATIONS * std', '400 * std',
           ('calibration/test_drive_gains.py',)),
    Mutant('score_of_any_parameters', 'suspects/likelihood.py',
           'values = near.constrained_fit(prior, near.information, near.score)',
           'values = near.values', TABLE),
    Mutant('loads_that_lift', 'suspects/likelihood.py',
           'return np.asarray((added[:, :1] < 0).any(axis=1))',
           'return np.zeros(len(added), dtype=bool)', TABLE),
    Mutant('exchanges_of_joints_at_rest', 'suspects/suspect.py',
           'if 2 * np.count_nonzero(moving.all(axis=1)) >= np.count_nonzero(moving.any(axis=1)):',
           'if True:', TABLE),
    Mutant('friction_that_never_bends', 'suspects/table.py',
           'if suspect.fault.code != LATE_SIGNAL:', 'if True:',
           ('suspects/test_planted_faults.py',)),
    Mutant('late_signals_without_bends', 'suspects/signal_suspects.py',
           'yield with_presliding(late_signal, joint)', 'yield late_signal',
           ('suspects/test_planted_faults.py',)),
    Mutant('contacts_that_follow_no_suspect', 'suspects/motion_suspects.py',
           'qdd=qdd, bend=bend)', 'qdd=qdd)', ('suspects/test_suspect_rows.py',)),
    Mutant('any_second_fault_decides', 'suspects/reported_lines.py',
           'return best if all(', 'return best if True or all(', TABLE),
    Mutant('large_signals_of_quiet_joints', 'suspects/reported_lines.py',
           'for each in (reference, prediction)]\n    loud',
           'for each in (prediction,)]\n    loud', TABLE),
    Mutant('errors_of_other_torques', 'suspects/cross_validation.py',
           'reference.residual_squares.sum(axis=0) @ mixing**2',
           'reference.residual_squares.sum(axis=0)', TABLE),
    Mutant('causes_that_reduce_no_error', 'suspects/table.py',
           'line for line in winners if reduces_error(line, first.prediction)',
           'line for line in winners', TABLE),
    Mutant('errors_that_need_not_fall', 'suspects/reported_lines.py',
           'round(prediction.error_percent, ERROR_DECIMALS) <= round(before, ERROR_DECIMALS)',
           'True', TABLE),
    Mutant('loads_from_the_wrong_moment', 'suspects/load_moment.py',
           'cost[1:stop].argmax()', 'cost[1:stop].argmin()', MOMENTS),
    Mutant('loads_that_step', 'suspects/signal_suspects.py',
           'filtered_step(elapsed - start, period)', 'filtered_step(elapsed - start, 0 * period)',
           MOMENTS),
    Mutant('loads_of_all_recordings', 'suspects/signal_suspects.py',
           '*((-np.inf, each) for each in moments), *spans]',
           '*((-np.inf, each) for each in moments)]', MOMENTS),
    Mutant('filters_of_the_wrong_time', 'suspects/motion_suspects.py',
           'period=samples.period / factor', 'period=samples.period', MOMENTS),
    Mutant('little_motion_explains_any_residual', 'verdict/cause.py',
           '(weak and _fits(table))', 'weak', ('verdict/test_cause.py',)),
    Mutant('impossible_signals_are_dead', 'verdict/cause.py',
           '        if predictable:', '        if False:',
           ('verdict/test_cause.py',)),
    Mutant('noise_is_fitted', 'suspects/likelihood.py',
           'left = self.unconstrained_blocks(suspect).residual_squares.sum(axis=0)',
           'left = self.fit(suspect)[1][self.joints] * suspect.rows.counts[self.joints]',
           ('verdict/test_cause.py',)),
    Mutant('dead_signals_are_scales', 'suspects/reported_lines.py',
           'if line.suspect.fault.code == SILENT_SIGNAL]', 'if False]',
           ('verdict/test_cause.py',)),
    Mutant('one_dead_signal_at_most', 'verdict/cause.py',
           'return replace(table, winners=(line,)) if left_out else table', 'return table',
           ('verdict/test_cause.py',)),
    Mutant('causes_are_complete', 'verdict/cause.py',
           'if left > HELD_OUT_ERROR_PERCENT:', 'if False:', ('verdict/test_cause.py',)),
    Mutant('noise_of_a_wider_band_is_a_fault', 'verdict/cause.py',
           'if best.error_percent <= table.prediction.error_percent else table', '',
           ('verdict/test_cause.py',)),
    Mutant('motion_blamed_for_the_residual', 'verdict/judge.py',
           'blamed = expected > max(LARGEST_EXPECTED_PERCENT, fit_error)',
           'blamed = expected > LARGEST_EXPECTED_PERCENT', ('verdict/test_judge.py',)),
    Mutant('blocks_without_bound', 'online/time_blocks.py',
           'if len(self.rows) == MOST_BLOCKS:', 'if False:', TIME_BLOCKS),
    Mutant('merging_loses_a_half', 'online/time_blocks.py',
           '[self.factors[::2], self.factors[1::2]]', '[self.factors[::2]]', TIME_BLOCKS),
    Mutant('groups_out_of_order', 'online/time_blocks.py',
           'np.array_split(self.factors, count), np.array_split(self.rows, count),',
           '(self.factors[k::count] for k in range(count)),'
           '(self.rows[k::count] for k in range(count)),', TIME_BLOCKS),
)


def stale(mutant: Mutant) -> bool:
    """Whether the text of a mutant is no longer there exactly once."""
    return (ROOT / ESTIMATION / mutant.file).read_text().count(mutant.old) != 1


@contextmanager
def planted(mutant: Mutant, copy: Path) -> Iterator[None]:
    """Have a mutant in a copy of the package."""
    path = copy / ESTIMATION / mutant.file
    original = path.read_text()
    # Bytecode is told by size and second, which two versions may share.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)
    path.write_text(original.replace(mutant.old, mutant.new))
    try:
        yield
    finally:
        path.write_text(original)


def all_slow(test: str) -> bool:
    """Whether a whole file of tests is marked slow."""
    return 'pytestmark = pytest.mark.slow' in (ROOT / 'test' / 'estimation' / test).read_text()


def run(copy: Path, tests: Sequence[str], *options: str) -> tuple[int, str]:
    """Run tests on a copy; return status and output of pytest, status 1 if it never ends."""
    environment = os.environ | {'PYTHONPATH': str(copy), 'PYTHONDONTWRITEBYTECODE': '1'}
    command = [sys.executable, '-m', 'pytest', '-q', '-rf', '--tb=no', '--hypothesis-seed=0',
               '-p', 'no:cacheprovider', '-p', GUARD, *options]
    if not any('::' in test or all_slow(test) for test in tests):
        command += ['-m', 'not slow']
    try:
        done = subprocess.run(
            [*command, *(str(Path('test', 'estimation', test)) for test in tests)], cwd=copy,
            env=environment, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return 1, 'FAILED ::no end'
    return done.returncode, done.stdout + done.stderr


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('names', nargs='*', metavar='NAME', help='mutants; all by default')
    names = parser.parse_args().names
    unknown = set(names) - {mutant.name for mutant in MUTANTS}
    if unknown:
        parser.error(f'no mutant is called {", ".join(sorted(unknown))}')
    chosen = [mutant for mutant in MUTANTS if not names or mutant.name in names]
    old = [mutant for mutant in chosen if stale(mutant)]
    for mutant in old:
        print(f'{mutant.name}: not exactly once in {mutant.file}: {mutant.old}')
    if old:
        return 1
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve()
        for name in COPIED:
            # With its times, by which compiled kernels are found again.
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
        (copy / f'{GUARD}.py').write_text(GUARDED)
        return compare(chosen, copy)


def compare(mutants: Sequence[Mutant], copy: Path) -> int:
    """Print what becomes of each mutant; return the status of this script."""
    for named in (False, True):
        tests = sorted({test for mutant in mutants for test in mutant.tests
                        if ('::' in test) == named})
        status, printed = run(copy, tests) if tests else (0, '')
        if status:
            print(f'Without any mutant, pytest ends with {status}:\n{printed}')
            return 1
    print('| mutant | file | | first test that failed | s |\n|---|---|---|---|---|')
    bad = []
    for mutant in mutants:
        begin = time.perf_counter()
        with planted(mutant, copy):
            status, printed = run(copy, mutant.tests, '-x')
        found = FAILED.search(printed)
        if status == 0:
            fate = 'survived'
        elif status == 1 and found:
            fate = 'died'
        else:
            fate = f'pytest ended with {status}'
        if fate != 'died':
            bad.append(mutant.name)
        print(f'| {mutant.name} | {mutant.file} | {fate} | {found[1] if found else ""} | '
              f'{time.perf_counter() - begin:.0f} |', flush=True)
    print(f'\n{len(mutants) - len(bad)} of {len(mutants)} died'
          + (f'; not {", ".join(bad)}' if bad else ''))
    return int(bool(bad))


if __name__ == '__main__':
    sys.exit(main())
