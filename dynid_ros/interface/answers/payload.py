# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Answer for a load: a table, and messages for controllers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from dynid_ros.applications.export.payload_messages import (
    flow_yaml,
    franka_desk,
    franka_request,
    kuka_load,
    libfranka,
    payload_as_dict,
    ur_flat_request,
    ur_inertia_request,
    ur_request,
    urdf_fragment,
    urscript,
)
from dynid_ros.applications.payload.body import LoadBody
from dynid_ros.applications.payload.estimate import Payload
from dynid_ros.arm.parameters import torque_units
from dynid_ros.estimation.estimate.covariance import INTERVAL
from dynid_ros.estimation.model.verdict_words import finding_sentences
from dynid_ros.interface.answers.answer import Answer
from dynid_ros.utilities.text import columns, plain, sentence, several, within


def payload_answer(
    found: Payload, where: str = 'the tool of arm.yaml', wrote: Sequence[object] = (),
) -> Answer:
    """State a load, the torque error with it, and the messages for controllers."""
    return Answer(
        payload_as_dict(found), found.headline, int(not found.trustworthy), _table(found),
        payload_notes(found, where), wrote=wrote, details=[
            *columns(_errors(found)), *(message_lines(found) if found.ready else [])])


def _table(found: Payload) -> list[list[str]]:
    """Mass, centre and inertia with 95 % intervals; none without a load."""
    return [['', 'value', '95 %'], *body_rows(found.body)] if found.present else []


def body_rows(body: LoadBody) -> list[list[str]]:
    """List mass, centre and inertia with 95 % intervals."""
    known = body.from_data
    rows = [_row('mass', body.mass, body.mass_std, 'kg', 3, True)]
    rows += [_row(f'centre {axis}', 1e3 * value, 1e3 * std, 'mm', 1, bool(own))
             for axis, value, std, own in zip(
                 'xyz', body.center, body.center_std, known[1:4], strict=True)]
    rows += [_row(f'I{"xyz"[i]}{"xyz"[j]} about centre', body.inertia[i, j],
                  body.inertia_std[i, j], 'kg m²', 5, bool(own))
             for i, j, own in zip(*np.triu_indices(3), known[4:], strict=True)]
    return rows


def _row(name: str, value: float, std: float, unit: str, digits: int, known: bool) -> list[str]:
    return [name, f'{round(value, digits) + 0.0:.{digits}f} {unit}',
            f'± {INTERVAL * std:.{digits}f}{"" if known else ", not determined"}']


def payload_notes(found: Payload, where: str) -> Iterator[str]:
    """List what a user of a load should know besides, in the order of its weight."""
    yield from map(finding_sentences, found.findings[1:])
    if found.present:
        yield (f'The frame is that of {where}, fixed to the link of {found.carrier}; the load '
               f'follows from {_rows(found)}.')
        signal = found.model.arm.drive.signal
        if signal != 'effort':
            yield (f'The intervals take the gains of the {signal} as exact: gains that are wrong '
                   'alike make the mass wrong by the same factor; a known load gives them, see '
                   '"dynid gains --help".')
    if found.gain is not None and found.trustworthy:
        what, unit, before, after = found.gain
        given = several(name for name, value in (
            ('mass', found.known.mass), ('centre', found.known.center)) if value is not None)
        scale, unit = (1e3, 'mm') if unit == 'm' else (1.0, unit)
        yield (f'The known {given} shrinks the 95 % interval of the {what} by a factor of '
               f'{before / after:.2g}, from ± {plain(scale * before, 2)} to '
               f'± {plain(scale * after, 2, unit)}.')
    if found.repeats:
        yield 'Each recording alone, in the order of time: ' + '; '.join(
            f'{each.source} {"with" if each.loaded else "without"} the load {each.stated}'
            for each in found.repeats) + '.'
    # An interval that is wider than the mass agrees with any load.
    mass = found.mass[0]
    yield from (f'For comparison: {within(value, INTERVAL * std, "kg")} from {method}.'
                for method, (value, std) in found.masses.items()
                if method != found.method and found.present and INTERVAL * std < mass)
    yield from map(sentence, found.remarks)
    if found.ready:
        yield f'URScript, if this frame is the tool flange: {urscript(found.body)}'


def _rows(found: Payload) -> str:
    if found.method == 'rests':
        both = found.rests.both_directions
        names = [name for name, known in zip(
            found.model.arm.joint_names, both, strict=True) if not known]
        missing = '' if not names else f', {", ".join(names)} from one direction only'
        return f'{len(found.rests.q)} rests{missing}'
    return f'{found.samples} rows of motion'


def _errors(found: Payload) -> list[list[str]]:
    """Torque error joint by joint, without and with the load."""
    arm, evidence = found.model.arm, found.evidence
    rows = zip(arm.joint_names, torque_units(arm), evidence.before, evidence.after, strict=True)
    return [['torque error', 'without', 'with load'], *(
        [name, plain(before, 4, unit), plain(after, 4, unit)]
        for name, unit, before, after in rows)]


def message_lines(found: Payload) -> Iterator[str]:
    """List what the interfaces of the makers and a URDF take."""
    body = found.body
    yield ('Ready to send, if this frame is the flange of the maker: all centres are in it, and '
           'all inertias about the centre of mass along its axes.')
    yield 'Universal Robots (kg, m, kg m², s; the frame is the tool flange):'
    yield f'URScript of controllers since 5.10: {urscript(body)}'
    for version, request in (('before 2.5, without inertia', ur_request(body)),
                             ('2.5 and later, up to ROS 2 Kilted', ur_flat_request(body)),
                             ('3 and later, of ROS 2 Lyrical', ur_inertia_request(body))):
        yield (f'ur_msgs {version}: ros2 service call /io_and_status_controller/set_payload '
               f'ur_msgs/srv/SetPayload "{flow_yaml(request)}"')
    yield 'Franka (kg, m, kg m²; the frame is the flange F, not the hand):'
    yield f'franka_msgs/srv/SetLoad: {flow_yaml(franka_request(body))}'
    yield 'franka_msgs/SetLoad of ROS 1: ' + flow_yaml(franka_request(body, 'F_x_center_load'))
    yield f'libfranka: {libfranka(body)}'
    yield f'Desk, for what stays on the flange as its end effector: {franka_desk(body)}'
    yield 'KUKA (kg, mm, degrees, kg m²; the frame is $FLANGE; J about the axes of A, B, C):'
    yield kuka_load(body)
    yield 'URDF (kg, m, kg m²; the parent link is the one of that frame):'
    yield urdf_fragment(body)
