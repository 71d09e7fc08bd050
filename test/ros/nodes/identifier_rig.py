# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What tests of the identifier share."""

from functools import cache

from control_msgs.msg import DynamicJointState
from estimates import without_suspects
import numpy as np
from std_srvs.srv import Trigger
from synthetic_recordings import followed

from dynid_ros.arm import load_arm
from dynid_ros.estimation.online.replay import replay
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER
from dynid_ros.motion.excitation.random_motion import random_motion
from dynid_ros.ros.nodes.common.estimate_messages import numbers_of
from dynid_ros.ros.nodes.common.qos import LATCHED

ARM = 'two_axis'


@cache
def recording(seconds=12.0, rate_hz=125.0):
    arm = load_arm(ARM)
    log = followed(arm, random_motion(arm, 3, tries=20, periods=2), rate_hz, seed=3)
    return log.part(0, int(np.searchsorted(log.t, seconds)))


def replayed(log):
    """Return what a replay finds, for tests that compare no verdict."""
    with without_suspects():
        return replay(load_arm(ARM), log, cutoff_hz=5.0)[0]


def ready(start, talker, arm=ARM, **parameters):
    """Start the node and wait until it listens."""
    process = start('identifier', arm=arm, report_rate=10.0, cutoff_hz=5.0, delay=0.0,
                    **parameters)
    publisher = talker.states()
    talker.until(lambda: publisher.get_subscription_count() > 0, 'the identifier')
    return process, publisher


def summaries(talker, *topics):
    """Return lists of what the identifier says of its session, and of further numbers."""
    heard = [talker.listen(DynamicJointState, f'/identifier/{name}', LATCHED)
             for name in ('summary', *topics)]
    return heard if topics else heard[0]


def learned(talker, summary, samples):
    """Wait until a session holds all samples but those of a block that is not full."""
    talker.until(lambda: summary and numbers_of(
        summary[-1])[1]['samples'][0] > samples - PROCESSED_TOGETHER, f'{samples} samples')


def part(log, chosen):
    return log.joint_names, log.t[chosen], log.q[chosen], log.u[chosen]


def counted(heard, key):
    """Find what the diagnostics say of a count, newest last."""
    return [float(v.value) for m in heard for s in m.status for v in s.values if v.key == key]


def save_after(talker, samples):
    """Save once all samples have arrived."""
    def all_there():
        answer = talker.call(Trigger, '/identifier/save')
        if not answer.message.startswith(f'{samples} samples'):
            # Who saves takes in nothing meanwhile.
            talker.spin(0.2)
        return answer.message.startswith(f'{samples} samples')

    talker.until(all_there, f'{samples} samples')
