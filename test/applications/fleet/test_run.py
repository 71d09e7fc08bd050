# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A small fleet from folder to findings."""

from dataclasses import replace
import os
from pathlib import Path

from fleets import Bag, DAY, small_arm, START, truth, with_payload
import numpy as np
import pytest

from dynid_ros.applications.fleet.bags import find_bags
from dynid_ros.applications.fleet.causes import explain
from dynid_ros.applications.fleet.run import run_fleet
from dynid_ros.applications.fleet.settings import FleetSettings
from dynid_ros.arm.load import load_arm
from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.data.recordings.quality import clean
from dynid_ros.errors import InputError, ResultError
from dynid_ros.estimation.band.choice import choose_conditioning
from dynid_ros.estimation.result_files.result_file import read_result, write_result

pytestmark = pytest.mark.slow
ARMS, BAGS = 6, 16
PAYLOAD_DAY = 9


def make(arm, folder):
    """Six arms, one with a payload, one with growing friction, one with another tool."""
    for number in range(ARMS):
        name = f'arm{number}'
        for day in range(BAGS):
            change = {}
            if number == 1 and day >= PAYLOAD_DAY:
                change = with_payload(0.8)
            if number == 2:
                change = {'Fv2': 0.05 * day, 'Fc2': 0.05 * day}
            if number == 3:
                change = with_payload(0.5, 0.3)
            bag = Bag(100 * number + day, standard=change, own=0.02)
            if (number, day) in {(1, 12), (4, 5)}:
                bag.signs = (1.0, -1.0, 1.0)
            if (number, day) == (5, 7):
                bag.standard = with_payload(1.5)
            bag.write(arm, folder / name / f'bag{day:02d}.npz', day)
    (folder / 'arm0' / 'empty.npz').write_bytes(b'')
    still = Bag(9).record(arm)
    np.savez(folder / 'arm0' / 'still.npz', t=still.t, q=0 * still.q, tau=still.u)
    np.savez(folder / 'arm0' / 'short.npz', t=still.t[:20], q=still.q[:20], tau=still.u[:20])


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp('fleet')
    arm, path = small_arm(folder)
    make(arm, folder / 'bags')
    return arm, path, folder / 'bags'


@pytest.fixture(scope='module')
def result(made, tmp_path_factory):
    arm, _, bags = made
    out = tmp_path_factory.mktemp('out')
    return out, run_fleet(arm, [str(bags)], out, by='{arm}/*')


def test_every_bag_is_read_once_and_every_arm_has_a_model(made, result):
    arm, found = made[0], result[1]
    assert found.read == len(found.bags) == ARMS * BAGS + 3
    assert list(found.arms) == [f'arm{k}' for k in range(ARMS)]
    model = found.arms['arm0'].model
    far = np.abs(model.theta - truth(arm)) / model.std
    assert np.median(far) < 2
    assert model.verdict.trustworthy, model.verdict.reasons


def test_the_payload_is_named_with_its_date_and_its_mass(result):
    [text] = result[1].arms['arm1'].sentences
    assert f'changes on {np.datetime64(int(START + PAYLOAD_DAY * DAY), "s")}'[:21] in text
    assert float(text.split(': ')[1].split(' kg')[0]) == pytest.approx(0.8, abs=0.25)


def test_the_other_tool_is_named_and_no_other_arm(result):
    named = {name for name, report in result[1].arms.items() if report.sentences}
    assert named == {'arm1', 'arm3'}
    assert 'another load or tool' in result[1].arms['arm3'].sentences[0]


def test_gains_after_a_change_of_load_are_relative_to_the_model_with_the_load(result):
    gains = [each.values for each in result[1].series
             if each.arm == 'arm1' and each.name.startswith('gain')]
    assert len(gains) == 3
    np.testing.assert_allclose(np.median(gains, axis=1), 1.0, atol=0.05)


def test_growing_friction_is_named_and_no_other_drift(result):
    found = {(each.arm, each.name) for each in result[1].series if each.drifts}
    assert found <= {('arm2', 'Fv2'), ('arm2', 'Fc2')}
    assert found


