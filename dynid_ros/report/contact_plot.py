"""External torque over time with its thresholds, joint by joint."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid_ros.report.curves import thinned
from dynid_ros.report.plots import drawn

Array = NDArray[np.float64]

#: Width of the picture and height of the panel of a joint, inches.
WIDTH, PANEL = 9.0, 1.4
#: The largest torque, and so many times the usual threshold, fit into a panel.
HEADROOM, THRESHOLDS = 1.1, 1.5


def contact_svg(
    names: Sequence[str], units: Sequence[str], t: Array, torque: Array, threshold: Array,
    contact: NDArray[np.bool_],
) -> bytes:
    """
    Draw external torque, the band within which it is hardly a contact, and the contacts.

    Parameters
    ----------
    names, units : sequence of str
        Of the n joints and their torques.
    t : (M,) ndarray
        Time, s.
    torque, threshold : (M, n) ndarray
        External torque and its threshold, Nm; infinite thresholds are left out.
    contact : (M, n) ndarray of bool
        Joints that felt a contact.

    Returns
    -------
    bytes
        Content of an SVG.

    """
    from matplotlib.figure import Figure

    n = len(names)
    figure = Figure(figsize=(WIDTH, 0.6 + PANEL * n), layout='constrained')
    panels = figure.subplots(n, 1, squeeze=False, sharex=True).ravel()
    threshold = np.where(np.isfinite(threshold), threshold, np.nan)
    for j, axes in enumerate(panels):
        band = thinned(t, threshold[:, j])
        axes.fill_between(
            band[0], -band[1], band[1], alpha=0.2, linewidth=0, label='no contact')
        axes.plot(*thinned(t, torque[:, j]), linewidth=0.9, label='external torque')
        for start, stop in _spans(contact[:, j]):
            axes.axvspan(t[start], t[stop], color='tab:red', alpha=0.25, linewidth=0)
        usual = np.nanmedian(threshold[:, j]) if np.isfinite(threshold[:, j]).any() else 0.0
        reach = max(THRESHOLDS * usual, HEADROOM * float(np.abs(torque[:, j]).max()),
                    np.finfo(float).tiny)
        axes.set_ylim(-reach, reach)
        axes.set_ylabel(f'{names[j]}, {units[j]}', fontsize=7)
        axes.tick_params(labelsize=7)
        axes.grid(alpha=0.3)
    panels[0].legend(loc='upper right', fontsize=7, ncols=2)
    panels[-1].set_xlabel('time, s', fontsize=8)
    return drawn(figure, 'svg', 100)


def _spans(contact: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last sample of each contact of one joint."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], contact.astype(np.int8), [0]])))
    return [(int(start), int(stop) - 1) for start, stop in edges.reshape(-1, 2)]
