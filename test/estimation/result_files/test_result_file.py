# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""A result comes back from its file as it went in, or is refused in one sentence."""

from dataclasses import fields, is_dataclass, replace
import os
import shutil

from hypothesis import given, HealthCheck, settings
from hypothesis import strategies as st
import numpy as np
from oracles import random_arm
import pytest
from results import CLOCKS, identification, LADDER, prediction
import yaml

from dynid_ros.arm.drive import Drive
from dynid_ros.arm.friction import FrictionShape
from dynid_ros.arm.model import Conditioning, CouplingColumn, Table
from dynid_ros.data.recordings.recording import Defect
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import ResultError
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.estimation.result_files.result_file import read_result, write_result

ARM = random_arm(np.random.default_rng(1), 2)
B = base_parameters(ARM).count
ANY_FLOAT = st.floats() | st.sampled_from([-0.0, 5e-324, 1e16, 1.7976931348623157e308, 0.1 + 0.2])
# No name of a file or a joint holds NUL, and a text that does is refused.
TEXT = st.text(st.characters(exclude_categories=['Cs'], exclude_characters='\0'))


def assert_same(one, other, where='result'):
    """Compare every field, arrays by bits, so that -0.0 and NaN count too."""
    assert type(one) is type(other), where
    if is_dataclass(one):
        for field in fields(one):
            name = field.name
            assert_same(getattr(one, name), getattr(other, name), f'{where}.{name}')
    elif isinstance(one, np.ndarray):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), where
        assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, tuple):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f'{where}[{i}]')
    elif isinstance(one, dict):
        # The order of friction trials and of stages is part of what people read.
        assert list(one) == list(other), where
        for key in one:
            assert_same(one[key], other[key], f'{where}.{key}')
    elif isinstance(one, float):
        assert np.float64(one).tobytes() == np.float64(other).tobytes() or one != one, where
    else:
        assert one == other, where


@settings(max_examples=25,
          suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    numbers=st.lists(st.floats(-1e99, 1e99), min_size=2 * B, max_size=2 * B),
    figure=ANY_FLOAT, words=TEXT, key=TEXT, validated=st.booleans(),
    bounds=st.lists(st.floats(allow_nan=False), min_size=2, max_size=2),
)
def test_any_result_comes_back_bit_by_bit(
        tmp_path, numbers, figure, words, key, validated, bounds):
    whole = identification(ARM)
    result = replace(
        whole,
        arm=replace(ARM.with_tree(joint_names=(words, key)), name=words,
                    limits=replace(ARM.limits, lower=np.array(bounds))),
        theta=np.array(numbers[:B]), std_white=np.array(numbers[B:]),
        friction_strength={'viscous': 1e-3 + abs(numbers[0])} if validated else {},
        condition_number=figure, sources=(words,),
        fit=replace(whole.fit, source=words, relative_error_percent=figure),
        validation=whole.validation if validated else None,
        verdict=Verdict(
            False, (Finding(key, words, words, (key,), words, 0.1), Finding(words, key)), figure,
            (words,), (key,)),
        # A stamp may be missing, and then it is not NaN: a file has null for both.
        defects=(Defect(key, 'info', words, None, 1, bounds[0], None, bounds[1]),),
    )
    write_result(result, tmp_path)
    assert_same(result, read_result(tmp_path))


def test_every_setting_of_an_arm_comes_back(tmp_path):
    arm = replace(
        random_arm(np.random.default_rng(2), 3),
        rotor_nominal=np.array([0.1, 0.2, 0.3]),
        friction_nominal={'viscous': np.array([1.0, 2.0, 3.0])},
        friction=('viscous', 'coulomb_smooth', 'load'),
        friction_shape=FrictionShape(0.01, 0.2),
        coupling=(CouplingColumn('Iam2', 'qdd', np.eye(3)[::-1]),),
        drive=Drive('current', np.array([1.0, -2.0, 3.0]), np.tril(np.ones((3, 3))),
                    np.array([0.1, 0.0, -0.1]), includes_gravity=False),
        conditioning=Conditioning(4.0, 'periodic', 10.0, 0.002),
        aliases=(('a', 'b', 'c'), ('x', 'y', 'z')),
        table=Table(1000.0, None, ('p1', 'p2', 'p3'), (), ('u1', 'u2', 'u3'), 'u.csv', ('h',)),
    )
    result = identification(arm)
    write_result(result, tmp_path)
    assert_same(result, read_result(tmp_path))