def test_bags_that_do_not_belong_are_named_with_their_cause(result):
    odd = {(each.arm, Path(each.bag.name).name): each for each in result[1].odd}
    reversed_bags = {('arm1', 'bag12.npz'), ('arm4', 'bag05.npz')}
    assert set(odd) == {*reversed_bags, ('arm5', 'bag07.npz')}
    assert {odd[each].findings[0].code for each in reversed_bags} == {'effort_sign'}
    assert result[1].arms['arm1'].used == BAGS - PAYLOAD_DAY - 1
    assert odd['arm5', 'bag07.npz'].difference.startswith('load')


def on_one_day(arm, folder, seed, loaded=(), bags=14):
    """Record mixed motions of one day, some with a load, while the friction falls."""
    rng = np.random.default_rng(seed)
    for k in range(bags):
        warm = 0.3 * np.exp(-k / 4)
        change = {'Fv1': warm, 'Fv2': warm, 'Fc2': warm}
        if k in loaded:
            change |= with_payload(1.0)
        Bag(100 * seed + k, seconds=rng.uniform(10, 40), standard=change, own=0.03, rough=0.3,
            lowest_hz=rng.choice([0.07, 0.12, 0.18])).write(arm, folder / f'run{k:02d}.npz')


@pytest.mark.parametrize('loaded', [(), (0, 1, 2), (3, 9, 12), (1, 4, 5, 8, 11)])
def test_loaded_bags_of_a_day_are_told_apart_and_the_others_give_a_model(made, tmp_path, loaded):
    arm, _, _ = made
    on_one_day(arm, tmp_path / 'bags', 3, loaded)
    found = run_fleet(arm, [str(tmp_path / 'bags')], tmp_path / 'out')
    odd = {int(Path(each.bag.name).stem[3:]): each for each in found.odd}
    assert set(odd) == set(loaded)
    for each in odd.values():
        assert not each.findings
        assert float(each.difference.split()[1]) == pytest.approx(1.0, abs=0.5)
    [report] = found.arms.values()
    assert report.used == 14 - len(loaded) and not report.sentences
    assert report.model.verdict.trustworthy


def test_a_copy_does_not_date_a_bag(made, tmp_path):
    arm, _, _ = made
    for k in range(12):
        path = Bag(k, own=0.02, standard=with_payload(1.0) if k >= 6 else {'Fv1': 0.2 * k}).write(
            arm, tmp_path / 'bags' / f'{k:02d}.npz')
        os.utime(path, (START + k * DAY,) * 2)
    found = run_fleet(arm, [str(tmp_path / 'bags')], tmp_path / 'out')
    assert all(bag.date is None for bag in found.bags)
    [report] = found.arms.values()
    assert not report.sentences and not found.series


def test_bad_bags_are_listed_with_the_reason(result):
    reasons = {Path(each.name).name: each for each in result[1].skipped}
    assert set(reasons) == {'empty.npz', 'still.npz', 'short.npz'}
    assert all(each.reason for each in reasons.values())


def test_a_second_run_reads_only_a_bag_that_is_new_or_was_replaced(made, tmp_path):
    arm, _, _ = made
    bags, out = tmp_path / 'bags', tmp_path / 'out'
    first = Bag(0, own=0.02).write(arm, bags / '0.npz')
    Bag(1, own=0.02).write(arm, bags / '1.npz')
    assert run_fleet(arm, [str(bags)], out).read == 2
    Bag(2, own=0.02).write(arm, bags / '2.npz')
    again = run_fleet(arm, [str(bags)], out)
    assert again.read == 1
    assert len(again.bags) == 3
    Bag(3, own=0.02, seconds=13.0).write(arm, first)
    again = run_fleet(arm, [str(bags)], out)
    assert again.read == 1
    assert len(again.bags) == 3


def test_other_settings_have_sidecars_of_their_own(made, tmp_path):
    arm, _, bags = made
    folder = [str(bags / 'arm0')]
    first = run_fleet(arm, folder, tmp_path)
    other = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=3.0))
    assert run_fleet(other, folder, tmp_path).read == BAGS + 3
    again = run_fleet(arm, folder, tmp_path)
    assert again.read == 0
    assert again.settings.conditioning.cutoff_hz == 4.0
    np.testing.assert_array_equal(
        again.arms['elbow'].model.theta, first.arms['elbow'].model.theta)
    # Friction terms of the model are no part of a sidecar.
    assert run_fleet(other.with_friction(('viscous', 'coulomb_smooth', 'offset')), folder,
                     tmp_path).read == 0
    # How bags are read is.
    assert run_fleet(arm, folder, tmp_path, received=True).read == BAGS + 3


