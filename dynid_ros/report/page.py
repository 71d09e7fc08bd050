"""The report of an identification: one self-contained HTML file."""

from __future__ import annotations

from html import escape
from pathlib import Path

from dynid_ros import __version__
from dynid_ros.model.identified_model import IdentifiedModel
from dynid_ros.report import sections
from dynid_ros.report.numbers import percent, significant
from dynid_ros.report.sections import spectrum_section, torque_section
from dynid_ros.report.style import STYLE
from dynid_ros.report.tables import joint_table
from dynid_ros.storage.whole_file import write_whole


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
    folder = path.absolute().parent.name
    write_whole(path, _page(result, folder).encode())


def _page(result: IdentifiedModel, folder: str) -> str:
    parts = [
        ('joints', 'Prediction error of each joint', _joints(result)),
        ('torque', 'Measured and predicted torque', torque_section(result)),
        ('spectra', 'Residual spectra', spectrum_section(result)),
        ('parameters', 'Base parameters', sections.parameters(result)),
        ('friction', 'Friction terms', sections.friction(result)),
        ('treatment', 'Signal conditioning', sections.treatment(result)),
        ('defects', 'Defects of the recordings', sections.defects(result.defects)),
        ('timing', 'Computing time', sections.timing(result.timing)),
        ('use', 'Using and citing this result', _use(result, folder)),
    ]
    body = ''.join(f'<section id="{anchor}"><h2>{title}</h2>{content}</section>'
                   for anchor, title, content in parts)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{escape(result.arm.name)}: identified dynamics</title>'
        f'<style>{STYLE}</style></head><body>'
        f'{sections.headline(result)}{sections.key_figures(result)}{body}</body></html>\n')


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