def test_a_covariance_that_is_not_quite_symmetric_keeps_its_last_bits(tmp_path):
    covariance = identification(ARM).covariance.copy()
    covariance[0, 1] = np.nextafter(covariance[1, 0], np.inf)
    result = identification(ARM, covariance=covariance)
    write_result(result, tmp_path)
    assert_same(result, read_result(tmp_path))


def test_result_yaml_alone_holds_all_but_the_predictions(tmp_path):
    result = identification(ARM)
    write_result(result, tmp_path / 'there')
    shutil.copy(tmp_path / 'there' / 'result.yaml', tmp_path / 'alone.yaml')
    assert_same(replace(result, predictions=()), read_result(tmp_path / 'alone.yaml'))


def test_each_parameter_has_a_line_with_its_group_and_unit(tmp_path):
    result = identification(ARM)
    write_result(result, tmp_path)
    lines = (tmp_path / 'result.yaml').read_text().splitlines()
    base = base_parameters(ARM)
    for i, (name, group) in enumerate(zip(base.names, base.groups, strict=True)):
        line, = (line for line in lines if line.startswith(f'- {{name: {name},'))
        entry, = yaml.safe_load(line)
        assert entry['value'] == result.theta[i]
        assert entry['std'] == result.std[i]
        assert entry['std_white'] == result.std_white[i]
        assert entry['group'] == group
        assert entry['unit']


def test_predictions_of_an_earlier_result_are_not_taken_for_those_of_a_later_one(tmp_path):
    write_result(identification(ARM), tmp_path)
    write_result(identification(ARM, predictions=()), tmp_path)
    assert read_result(tmp_path).predictions == ()


def test_nothing_but_the_two_files_is_left_behind(tmp_path):
    for _ in range(2):
        write_result(identification(ARM), tmp_path / 'new' / 'folder')
    assert {p.name for p in (tmp_path / 'new' / 'folder').iterdir()} == {
        'result.yaml', 'prediction.npz'}


def test_a_file_in_the_way_of_the_folder_is_named(tmp_path):
    (tmp_path / 'out').write_text('precious')
    with pytest.raises(ResultError, match=r'out.*cannot be written'):
        write_result(identification(ARM), tmp_path / 'out')
    assert (tmp_path / 'out').read_text() == 'precious'