@pytest.mark.parametrize('content', ['', '{}', '{"cutoff_hz": "high"}'])
def test_a_damaged_conditioning_is_refused(made, tmp_path, content):
    arm, folder = made[0], [str(Bag(0).write(made[0], tmp_path / 'bag.npz'))]
    run_fleet(arm, folder, tmp_path / 'out')
    [path] = (tmp_path / 'out').glob('conditioning-*.json')
    path.write_text(content)
    with pytest.raises(ResultError, match='remove it'):
        run_fleet(arm, folder, tmp_path / 'out')


@pytest.mark.parametrize('given', [str, Path.as_uri])
def test_the_recorder_says_whose_and_of_when_a_single_bag_is(made, tmp_path, given):
    bag = Bag(1).write(made[0], tmp_path / 'bag.npz')
    (tmp_path / 'recording.yaml').write_text(
        'serial: SN7\nstarted: "2026-01-02T00:00:00+00:00"\n')
    found = run_fleet(made[0], [given(bag)], tmp_path / 'out')
    assert list(found.arms) == ['SN7']
    assert np.datetime64(int(found.bags[0].date), 's') == np.datetime64('2026-01-02')


def test_bags_in_hidden_folders_are_left_out(tmp_path):
    for place in ('run', '.trash/run'):
        (tmp_path / place).mkdir(parents=True)
        for name in ('metadata.yaml', 'run_0.mcap'):
            (tmp_path / place / name).touch()
    assert [bag.place for bag in find_bags([str(tmp_path)], tmp_path / 'out')] == ['run']


@pytest.mark.parametrize('given', ['nowhere', 'unknown://bags'])
def test_a_folder_that_is_not_there_is_an_error(made, tmp_path, given):
    with pytest.raises(InputError, match=r'nowhere|unknown'):
        run_fleet(made[0], [given], tmp_path)


def test_one_bag_has_no_error_bars_that_its_scatter_would_make_zero(made, tmp_path):
    arm, _, _ = made
    path = Bag(5).write(arm, tmp_path / 'bag.npz', 0)
    [report] = run_fleet(arm, [str(path)], tmp_path / 'out').arms.values()
    # The weights of joints settle to 1e-6.
    assert (report.model.std >= (1 - 1e-6) * report.model.std_white).all()
    assert [each.code for each in report.model.verdict.findings] == ['few_bags']


def test_a_fleet_whose_bags_leave_a_joint_at_rest_names_what_its_model_has_from_the_prior(
    made, tmp_path,
):
    arm, _, _ = made
    for day in range(6):
        Bag(day, still=(2,), own=0.02).write(arm, tmp_path / f'{day}.npz', day)
    [report] = run_fleet(arm, [str(tmp_path)], tmp_path / 'out').arms.values()
    write_result(report.model, tmp_path / 'model')
    model = read_result(tmp_path / 'model')
    assert np.isfinite(model.std).all() and (model.std > 0).all()
    open_ones = {name for name, own in zip(model.parameters, model.from_data, strict=True)
                 if not own}
    assert {'Fv3', 'Fc3', 'Fo3'} <= open_ones
    assert not {'Fv1', 'Fc1', 'Fv2', 'Fc2'} & open_ones
    [finding] = model.verdict.findings
    assert finding.code == 'not_excited' and 'Fv3' in finding.text


def test_a_late_effort_is_found_below_the_cutoff_of_the_motion(shared_data, tmp_path):
    arm = load_arm('panda')
    log = read_recording(shared_data / 'panda' / 'panda_exciting_trajectory.db3', arm)
    # Its driver repeats samples; a delayed signal would not repeat, and they would stay.
    log = clean(log, arm)
    late = log.u.copy()
    late[:, 1] = np.interp(log.t - 0.06, log.t, log.u[:, 1])
    np.savez(tmp_path / 'late.npz', t=log.t, q=log.q, tau=late)
    # Friction above 1.6 Hz, which the rows reach, hides it.
    settings = FleetSettings(arm, choose_conditioning(arm.memoryless, [log]), tmp_path / 'out')
    assert settings.conditioning.cutoff_hz == 5.0
    [bag] = find_bags([str(tmp_path)], tmp_path / 'out')
    found = explain(settings, bag, 16)
    assert [finding.code for finding in found] == ['effort_delay']
    # Among so many bags, one of them would show as much by chance.
    assert not explain(settings, bag, 10**300)
