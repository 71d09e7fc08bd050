# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Friction terms as expressions of Python and C, for exported code."""

#: Python, of the speeds qd, the history and the load of the joints, and C, of speed, sign, warmth,
#: bend and load of one joint, where names in braces are replaced by numbers.
FRICTION_CODE = {
    'viscous': ('qd', 'v'),
    'coulomb': ('np.sign(qd)', 'sign'),
    'offset': ('np.ones_like(qd)', '1'),
    'coulomb_smooth': ('np.tanh(qd / SMOOTH_SPEED)', 'tanh(v / {smooth!r})'),
    'sign_10': ('np.tanh(qd / 0.01)', 'tanh(v / 0.01)'),
    'sign_100': ('np.tanh(qd / 0.1)', 'tanh(v / 0.1)'),
    'sign_1000': ('np.tanh(qd)', 'tanh(v)'),
    'stribeck': ('np.tanh(qd / SMOOTH_SPEED) * np.exp(-np.abs(qd) / STRIBECK_SPEED)',
                 'tanh(v / {smooth!r}) * exp(-fabs(v) / {stribeck!r})'),
    'viscous_cuberoot': ('np.cbrt(qd)', 'cbrt(v)'),
    'viscous_warm': ('warmth * qd', 'warm * v'),
    'presliding': (
        'np.sign(qd) if presliding is None else np.asarray(presliding, dtype=float)', 'bent'),
    'load': ('np.abs(rigid_torque(q, 0 * q, 0 * q)) * np.tanh(qd / SMOOTH_SPEED)',
             'fabs(load[j]) * tanh(v / {smooth!r})'),
}