def test_a_folder_in_the_way_of_the_file_is_named_and_nothing_is_left(tmp_path):
    (tmp_path / 'result.yaml').mkdir()
    with pytest.raises(ResultError, match=r'result\.yaml cannot be written'):
        write_result(identification(ARM, predictions=()), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ['result.yaml']


@pytest.mark.skipif(os.geteuid() == 0, reason='the superuser may write everywhere')
def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(ResultError, match='cannot be written: permission denied'):
        write_result(identification(ARM), tmp_path)


def test_a_missing_result_is_named(tmp_path):
    for path in (tmp_path, tmp_path / 'nowhere'):
        with pytest.raises(ResultError, match='cannot be read: no such file'):
            read_result(path)


@pytest.mark.parametrize(('old', 'new', 'said'), [
    ('format: 3', 'format: 99', 'format 99.*reads 3; identify again'),
    ('format: 3\n', '', 'format None'),
    ('condition_number: 123.4\n', '', "'condition_number' is missing"),
    ('condition_number: 123.4', 'condition_number: high', 'condition_number should be a float'),
    ('cutoff_hz: 3.0', 'cutoff: 3.0', 'treatment.cutoff_hz is missing'),
    ('cutoff_hz: 3.0', 'cutoff_hz: 3.0\n  extra: 1', 'treatment.extra is not known'),
    ('decimation: ', 'decimation: 0  # ', 'treatment.decimation is 0, which no treatment has'),
    ('decimation: ', f'decimation: {2**63}  # ', 'treatment.decimation is 9223372036854775808'),
    ('cutoff_hz: 3.0', 'cutoff_hz: -3.0', 'treatment.cutoff_hz is -3.0'),
    ('  delay: ', '  delay: .nan  # ', 'treatment.delay is nan, which no treatment has'),
    ('  delay: ', '  delay: -1.0e+300  # ', r'treatment.delay is -1e\+300'),
    ('  period: ', '  period: .inf  # ', 'treatment.period is inf'),
    ('parent: [', 'parent: [7, ', 'arm.parent has the shape'),
    ('parent: [-1,', 'parent: [1,', 'arm.parent does not describe a tree'),
    ('friction: [viscous', 'friction: [viscious', 'unknown friction term'),
    ('rotor_inertia: true', 'rotor_inertia: false', 'not the base parameters of its arm'),
    ('covariance:\n', 'covariance:\n- [1.0]\n', 'covariance is not a matrix'),
    ('verdict:', 'verdict: [', 'is damaged'),
    ('  findings:', '  finding:', 'verdict.findings is missing'),
    ('  findings:', '  findings: 3 #', 'is damaged'),
    ('sha256: ', 'sha256: 0', 'prediction.npz beside it was changed'),
    ('rotation:\n  - - [', 'rotation:\n  - - [.nan, ', 'arm.rotation'),
    ('covariance:\n- [', 'covariance:\n- [1.0e-9, ]\n- [5.0, ', 'covariance is not a matrix'),
    ('condition_number: 123.4', f'condition_number: {400 * "9"}', 'integer has 400 digits'),
    ('sources: [', f'sources: {100_000 * "["}', 'nesting depth'),
])
def test_a_damaged_result_is_refused_in_one_sentence(tmp_path, old, new, said):
    write_result(identification(ARM), tmp_path)
    path = tmp_path / 'result.yaml'
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(ResultError, match=said) as caught:
        read_result(tmp_path)
    assert '\n' not in str(caught.value)
    assert 'result.yaml' in str(caught.value)


@pytest.mark.parametrize(('change', 'said'), [
    (lambda arm: arm['tool']['placement'].update(rotation=[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
     r'tool\.placement\.rotation has the shape \(2, 3\)'),
    (lambda arm: arm['base'].update(translation=[0.0]), r'base\.translation has the shape'),
    (lambda arm: arm['tool'].update(joint=2), r'tool\.joint is 2'),
    (lambda arm: arm['drive'].update(signal='pressure'), r"drive\.signal is 'pressure'"),
    (lambda arm: arm['drive'].update(transmission=[[1.0, 2.0], [2.0, 4.0]]),
     r'drive\.transmission is singular'),
    (lambda arm: arm['coupling'].append(
        {'name': 'C', 'quantity': 'covariance', 'matrix': [[1.0, 0.0], [0.0, 1.0]]}),
     "coupling C has the quantity 'covariance'"),
    (lambda arm: arm.update(friction_lacking=[['viscous'], []]), 'friction_lacking is not known'),
    (lambda arm: arm.update(tolerances={
        'base': [0.0], 'mounting': 6 * [0.0], 'tool': 6 * [0.0], 'joints': {}}),
     r'tolerances\.base has the shape \(1,\)'),
])
def test_an_arm_that_cannot_be_is_refused(tmp_path, change, said):
    write_result(identification(ARM), tmp_path)
    path = tmp_path / 'result.yaml'
    record = yaml.safe_load(path.read_text())
    change(record['arm'])
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match=said):
        read_result(tmp_path)


@pytest.mark.parametrize('content', [b'', b'- 1\n', b'\xff\xfe\x00', b'{', b'\x00'])
def test_a_file_that_is_no_result_is_refused(tmp_path, content):
    (tmp_path / 'result.yaml').write_bytes(content)
    with pytest.raises(ResultError, match=r'result\.yaml'):
        read_result(tmp_path)


def test_a_file_cut_short_anywhere_is_refused(tmp_path):
    write_result(identification(ARM), tmp_path)
    path = tmp_path / 'result.yaml'
    whole = path.read_bytes()
    # The last line can lose its end and still be a number, but not a closing bracket.
    for length in np.linspace(1, len(whole) - 2, 40).astype(int):
        path.write_bytes(whole[:length])
        with pytest.raises(ResultError):
            read_result(tmp_path)


@pytest.mark.parametrize('place', ['value', 'std_white', 'covariance', 'variance'])
@pytest.mark.parametrize('value', ['nan', 'inf', '-inf', '1e300'])
def test_a_number_that_is_no_estimate_is_refused_by_the_name_of_its_parameter(
        tmp_path, place, value):
    write_result(identification(ARM), tmp_path)
    path = tmp_path / 'result.yaml'
    record, name = yaml.safe_load(path.read_text()), base_parameters(ARM).names[2]
    number = float(value)
    if place == 'covariance':
        record['covariance'][2][1] = number
    elif place == 'variance':
        record['covariance'][2][2] = -1.0 if np.isfinite(number) else number
    else:
        record['parameters'][2][place] = number
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match='is damaged') as caught:
        read_result(tmp_path)
    assert f'parameter {name}' in str(caught.value) or place == 'covariance'


@pytest.mark.parametrize('key', ['fit', 'validation', 'sigma', 'widening'])
def test_figures_of_too_few_joints_are_refused(tmp_path, key):
    write_result(identification(ARM, widening=np.ones(ARM.n)), tmp_path)
    path = tmp_path / 'result.yaml'
    record = yaml.safe_load(path.read_text())
    (record[key]['joints'] if isinstance(record[key], dict) else record[key]).pop()
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match=f'{key} .* instead of'):
        read_result(tmp_path)


