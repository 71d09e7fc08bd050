"""Small charts of many series: bands of estimates that converge, and prediction errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.estimation.model.friction_curve import INTERVAL
from dynid_ros.pages.view.charts import points, polylines, runs
from dynid_ros.pages.watch.markup import BLUE, GREY, NAME, number, words
from dynid_ros.utilities.arrays import Array

#: Size of a chart of an estimate, and of the error of a joint, pixels.
TILE_W, TILE_H = 120, 34
STRIP_W, STRIP_H = 330, 40
#: Part of the series that decides on the scale: bands are wide before anything is known.
SETTLED = 0.6
#: Relative width of a band from which on it is drawn in colour.
NARROW = 0.5


def estimate_tiles(
    names: Sequence[str], t: Array, theta: Array, std: Array, from_data: NDArray[np.bool_],
) -> str:
    """
    Draw each estimate over time in its 95 % band.

    Parameters
    ----------
    names : sequence of str
        Of b parameters.
    t : (k,) ndarray
        s.
    theta, std : (k, b) ndarray
        Estimates and standard deviations.
    from_data : (b,) ndarray of bool
        Which estimates the data determine now; the prior determines the others.

    """
    if len(t) < 2:
        return _note('the first estimates come after some seconds of motion')
    tiles = [_tile(name, t, theta[:, j], std[:, j], bool(from_data[j]))
             for j, name in enumerate(names)]
    return (f'<div style="display:grid;grid-template-columns:repeat(auto-fill,minmax({TILE_W}px,'
            f'1fr));gap:6px 10px;padding:6px 12px">{"".join(tiles)}</div>')


def _tile(name: str, t: Array, theta: Array, std: Array, from_data: bool) -> str:
    # Messages of others may hold anything.
    half = np.where(np.isfinite(std), INTERVAL * std, np.nan)
    colour = BLUE if from_data and half[-1] < NARROW * abs(theta[-1]) else GREY
    value = f'{number(theta[-1])} ± {number(half[-1])}{"" if from_data else ", prior"}'
    return (
        f'<div title="{words(name, 200)}" style="font-size:11px;line-height:1.25;min-width:0">'
        '<div style="overflow:hidden;text-overflow:ellipsis;white-space:nowrap;font-weight:600">'
        f'{words(name, NAME)}</div>'
        f'<svg viewBox="0 0 {TILE_W} {TILE_H}" width="100%" height="{TILE_H}" '
        f'preserveAspectRatio="none" style="background:#f1f3f5;display:block">'
        f'{_band(t, theta, half, colour)}</svg>'
        f'<div style="color:{colour}">{value}</div></div>')


def _band(t: Array, theta: Array, half: Array, colour: str) -> str:
    late = slice(int(SETTLED * len(t)), None)
    reach = np.abs(theta - theta[-1]) + half
    late_reach = reach[late][np.isfinite(reach[late])]
    if not len(late_reach) or t[-1] <= t[0]:
        return ''
    scale = 0.45 * TILE_H / max(float(late_reach.max()), 1e-12)
    x = TILE_W * (t - t[0]) / (t[-1] - t[0])

    def height(values: Array) -> Array:
        return np.asarray(np.clip(TILE_H / 2 - scale * (values - theta[-1]), -TILE_H, 2 * TILE_H))

    upper, lower = height(theta + half), height(theta - half)
    bands = ''.join(
        f'<polygon points="{points(x[part], upper[part])} '
        f'{points(x[part][::-1], lower[part][::-1])}"/>' for part in runs(half))
    middle = polylines(x, height(np.where(np.isfinite(half), theta, np.nan)))
    return (f'<g fill="{colour}" fill-opacity="0.22">{bands}</g>'
            f'<g fill="none" stroke="{colour}" stroke-width="1.4">{middle}</g>')


def error_strips(
    names: Sequence[str], units: Sequence[str], t: Array, errors: Array,
    percent: Mapping[str, float],
) -> str:
    """
    Draw the torque of each joint minus its prediction before it was used.

    Parameters
    ----------
    names, units : sequence of str
        Of n joints.
    t : (k,) ndarray
        s.
    errors : (k, n) ndarray
        Nm or N; NaN where nothing was predicted.
    percent : dict of str to float
        Errors as a share of the torque, percent.

    """
    if len(t) < 2:
        return _note('predictions begin with the motion')
    strips = [
        _strip(name, unit, t, errors[:, j], percent.get(name, np.nan))
        for j, (name, unit) in enumerate(zip(names, units, strict=True))]
    return (f'<div style="padding:2px 12px 8px">{"".join(strips)}'
            f'<div style="color:{GREY};font-size:11px;text-align:right">the last '
            f'{t[-1] - t[0]:.0f} s</div></div>')


def _strip(name: str, unit: str, t: Array, error: Array, percent: float) -> str:
    # Predictions before anything is known, and outliers, leave the picture, not the rest flat.
    late = error[len(error) // 2:]
    there = late[np.isfinite(late)]
    reach = max(float(np.quantile(np.abs(there), 0.98)) if len(there) else 0.0, 1e-9)
    x = STRIP_W * (t - t[0]) / max(t[-1] - t[0], 1e-9)
    y = np.clip(STRIP_H / 2 - 0.42 * STRIP_H * error / reach, 0, STRIP_H)
    share = f'{percent:.1f} %' if np.isfinite(percent) else ''
    return (
        '<div style="display:flex;justify-content:space-between;font-size:11px">'
        f'<b>{words(name, NAME)}</b><span>{share} <span style="color:{GREY}">'
        f'± {number(reach)} {unit}</span></span></div>'
        f'<svg viewBox="0 0 {STRIP_W} {STRIP_H}" width="100%" height="{STRIP_H}" '
        'preserveAspectRatio="none" style="background:#f1f3f5;display:block;margin-bottom:3px">'
        f'<line x1="0" x2="{STRIP_W}" y1="{STRIP_H / 2}" y2="{STRIP_H / 2}" stroke="#ced4da"/>'
        f'<g fill="none" stroke="{BLUE}" stroke-width="1">{polylines(x, y)}</g></svg>')


def _note(text: str) -> str:
    return f'<div style="color:{GREY};padding:6px 12px;font-size:13px">{text}</div>'
