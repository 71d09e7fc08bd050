"""The report of an identification: one self-contained HTML file with its style sheet."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from dynid_ros import __version__
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.report import sections
from dynid_ros.report.sections import spectrum_section, torque_section
from dynid_ros.report.tables import joint_table, percent, significant
from dynid_ros.whole_file import write_whole


def write_report(result: IdentifiedModel, path: Path) -> None:
    """
    Write the report as one self-contained HTML file.

    Parameters
    ----------
    result : IdentifiedModel
        The identified model.
    path : Path
        File; its folder counts as the folder of the result.

    Raises
    ------
    ResultError
        The file cannot be written.

    """
    write_whole(path, report_page(result, path))


def report_page(result: IdentifiedModel, path: Path) -> bytes:
    """Make the content of the file that `write_report` writes."""
    return _page(result, path.absolute().parent.name).encode()


def _page(result: IdentifiedModel, folder: str) -> str:
    parts = [
        ('joints', 'Prediction error of each joint', _joints(result)),
        ('torque', 'Measured and predicted torque', torque_section(result)),
        ('spectra', 'Residual spectra', spectrum_section(result)),
        ('parameters', 'Base parameters', sections.parameters(result)),
        ('links', 'Physically possible links', sections.links(result)),
        ('friction', 'Friction terms', sections.friction(result)),
        ('treatment', 'Signal conditioning', sections.treatment(result)),
        ('defects', 'Defects of the recordings', sections.defects(result.defects)),
        ('timing', 'Computing time', sections.timing(result.timing)),
        ('use', 'Using and citing this result', _use(result, folder)),
    ]
    title = f'{escape(result.arm.name)}: identified dynamics'
    return html_page(title, sections.headline(result) + sections.key_figures(result), parts)


def html_page(title: str, top: str, parts: Sequence[tuple[str, str, str]]) -> str:
    """
    Put a page together.

    Parameters
    ----------
    title : str
        Title, in HTML.
    top : str
        HTML before the sections.
    parts : sequence of (str, str, str)
        Anchor, title and HTML of each section.

    """
    body = ''.join(f'<section id="{anchor}"><h2>{heading}</h2>{content}</section>'
                   for anchor, heading, content in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><style>{STYLE}</style></head><body>{top}{body}</body></html>\n')


def _joints(result: IdentifiedModel) -> str:
    return (
        '<p>RMSE is the typical error of the torque; the relative error is its share of the '
        'torque itself; R² is the share of the variance that the model explains. Judge the '
        'model by the held-out columns: in-sample errors are always optimistic.</p>'
        f'{joint_table(result)}')


def _use(result: IdentifiedModel, folder: str) -> str:
    name = escape(folder)
    python = (
        'from pathlib import Path\n'
        'from dynid_ros.storage.result_file import read_result\n\n'
        f'result = read_result(Path({escape(repr(folder), quote=False)}))')
    return (
        '<p>Test the model against another recording of the same arm, or load it:</p>'
        f'<pre>dynid validate {name} OTHER_RECORDING</pre><pre>{python}</pre>'
        f'<p>For a paper or a logbook:</p><blockquote>{_citation(result)}</blockquote>'
        f'<p class="soft hash">SHA-256 of the samples used for fitting: '
        f'{escape(result.data_hash)}</p>')


def _citation(result: IdentifiedModel) -> str:
    held_out = '' if result.validation is None else (
        f' The relative torque error is {percent(result.validation.relative_error_percent)} on '
        f'held-out motion ({escape(result.validation.source)}).')
    return (
        f'{len(result.theta)} base parameters of the {escape(result.arm.name)} were identified '
        f'with dynid_ros {escape(__version__)} from {significant(result.seconds)} s of motion '
        f'({escape(", ".join(result.sources))}) by weighted least squares after a low-pass filter '
        f'of {result.treatment.cutoff_hz:.4g} Hz.{held_out} Intervals are at 95 %, from a '
        'covariance after Newey and West.')


STYLE = """
:root {
  color-scheme: light dark;
  --page: #ffffff; --ink: #1c2024; --soft: #5b6470; --grid: #d9dde2; --panel: #f5f6f8;
  --measured: #a9b2bd; --predicted: #0b5cad; --residual: #b8500b;
  --good: #1a6e3c; --bad: #a8201a; --warn: #8a5a00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #14171a; --ink: #e4e7ea; --soft: #9aa4af; --grid: #363c43; --panel: #1d2125;
    --measured: #66707b; --predicted: #6db3ff; --residual: #f29b5c;
    --good: #6fcf97; --bad: #ff8b85; --warn: #e5b95c;
  }
}
@media print {
  :root {
    color-scheme: light;
    --page: #ffffff; --ink: #000000; --soft: #444444; --grid: #cccccc; --panel: #f5f6f8;
    --measured: #a9b2bd; --predicted: #0b5cad; --residual: #b8500b;
    --good: #1a6e3c; --bad: #a8201a; --warn: #8a5a00;
  }
  body { font-size: 10pt; }
  figure, tr, .figures { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
  details::details-content { content-visibility: visible; height: auto; }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 72rem; background: var(--page);
  color: var(--ink); font: 16px/1.5 system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif;
}
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0.2rem 0 0.5rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 0.4rem; padding-top: 0.8rem;
     border-top: 1px solid var(--grid); }
