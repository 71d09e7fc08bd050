"""A track as one HTML file: the animation of viser, and beside it charts of our own."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dynid_ros.view.charts import (
    Chart,
    COLORS,
    points,
    runs,
    thinned,
    torque_charts,
    track_charts,
)
from dynid_ros.view.inertia_ellipsoids import ellipsoid_table
from dynid_ros.view.player import MARKS
from dynid_ros.view.stage import Content, Stage

if TYPE_CHECKING:
    import viser

Array = NDArray[np.float64]

#: Size of a chart in its own units, and of those that are drawn of its height for labels.
WIDE, HIGH = 600.0, 120.0
#: What the page may load: nothing but itself.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval' blob: data:; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; worker-src blob: data:; "
    'connect-src data: blob:; frame-src about:')


def exported_page(server: viser.ViserServer, stage: Stage) -> bytes:
    """
    Make a self-contained page of a stage.

    Parameters
    ----------
    server : viser.ViserServer
        Its server.
    stage : Stage
        The stage; it is left at the end of the track.

    Returns
    -------
    bytes
        HTML that needs no network.

    """
    content, t = stage.content, stage.content.track.t
    stage.show(0.0)
    serializer = server.get_scene_serializer()
    for before, now in pairwise(t):
        serializer.insert_sleep(float(now - before))
        stage.show(float(now))
    title = escape(content.track.title)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<title>{title}</title><style>{STYLE}</style></head><body>'
        f'<iframe title="animation of {title}" srcdoc="{escape(serializer.as_html())}"></iframe>'
        f'<main><h1>{title}</h1>{"".join(_beside(content))}</main></body></html>\n').encode()


def _beside(content: Content) -> Iterator[str]:
    """HTML beside the animation."""
    track = content.track
    for note in content.notes:
        yield f'<p class="soft">{escape(note)}</p>'
    if track.moments:
        yield '<h2>Moments</h2><ul>'
        for moment in track.moments:
            yield (f'<li><b>{MARKS[moment.kind]} {moment.t:.2f} s</b> '
                   f'{escape(moment.text)}</li>')
        yield '</ul>'
    if content.links:
        yield '<h2>Links as ellipsoids of their inertia</h2>' + ellipsoid_table(content.links)
    yield '<h2>Over time</h2><p class="legend">' + ' '.join(
        f'<span><i style="background:{COLORS[k % len(COLORS)]}"></i>{escape(name)}</span>'
        for k, name in enumerate(track.arm.joint_names)) + '</p>'
    yield '<p class="soft">Dashed: limits.</p>'
    for chart in track_charts(track, content.pair, content.around.clearance):
        yield _drawing(chart, track.t)
    compared = torque_charts(track)
    if compared:
        yield '<h2>Measured and predicted torque</h2><p class="legend">' + ' '.join(
            f'<span><i style="background:{color}"></i>{name}</span>'
            for name, _, color in compared[0].curves) + '</p>'
    for chart in compared:
        yield _drawing(chart, track.t)


def _drawing(chart: Chart, t: Array) -> str:
    """Draw a chart."""
    def height(values: Array) -> Array:
        return np.asarray(HIGH * (chart.high - values) / (chart.high - chart.low))

    kept = thinned(t)
    x = WIDE * t[kept] / t[-1]
    lines = ''.join(
        f'<path class="limit" d="M0 {height(np.array(limit)):.1f}H{WIDE:g}"/>'
        for limit in chart.limits)
    curves = ''.join(
        f'<polyline points="{points(x[part], height(values[kept][part]))}" stroke="{color}">'
        f'<title>{escape(name)}</title></polyline>'
        for name, values, color in chart.curves for part in runs(values[kept]))
    title = escape(chart.title)
    return (
        f'<figure><figcaption>{title}<span>{chart.low:.3g} to {chart.high:.3g}; '
        f'0 to {t[-1]:.3g} s</span></figcaption><svg role="img" '
        f'aria-label="{title} over time" viewBox="0 0 {WIDE:g} {HIGH:g}" '
        f'preserveAspectRatio="none">{lines}{curves}</svg></figure>')


STYLE = """
:root { color-scheme: light; --page: #fff; --ink: #1c2024; --soft: #5b6470; --grid: #d9dde2;
  --bound: #d0342c; }
* { box-sizing: border-box; }
body { margin: 0; display: grid; grid-template-columns: 1fr minmax(24rem, 34rem); height: 100vh;
  background: var(--page); color: var(--ink);
  font: 15px/1.45 system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }
iframe { border: 0; width: 100%; height: 100%; }
main { overflow-y: auto; padding: 0.8rem 1rem 3rem; border-left: 1px solid var(--grid); }
h1 { font-size: 1.2rem; margin: 0.2rem 0; overflow-wrap: anywhere; }
h2 { font-size: 1rem; margin: 1.2rem 0 0.3rem; }
.soft, figcaption span { color: var(--soft); font-size: 0.85em; }
ul { list-style: none; padding: 0; margin: 0; }
li { margin: 0.2rem 0; font-size: 0.9em; overflow-wrap: anywhere; }
.legend { font-size: 0.85em; margin: 0.2rem 0; }
.legend span { display: inline-block; margin-right: 0.8rem; overflow-wrap: anywhere; }
.legend i { display: inline-block; width: 1rem; height: 0.25rem; margin-right: 0.3rem;
  vertical-align: middle; }
figure { margin: 0.7rem 0; }
figcaption { display: flex; justify-content: space-between; gap: 1rem; font-size: 0.9em; }
svg { display: block; width: 100%; height: 7rem; border: 1px solid var(--grid); }
path, polyline { fill: none; stroke-width: 1.6; vector-effect: non-scaling-stroke; }
.limit { stroke: var(--bound); stroke-dasharray: 6 4; stroke-width: 1; }
table { border-collapse: collapse; font-size: 0.82em; }
td, th { padding: 0.15rem 0.5rem; text-align: left; border-bottom: 1px solid var(--grid);
  vertical-align: baseline; overflow-wrap: anywhere; }
@media (max-width: 56rem) {
  body { display: block; height: auto; }
  iframe { height: 60vh; position: sticky; top: 0; z-index: 2; }
  main { border: 0; }
}
"""
