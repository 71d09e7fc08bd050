# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answers for motions: a designed one, and one with its torque filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from dynid_ros.arm.description.tree import joint_units
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.model.identified_model import IdentifiedModel
from dynid_ros.estimation.model.verdict_words import headline
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.motion.excitation.search import Design
from dynid_ros.motion.execution.feed_forward import extrapolation
from dynid_ros.motion.trajectory.trajectory_file import Trajectory
from dynid_ros.utilities.text import counted, plain, sentence


def design_answer(designed: Design, wrote: Sequence[Path]) -> Answer:
    """State length and condition number of a motion, and its margins to the limits."""
    arm, motion, notes = designed.arm, designed.motion, designed.notes
    return Answer(
        {'arm': arm.name, 'motion': wrote[0], **notes},
        f'A motion of {motion.duration:g} s for {arm.name}, within all limits at all times; '
        f'condition number {designed.condition_number:.1f}.', table=_margins(designed),
        notes=map(sentence, _notes(designed)), wrote=wrote, details=[
            f'{counted(motion.periods, "period")} of {motion.period:g} s, '
            f'{counted(motion.harmonics, "harmonic")}; {counted(designed.starts, "start")} in '
            f'{designed.seconds:.1f} s.', sentence(f'{notes["criterion"]}: {designed.score:.4g}')])


def _notes(designed: Design) -> Iterator[str]:
    arm, notes = designed.arm, designed.notes
    if 'validation' in notes:
        yield (f'Another motion of {notes["validation"]["seconds"]:.3g} s for validation follows, '
               f'{notes["validation"]["way_seconds"]:.1f} s on the way to it')
    if 'payload' in notes:
        expected = notes['payload']
        # What is known has no deviation.
        spread = [f'mass {expected["mass_std"]:.2g} kg'] if expected['mass_std'] else []
        if any(expected['center_std']):
            spread.append('centre ' + ', '.join(
                f'{1000 * value:.2g}' for value in expected['center_std']) + ' mm')
        noise = ('the noise of the model' if expected['noise_measured'] else
                 'residuals of 0.5 % of the effort limits, five independent ones a second '
                 '(--given MODEL takes the residuals of your arm)')
        yield (f'limits hold with {expected["mass"]:g} kg; its standard deviations to be '
               f'expected: {", ".join(spread) or "none, as nothing of it is open"}, with {noise}')
    if 'torque' not in notes['margins']:
        yield 'Torque is not checked: the arm has no effort limits'
    elif arm.inertial is None or not arm.inertial[:, 0].all():
        yield 'Links without inertias: torque is checked with cylinders from joint to joint'
    if not notes['margins']['clearance']:
        yield ('Collisions are not checked: the description has no collision shapes, and arm.yaml '
               'no "collision" capsules')
    if not designed.complete:
        yield f'The search took all of its --time, {designed.seconds:.1f} s; more may find better'
    if notes['pairs_not_checked']:
        yield f'Touch nearly everywhere, not checked: {", ".join(notes["pairs_not_checked"])}'
    yield from notes['notes']
    less, gaps = notes['less_clearance'], notes['hull_gaps']
    if less:
        yield (f'close neighbours keep less than {1000 * notes["clearance"]:g} mm: ' + ', '.join(
            f'{name} {1000 * value:.1f} mm' for name, value in less.items()))
    if gaps:
        widest = max(gaps, key=gaps.get)
        yield (f'convex hulls stand for {len(gaps)} meshes and reach at most '
               f'{1000 * gaps[widest]:.0f} mm beyond them ({widest})')


def _margins(designed: Design) -> list[list[str]]:
    """Least margin of each quantity and unit, as rad and m cannot be compared."""
    arm = designed.arm
    units = {'position': 'rad', 'velocity': 'rad/s', 'acceleration': 'rad/s²', 'torque': 'Nm'}
    rows = [['limit of', 'least margin', 'at']]
    for quantity, values in designed.notes['margins'].items():
        of_joint = dict(zip(
            arm.joint_names, joint_units(units.get(quantity, ''), arm.prismatic), strict=True))
        least: dict[str, str] = {}
        for name in sorted(values, key=values.get):
            least.setdefault(of_joint.get(name, 'm'), name)
        rows += [[quantity, plain(values[name], 3, unit), name] for unit, name in least.items()]
    return rows


def feedforward_answer(filled: Trajectory, model: IdentifiedModel, file: Path) -> Answer:
    """State the effort of a motion joint by joint; status 1 if the model is not trustworthy."""
    assert filled.effort is not None
    units = dict(zip(model.arm.joint_names, torque_units(model.arm), strict=True))
    keys = ('name', 'unit', 'least', 'largest', 'rms')
    joints = list(zip(
        filled.joint_names, map(units.__getitem__, filled.joint_names), filled.effort.min(axis=0),
        filled.effort.max(axis=0), np.sqrt(np.mean(filled.effort**2, axis=0)), strict=True))
    remarks, good = extrapolation(model, filled), model.verdict.trustworthy
    facts = {
        'file': file, 'points': len(filled.t), 'seconds': filled.t[-1],
        'joints': [dict(zip(keys, own, strict=True)) for own in joints],
        'extrapolation': remarks, 'trustworthy': good}
    return Answer(
        facts, f'{len(filled.t)} points in {filled.t[-1]:.3g} s have their effort'
        + (', by a model that is not trustworthy.' if not good else
           ', partly extrapolated.' if remarks else ', within the range of the recording.'),
        int(not good), [['joint', *keys[2:]], *(
            [name, *(plain(value, 3, unit) for value in values)]
            for name, unit, *values in joints)],
        [*([] if good else [headline(model)]),
         *(sentence(f'extrapolation: {remark}') for remark in remarks)], wrote=[file])