h3 { font-size: 1rem; margin: 1.4rem 0 0.2rem; }
p, li, summary, blockquote { max-width: 46rem; }
p { margin: 0.4rem 0 0.8rem; }
.soft, figcaption { color: var(--soft); }
.verdict { border-left: 5px solid var(--good); padding-left: 1rem; }
.verdict.bad { border-color: var(--bad); }
.verdict .lead { font-size: 1.1rem; }
.figures-of { display: grid; gap: 0.7rem; margin: 1.4rem 0 0; padding: 0;
  grid-template-columns: repeat(4, 1fr); }
@media (max-width: 56rem) { .figures-of { grid-template-columns: repeat(2, 1fr); } }
.figures-of div { background: var(--panel); border-radius: 4px; padding: 0.5rem 0.8rem; }
.figures-of dt { color: var(--soft); font-size: 0.82rem; line-height: 1.3; }
.figures-of dd { margin: 0.15rem 0 0; font-size: 1.1rem; font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere; line-height: 1.3; }
.figures-of + p { margin-top: 0.9rem; font-size: 0.9rem; }
.message { min-width: 17rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums;
  margin: 0.5rem 0 0.3rem; }
th, td { padding: 0.22rem 0.7rem; text-align: left; border-bottom: 1px solid var(--grid);
  vertical-align: baseline; }
th { font-weight: 600; }
thead th { color: var(--soft); font-size: 0.82rem; line-height: 1.25; vertical-align: bottom; }
td.number, th.number { text-align: right; white-space: nowrap; }
th.apart, td.apart { border-left: 1px solid var(--grid); }
tr.total td, tr.total th { border-top: 2px solid var(--grid); font-weight: 600; }
tr.joint th { padding-top: 0.9rem; }
tr.chosen td { font-weight: 600; }
tr.faint td { color: var(--soft); }
.parameters td { white-space: nowrap; }
.parameters td:nth-child(4) { vertical-align: middle; }
.parameters svg { display: block; width: 11rem; height: 0.9rem; }
.bar { fill: var(--predicted); opacity: 0.45; }
.faint .bar { fill: var(--residual); }
.dot { fill: var(--ink); }
.zero { stroke: var(--soft); stroke-width: 1; }
.tag { border: 1px solid currentColor; border-radius: 3px; padding: 0 0.3rem;
  font-size: 0.75rem; white-space: nowrap; }
.error { color: var(--bad); } .warning { color: var(--warn); } .info { color: var(--soft); }
.figures { display: grid; gap: 0.3rem 1.2rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); }
.figures.small { grid-template-columns: repeat(auto-fill, minmax(min(100%, 20rem), 1fr)); }
figure { margin: 0; max-width: 40rem; }
figure svg { display: block; width: 100%; height: auto; }
figure svg text { font-family: inherit !important; }
figcaption { font-size: 0.85rem; }
.legend span { white-space: nowrap; margin-right: 1.1rem; font-size: 0.9rem; }
.legend i { display: inline-block; width: 1.6rem; margin-right: 0.4rem; vertical-align: middle;
  border-top: 2px solid; }
.legend .measured { border-color: var(--measured); border-top-width: 4px; }
.legend .predicted { border-color: var(--predicted); }
.legend .residual { border-color: var(--residual); }
.legend .cutoff { border-color: var(--soft); border-top-style: dashed; }
@media (max-width: 40rem) {
  th, td { padding: 0.22rem 0.4rem; }
  .parameters svg { width: 5.5rem; }
}
details { margin: 0.8rem 0; }
summary { cursor: pointer; font-weight: 600; }
code, pre { font: 0.87rem/1.5 ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; }
pre { background: var(--panel); padding: 0.7rem 0.9rem; overflow-x: auto; border-radius: 4px; }
.groupings li { max-width: none; }
blockquote { margin: 0.4rem 0 1rem; padding-left: 1rem; border-left: 3px solid var(--grid); }
.hash { overflow-wrap: anywhere; }
"""