@pytest.mark.parametrize('strength', [-1.0, 0.0, np.inf, np.nan])
def test_a_prior_of_friction_that_is_none_is_refused(tmp_path, strength):
    write_result(identification(ARM, friction_strength={'viscous': 1.0}), tmp_path)
    path = tmp_path / 'result.yaml'
    record = yaml.safe_load(path.read_text())
    record['friction_strength']['viscous'] = strength
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match=r'friction_strength\.viscous is not a positive number'):
        read_result(tmp_path)


def test_a_covariance_beyond_its_variances_is_refused(tmp_path):
    write_result(identification(ARM), tmp_path)
    path, names = tmp_path / 'result.yaml', base_parameters(ARM).names
    record = yaml.safe_load(path.read_text())
    record['covariance'][2][1] = 1e6
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match=f'covariance of {names[1]} and {names[2]} exceeds'):
        read_result(tmp_path)


def test_predictions_of_several_recordings_keep_their_order(tmp_path):
    rng = np.random.default_rng(3)
    sets = tuple(prediction(rng, ARM.n, 20 + i, f'walk {i}', i % 2 == 1) for i in range(12))
    write_result(identification(ARM, predictions=sets), tmp_path)
    assert_same(sets, read_result(tmp_path).predictions)


def with_clocks():
    plain = identification(ARM)
    return replace(plain, clocks=CLOCKS, treatment=replace(plain.treatment, ladder=LADDER))


def test_clocks_and_the_compared_cut_offs_come_back(tmp_path):
    write_result(with_clocks(), tmp_path)
    found = read_result(tmp_path)
    assert_same(with_clocks().clocks, found.clocks)
    assert_same(with_clocks().treatment, found.treatment)


def test_a_result_without_clocks_and_cut_offs_is_read(tmp_path):
    write_result(with_clocks(), tmp_path)
    path = tmp_path / 'result.yaml'
    record = yaml.safe_load(path.read_text())
    del record['clocks'], record['treatment']['ladder']
    path.write_text(yaml.safe_dump(record))
    found = read_result(tmp_path)
    assert (found.clocks, found.treatment.ladder) == ((), ())


@pytest.mark.parametrize(('change', 'said'), [
    (lambda record: record['clocks'][0].update(kind='odd'), 'clocks.kind of logs/walk.db3'),
    (lambda record: record['clocks'][1].update(rate_hz=0.0), 'clocks.rate_hz of run.csv'),
    (lambda record: record['clocks'][1].update(jitter=float('nan')), 'clocks.jitter of run.csv'),
    (lambda record: record['clocks'][0]['late'].pop(), 'clocks.t of logs/walk.db3'),
    (lambda record: record['clocks'][0].update(late=4 * [float('inf')]), 'clocks.t of logs'),
    (lambda record: record['treatment']['ladder'][0].update(cutoff_hz=0.0), 'treatment.ladder'),
    (lambda record: record['treatment']['ladder'][0].update(error_percent=None),
     'treatment.ladder'),
])
def test_clocks_and_cut_offs_that_nothing_can_draw_are_refused(tmp_path, change, said):
    write_result(with_clocks(), tmp_path)
    path = tmp_path / 'result.yaml'
    record = yaml.safe_load(path.read_text())
    change(record)
    path.write_text(yaml.safe_dump(record))
    with pytest.raises(ResultError, match=said):
        read_result(tmp_path)
