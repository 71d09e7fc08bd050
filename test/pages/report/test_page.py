# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The report says everything in one file, for any arm, and believes no name."""

from dataclasses import replace
from html.parser import HTMLParser
import re
import xml.etree.ElementTree as ET

import numpy as np
from oracles import random_arm
import pytest
from results import CLOCKS, identification, LADDER, prediction

from dynid_ros.arm.model import CouplingColumn
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.errors import ResultError
from dynid_ros.estimation.model.verdict import Finding, Verdict
from dynid_ros.pages.report import write_report

SECTIONS = ['joints', 'suspects', 'bandwidth', 'torque', 'spectra', 'parameters', 'links',
            'friction', 'rollouts', 'treatment', 'defects', 'timing', 'use']
VOID = {'meta', 'br', 'hr', 'img', 'link', 'input'}


class Page(HTMLParser):
    """Elements, attributes and text of a page; unbalanced tags are an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.attributes, self.text = [], [], [], []
        self.sections, self.cells = [], {}
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or '') for name, value in attrs]
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))
        if tag == 'section':
            self.sections.append(dict(attrs)['id'])

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value or '') for name, value in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, attributes = self.open[-1] if self.open else ('', {})
        if tag != 'style':
            self.text.append(data)
        self.cells.setdefault(attributes.get('class'), []).append(data)

    @property
    def words(self):
        return ' '.join(' '.join(self.text).split())


def report(tmp_path, result):
    path = tmp_path / 'panda_result' / 'report.html'
    write_report(result, path)
    text = path.read_text(encoding='utf-8')
    return Page(text), text


def drawings(text):
    return re.findall(r'<svg.*?</svg>', text, flags=re.DOTALL)


def figures(text):
    return re.findall(r'<figure>.*?</figure>', text, flags=re.DOTALL)


@pytest.fixture(scope='module')
def usual(tmp_path_factory):
    result = identification()
    return result, *report(tmp_path_factory.mktemp('usual'), result)


def test_all_sections_are_there_in_their_order(usual):
    _, page, _ = usual
    assert page.sections == SECTIONS
    assert page.tags.count('h1') == 1


def test_nothing_outside_the_file_is_asked_for(usual):
    _, page, text = usual
    assert not {'script', 'link', 'img', 'iframe', 'object', 'base', 'image'} & set(page.tags)
    for tag, name, value in page.attributes:
        if name.rpartition(':')[2] in ('src', 'href', 'action', 'data'):
            assert value.startswith('#'), (tag, name, value)
    assert '//' not in text
    assert all(target.startswith('#') for target in re.findall(r'url\(([^)]*)\)', text))


def test_every_reference_inside_the_file_has_one_target(usual):
    _, page, text = usual
    ids = [value for _, name, value in page.attributes if name == 'id']
    assert len(ids) == len(set(ids))
    targets = set(re.findall(r'url\(#([^)]*)\)', text)) | {
        value[1:] for _, name, value in page.attributes if name == 'href'}
    assert targets <= set(ids)


def test_drawings_are_well_formed_and_all_of_them_are_there(usual):
    result, _, text = usual
    for drawing in drawings(text):
        ET.fromstring(drawing)
    # Training, held-out, spectrum and friction of each joint.
    assert len(figures(text)) == 4 * result.arm.n
    # No stand-in colour of Matplotlib is left, so that dark pages can be read.
    assert not re.search(r'(stroke|fill): #', ''.join(figures(text)))


def test_every_parameter_is_listed_once_with_its_interval(usual):
    result, page, text = usual
    assert tuple(page.cells['name']) == base_parameters(result.arm).names
    table = re.search(r'<table class="parameters">.*?</table>', text, flags=re.DOTALL)[0]
    # Estimate and prior, in each row and in the head.
    assert table.count('±') == 2 * (len(result.theta) + 1)
    assert table.count('class="bar"') == len(result.theta)
    hidden = np.abs(result.theta) <= 1.96 * result.std
    assert table.count('may be zero') == hidden.sum() > 0
    for group in base_parameters(result.arm).groups:
        assert page.text.count(group) >= 1


def test_friction_is_a_curve_over_the_speed_and_a_line_for_each_joint(tmp_path):
    plain = identification()
    arm, names = plain.arm, base_parameters(plain.arm).names
    theta, covariance = plain.theta.copy(), 1e-4 * np.eye(len(names))
    for joint, (level, slope) in enumerate(((6.0, 8.3), (2.0, 0.4)), 1):
        theta[names.index(f'Fc{joint}')], theta[names.index(f'Fv{joint}')] = level, slope
    # The second joint was at rest.
    share = np.array([float('2' not in name) for name in names])
    page, text = report(tmp_path, identification(
        arm, theta=theta, covariance=covariance, data_share=share))
    assert 'friction of j1: 6.0 Nm + 8.3 Nm s/rad friction' in page.words
    assert 'friction of j2: 2.0 Nm + 0.40 Nm s/rad (the prior: the motion shows' in page.words
    told = re.findall(r'aria-label="Friction of (\w+) over its speed: ([^"]*)"', text)
    assert [joint for joint, _ in told] == list(arm.joint_names)
    # The motion of the results reaches 1 rad/s; the band is that of the covariance.
    assert '6.01 ± 0.0196 Nm at the slowest, 14.3 ± 0.0277 Nm at 1.00 rad/s' in told[0][1]


def test_compared_cut_offs_and_clocks_are_drawn_with_their_numbers(tmp_path):
    plain = identification()
    kept = replace(CLOCKS[1], source='third.csv', t=(), late=())
    page, text = report(tmp_path, replace(
        plain, clocks=(*CLOCKS, kept), treatment=replace(plain.treatment, ladder=LADDER)))
    # Of three clocks, the last has no times.
    assert len(figures(text)) == 4 * plain.arm.n + 3
    for drawing in drawings(text):
        ET.fromstring(drawing)
    labels = [value for tag, name, value in page.attributes if name == 'aria-label']
    assert ('Error below 2 Hz against the cut-off of the rows: 5.28 % at 2 Hz; 5.52 % at 3 Hz; '
            '12.4 % at 5 Hz. The fit has a cut-off of 3 Hz.') in labels
    assert ('How late 4 stamps of walk.db3 are, over 15.0 ms: from 0.10 to 3.2 ms') in labels
    assert ('How late 3 stamps of run.csv are, relative to their median, over 20.0 ms: from −1.0 '
            'to 2.0 ms') in labels
    for words in ('blocks that were not fitted; where the curve rises, noise of the positions',
                  'walk.db3 are the newest state of a source of 246 Hz: the stamps are 0 to '
                  '4.1 ms late',
                  'The stamps of run.csv scatter by 2.1 ms', 'The stamps of third.csv scatter'):
        assert words in page.words


@pytest.mark.parametrize('rungs', [0, 1])
def test_a_cut_off_that_was_compared_with_none_is_not_drawn(usual, tmp_path, rungs):
    plain = identification()
    page, text = report(tmp_path, replace(
        plain, treatment=replace(plain.treatment, ladder=LADDER[:rungs])))
    assert 'Choice of the cut-off' not in page.words
    assert len(figures(text)) == len(figures(usual[2]))


def test_figures_in_sample_and_held_out_are_told_apart(usual):
    _, page, _ = usual
    for words in ('In-sample (fitted)', 'Held-out (not fitted)',
                  'Training, in-sample: first 67 % of walk.db3',
                  'Held-out, not fitted: last 33 % of walk.db3', '2.98 %', '5.76 %'):
        assert words in page.words


def test_verdict_reasons_defects_friction_treatment_and_use_are_told(tmp_path):
    result = identification(verdict=Verdict(
        False, (Finding('excitation', 'Joint j2 was hardly moved', 'move it.', ('j2',)),), 61.0,
        ('j2',), ('Ixx2',)))
    page, text = report(tmp_path, result)
    for words in ('Not trustworthy: Joint j2 was hardly moved. Move it.',
                  'Effort of j1 is zero.', 'The stamps vary by 0.4 ms.',
                  'cut-off 3 Hz (chosen from the data)', 'advanced by 4 ms', 'A note.',
                  'dynid validate panda_result', 'read 0.30 s', 'ab' * 32):
        assert words in page.words
    # The worst first.
    assert text.index('Effort of j1 is zero.') < text.index('The stamps vary')


def test_names_are_shown_and_never_believed(tmp_path):
    evil = '<script>alert("$x^{$")</script>&'
    plain = identification()
    arm = replace(plain.arm.with_tree(joint_names=(evil, 'j2')), name=evil)
    result = identification(
        arm, sources=(evil,), data_hash=evil, timing={evil: 1.0},
        treatment=replace(plain.treatment, filter=evil, notes=(evil,)),
        verdict=Verdict(False, (Finding(evil, evil, evil),), 1.0, (evil,), (evil,)),
        defects=(replace(plain.defects[0], severity=evil, message=evil, joint=evil),),
        validation=replace(plain.validation, source=evil),
        predictions=tuple(replace(p, source=evil) for p in plain.predictions),
        clocks=(replace(CLOCKS[0], source=evil),))
    page, text = report(tmp_path, result)
    assert 'script' not in page.tags
    assert '<script' not in text
    # Shown as it is in at least: title, headline, tables, captions, reasons.
    assert page.words.count(evil) >= 10


def test_a_column_declared_by_the_user_is_escaped_too(tmp_path):
    arm = random_arm(np.random.default_rng(0), 2, prismatic=False)
    arm = replace(arm, coupling=(CouplingColumn('<b>Fs2', 'sign_qd', np.ones((2, 2))),))
    page, text = report(tmp_path, identification(arm))
    assert '<b>' not in text
    assert '<b>Fs2' in page.cells['name']
    assert 'Coupling between joints' in page.words


def test_a_result_without_validation_says_so(tmp_path):
    whole = identification()
    page, text = report(tmp_path, identification(
        validation=None, predictions=whole.predictions[:1]))
    assert 'Not validated: the model fits its own motion' in page.words
    assert 'not validated' in page.words
    assert 'Held-out (not fitted)' not in page.words
    assert len(figures(text)) == 3 * whole.arm.n


@pytest.mark.parametrize('predictions', [(), (
    prediction(np.random.default_rng(0), 2, 1, 'one sample', False),)])
def test_a_result_without_torque_over_time_says_so(tmp_path, predictions):
    page, text = report(tmp_path, identification(predictions=predictions))
    assert page.sections == SECTIONS
    assert page.words.count('there is nothing to draw') == 2
    assert len(figures(text)) == 2 and text.count('aria-label="Friction of') == 2


def test_a_sliding_joint_is_shown_in_newtons(tmp_path):
    arm = random_arm(np.random.default_rng(0), 1, prismatic=False)
    arm = arm.with_tree(prismatic=np.array([True]))
    page, _ = report(tmp_path, identification(arm))
    assert 'force, N' in page.text
    assert '1 joint' in page.words
    assert 'Nm' not in page.words


def test_empty_lists_read_as_sentences(tmp_path):
    arm = random_arm(np.random.default_rng(0), 1, prismatic=False).with_friction(())
    page, _ = report(tmp_path, identification(
        arm, defects=(), timing={}))
    for words in ('None were found.', 'The model has no friction.', 'Not measured.'):
        assert words in page.words


@pytest.mark.slow
@pytest.mark.parametrize('number', [0.0, np.nan, np.inf])
def test_numbers_that_are_none_do_not_stop_the_report(tmp_path, number):
    plain = identification()
    b = len(plain.theta)
    page, text = report(tmp_path, identification(
        covariance=np.diag(np.full(b, number)), std_white=np.full(b, number),
        condition_number=number))
    assert page.sections == SECTIONS
    assert not re.search(r'\b(nan|inf)\b', text)


def test_model_errors_that_widen_the_intervals_are_stated(usual, tmp_path):
    page, _ = report(tmp_path, replace(identification(), dispersion=6.25))
    assert 'they widen the intervals 2.5 times' in page.words
    assert 'they widen the intervals' not in usual[1].words


def test_a_perfect_prediction_can_be_drawn(tmp_path):
    plain = identification()
    perfect = tuple(replace(p, tau_hat=p.tau) for p in plain.predictions)
    _, text = report(tmp_path, identification(predictions=perfect))
    assert len(figures(text)) == 4 * plain.arm.n


def test_the_report_is_the_same_in_every_run(tmp_path):
    texts = [report(tmp_path / str(run), identification())[1] for run in range(2)]
    assert texts[0] == texts[1]


def test_a_report_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / 'out').write_text('precious')
    with pytest.raises(ResultError, match=r'report\.html cannot be written'):
        write_report(identification(), tmp_path / 'out' / 'report.html')


@pytest.mark.slow
def test_ten_minutes_of_seven_joints_stay_small(tmp_path):
    arm = random_arm(np.random.default_rng(0), 7, prismatic=False)
    rng = np.random.default_rng(1)
    long = tuple(prediction(rng, 7, 12000, f'walk {i}', i > 1) for i in range(4))
    result = identification(arm, predictions=long)
    _, text = report(tmp_path, result)
    assert len(text) < 3_000_000


def test_the_error_of_stated_parameters_stands_beside_the_identified_one(tmp_path):
    result = identification()
    stated = {'as stated': replace(result.validation, relative_error_percent=46.7)}
    words = report(tmp_path, replace(result, stated=stated))[0].words
    assert 'The same, parameters of arm.yaml or URDF as stated 46.7 %' in words
    assert 'states give 46.7 % as stated on the same data' in words
    assert 'as stated' not in report(tmp_path, result)[0].words
