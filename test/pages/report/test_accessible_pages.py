# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Pages can be read by a screen reader, on a phone, in the dark, and show error by bandwidth."""

from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
import re

from browsers import chromium
from jinja2 import UndefinedError
import numpy as np
import pytest
from results import identification
from synthetic_recordings import recording, Waves

from dynid_ros.applications.fleet.drift import Series
from dynid_ros.arm.load import load_arm
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.identification.identify import identify
from dynid_ros.estimation.model.metrics import BandwidthError
from dynid_ros.estimation.result_files.result_file import read_result, write_result
from dynid_ros.pages.report import write_report
from dynid_ros.pages.report.fleet_page import draw_series
from dynid_ros.pages.report.templating import render

EVIL = '"><script>document.title = "taken"</script><b onclick="x'
ERRORS = (BandwidthError(1.0, 2.5, 4.0), BandwidthError(5.0, 4.4, 7.5),
          BandwidthError(None, 6.25, 8.125))


class Outline(HTMLParser):
    """Elements with their attributes, in their order."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def of(self, *tags):
        return [attributes for tag, attributes in self.elements if tag in tags]


@pytest.fixture(scope='module')
def hostile(tmp_path_factory):
    """Return the file of a report of which every name is hostile, and its result."""
    plain = identification()
    arm = replace(plain.arm.with_tree(joint_names=(EVIL, 'j2')), name=EVIL)
    result = identification(
        arm, sources=(EVIL,), error_by_bandwidth=ERRORS,
        predictions=tuple(replace(p, source=EVIL) for p in plain.predictions))
    path = tmp_path_factory.mktemp('hostile') / 'report.html'
    write_report(result, path)
    return path, result


@pytest.fixture(scope='module')
def outline(hostile):
    return Outline(hostile[0].read_text())


def test_landmarks_and_headings_stand_in_their_order(outline):
    tags = [tag for tag, _ in outline.elements]
    assert [tag for tag in tags if tag in ('header', 'nav', 'main')] == ['header', 'nav', 'main']
    assert outline.of('html') == [{'lang': 'en'}]
    levels = [int(tag[1]) for tag in tags if re.fullmatch('h[1-6]', tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(later - before <= 1 for before, later in pairwise(levels))
    ids = {attributes['id'] for _, attributes in outline.elements if 'id' in attributes}
    assert {each['aria-labelledby'] for each in outline.of('section')} <= ids
    assert {each['href'][1:] for each in outline.of('a')} <= ids


def test_every_drawing_has_an_alternative_text_with_numbers(outline, hostile):
    drawings = outline.of('svg')
    shown = [each for each in drawings if each.get('aria-hidden') != 'true']
    assert len(shown) == 4 * hostile[1].arm.n + 1
    for each in shown:
        assert each['role'] == 'img'
        assert re.search(r'\d', each['aria-label'])
    # Bars repeat the interval beside them.
    assert len(drawings) - len(shown) == len(hostile[1].theta)


def test_every_head_of_a_table_says_what_it_is_the_head_of(outline):
    assert outline.of('th')
    assert all(each.get('scope') in ('col', 'colgroup', 'row', 'rowgroup')
               for each in outline.of('th'))


def test_hostile_names_open_no_element_and_no_attribute(outline, hostile):
    assert not outline.of('script', 'b')
    assert not any('onclick' in attributes for _, attributes in outline.elements)
    assert any(EVIL in each.get('aria-label', '') for each in outline.of('svg'))
    assert '&lt;script&gt;' in hostile[0].read_text()


def test_hostile_names_of_a_fleet_stay_in_the_alternative_text():
    when = 86400.0 * np.arange(3)
    series = Series(EVIL, EVIL, when, np.array([1.0, 2.0, 3.0]))
    drawing = Outline(draw_series(series))
    assert not drawing.of('script', 'b')
    assert 'values from 1.00 to 3.00' in drawing.of('svg')[0]['aria-label']


def test_errors_by_bandwidth_are_drawn_and_tabulated(hostile, outline):
    text = hostile[0].read_text()
    section = re.search(r'<section id="bandwidth".*?</section>', text, flags=re.DOTALL)[0]
    rows = re.findall(r'<th scope="row">([^<]*)</th>((?:<td[^>]*>[^<]*</td>)+)', section)
    found = {name: re.findall(r'>([^<]*)</td>', cells) for name, cells in rows}
    assert found == {
        '1 Hz': ['2.50 %', '4.00 %'], '3 Hz, of the fit': ['5.76 %', ''],
        '5 Hz': ['4.40 %', '7.50 %'], 'as recorded': ['6.25 %', '8.12 %']}
    label = next(each['aria-label'] for each in outline.of('svg')
                 if 'against bandwidth' in each.get('aria-label', ''))
    assert 'below 5 Hz 4.40 % (7.50 % with plain friction)' in label
    assert 'cut-off of 3 Hz' in label


@pytest.mark.slow
@pytest.mark.parametrize('plain', [None, 9.0])
def test_a_cutoff_of_the_fit_that_is_among_the_bandwidths_is_listed_once(tmp_path, plain):
    arm = load_arm('two_axis').with_friction(())
    arm = replace(arm, conditioning=replace(arm.conditioning, cutoff_hz=5.0))
    theta = base_parameters(arm).grouping @ nominal_parameters(arm)
    noise = np.random.default_rng(0).normal(scale=1e-3, size=(3000, 2))
    result = identify(arm, [recording(arm, Waves.random(arm, 1), theta, noise)], friction=())
    result = replace(result, error_by_bandwidth=tuple(
        replace(each, plain_error_percent=plain) for each in result.error_by_bandwidth))
    write_report(result, tmp_path / 'report.html')
    section = re.search(r'<section id="bandwidth".*?</section>',
                        (tmp_path / 'report.html').read_text(), flags=re.DOTALL)[0]
    rows = re.findall(r'<th scope="row">([^<]*)</th>((?:<td[^>]*>[^<]*</td>)+)', section)
    assert [name for name, _ in rows] == [
        '1 Hz', '2 Hz', '5 Hz, of the fit', '10 Hz', '20 Hz', 'as recorded']
    cells = re.findall(r'>([^<]*)</td>', dict(rows)['5 Hz, of the fit'])
    error = f'{result.validation.relative_error_percent:.2f} %'
    # The motion repeats, so that the last column is the floor.
    assert cells[:-1] == ([error] if plain is None else [error, '9.00 %'])


def test_errors_by_bandwidth_are_stored_and_older_results_have_none(tmp_path):
    write_result(identification(error_by_bandwidth=ERRORS), tmp_path)
    assert read_result(tmp_path).error_by_bandwidth == ERRORS
    file = tmp_path / 'result.yaml'
    older = re.sub(r'(?m)^error_by_bandwidth:.*\n(?:[- ].*\n)*', '', file.read_text())
    assert 'error_by_bandwidth' not in older
    file.write_text(older)
    assert read_result(tmp_path).error_by_bandwidth == ()
    write_report(read_result(tmp_path), tmp_path / 'report.html')
    assert 'does not hold the error at other' in (tmp_path / 'report.html').read_text()


@pytest.mark.slow
@pytest.mark.parametrize('error', [0.0, np.nan, np.inf])
def test_errors_without_a_size_can_be_drawn(tmp_path, error):
    rows = (BandwidthError(1.0, error, None), BandwidthError(None, error, error))
    write_report(identification(error_by_bandwidth=rows), tmp_path / 'report.html')
    assert not re.search(r'\b(nan|inf)\b', (tmp_path / 'report.html').read_text())


def test_a_value_that_a_template_lacks_is_an_error():
    with pytest.raises(UndefinedError):
        render('report.html')


@pytest.fixture(scope='module')
def browser():
    """Return a headless Chromium."""
    with chromium() as found:
        yield found


@pytest.fixture
def opened(browser, hostile):
    """Return what opens the report, and fails on a message of its console or a request."""
    pages, said = [], []

    def open_page(**settings):
        page = browser.new_page(**settings)
        pages.append(page)
        page.on('console', lambda message: said.append(message.text))
        page.on('pageerror', lambda error: said.append(str(error)))
        page.on('request', lambda request: said.append(request.url)
                if not request.url.startswith('file:') else None)
        page.goto(hostile[0].as_uri())
        return page

    yield open_page
    for page in pages:
        page.close()
    assert said == []


def test_a_phone_does_not_scroll_sideways_and_tables_do(opened):
    page = opened(viewport={'width': 360, 'height': 640})
    assert page.evaluate('document.scrollingElement.scrollWidth') <= 360
    assert page.title().startswith(EVIL)
    assert page.evaluate("getComputedStyle(document.querySelector('.scroll')).overflowX") == 'auto'


@pytest.mark.slow
def test_paper_cuts_no_table_off(opened):
    # A4 between the margins of Chromium, 19 cm at 96 dots an inch.
    page = opened(viewport={'width': 718, 'height': 1000})
    page.emulate_media(media='print')
    assert page.evaluate('document.scrollingElement.scrollWidth') <= 718


@pytest.mark.slow
@pytest.mark.parametrize(('settings', 'media', 'dark'), [
    ({'color_scheme': 'light'}, 'screen', False), ({'color_scheme': 'dark'}, 'screen', True),
    ({'color_scheme': 'dark'}, 'print', False)])
def test_page_and_drawings_follow_light_dark_and_print(opened, settings, media, dark):
    page = opened(**settings)
    page.emulate_media(media=media, **settings)
    ground = page.evaluate('getComputedStyle(document.body).backgroundColor')
    letters = page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
    assert (brightness(ground) < 60) is dark
    assert (brightness(letters) > 180) is dark


def brightness(colour):
    return sum(map(int, re.findall(r'\d+', colour)[:3])) / 3
