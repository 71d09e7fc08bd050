# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The way of a joint state to an estimate has the classes that its page lists, and no others."""

import re
import sys

import numpy as np
from sensor_msgs.msg import JointState

from dynid_ros.arm import load_arm
from dynid_ros.estimation import online
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier
from dynid_ros.ros.nodes.common.joint_state_reader import JointStateReader
from dynid_ros.ros.nodes.common.lockstep import time_message

ROOMS = ('dynid_ros.data.streaming.', 'dynid_ros.estimation.online.', 'dynid_ros.ros.nodes.')


def test_classes_between_a_state_and_its_estimate_are_those_of_the_page():
    arm = load_arm('two_axis')
    reader, session = JointStateReader(arm), OnlineIdentifier(arm, cutoff_hz=5.0)
    entered = {}

    def note(frame, event, _):
        owner = frame.f_locals.get('self')
        if event == 'call' and owner is not None:
            name = frame.f_code.co_name
            kind = next((k for k in type(owner).__mro__ if name in vars(k)), type(owner))
            if kind.__module__.startswith(ROOMS):
                entered.setdefault(kind.__name__)

    sys.setprofile(note)
    try:
        for t in np.arange(0.0, 5.0, 0.01):
            message = JointState(name=arm.joint_names, position=np.sin([t, 1.3 * t]).tolist(),
                                 effort=np.cos([2.0 * t, 1.7 * t]).tolist())
            message.header.stamp = time_message(round(1e9 * (t + 1.0)))
            reader.add(message)
            if len(reader) >= 50:
                session.push_ns(*reader.take())
        assert session.estimate().determined.any()
    finally:
        sys.setprofile(None)
    listed = re.findall(r'^\d+\. `(\w+)`', online.__doc__, re.MULTILINE)
    assert len(listed) == 9
    # The first one needs a node, as does the last one.
    assert [name for name in entered if name in listed] == listed[1:-1]
    assert entered.keys() <= set(re.findall(r'`(\w+)`', online.__doc__))
