# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""What is compiled before the first message is all that a stream and its verdict need."""

from dataclasses import replace
import subprocess
import sys

import numpy as np
from ros.nodes.identifier_rig import recording

from dynid_ros.arm.load import load_arm
from dynid_ros.ros.nodes.warm_up import compile_kernels

# In a process of its own: in this one, other tests have loaded kernels.
SESSION = """
import sys
import time

from numba.core.caching import FunctionCache
import numpy as np

from dynid_ros.arm.load import load_arm
from dynid_ros.applications.export.urdf import robot_description
from dynid_ros.ros.nodes.warm_up import load_stream_kernels, load_verdict
from dynid_ros.estimation.online.live_verdict import Judge
from dynid_ros.estimation.online.online_identifier import OnlineIdentifier

arm, log = load_arm('two_axis'), np.load(sys.argv[1])
t, q, effort = log['t'], log['q'], log['u']
load_stream_kernels(arm, print)
load_verdict()

load, loaded = FunctionCache.load_overload, []

def noted(cache, *arguments):
    loaded.append(cache._name)
    return load(cache, *arguments)

FunctionCache.load_overload = noted
searched = OnlineIdentifier(arm)
searched.push(t, q, effort)
assert not searched.holding
for u in (effort, -effort):
    online = OnlineIdentifier(arm, cutoff_hz=5.0, delay=0.0)
    online.push(t, q, u)
    judge = Judge(online, robot_description('two_axis'))
    while (found := judge.update()) is None:
        time.sleep(0.01)
    judge.stop()
    print(found.verdict.trustworthy, [finding.code for finding in found.verdict.findings])
print('scipy.signal' in sys.modules)
print(*sorted(loaded))
"""


def test_a_live_session_and_its_verdict_load_no_kernel_after_the_warm_up(tmp_path):
    log, path = recording(seconds=22.0), tmp_path / 'log.npz'
    np.savez(path, t=log.t, q=log.q, u=log.u)
    printed = subprocess.run([sys.executable, '-c', SESSION, str(path)], check=True, text=True,
                             stdout=subprocess.PIPE).stdout
    good, reversed_, slow, loaded = printed.splitlines()[-4:]
    assert good == 'True []'
    assert reversed_.startswith('False')
    assert loaded == ''
    # Its import takes longer than all kernels.
    assert slow == 'False'


def test_an_arm_without_inertias_is_warmed_up_with_plausible_ones():
    said = []
    compile_kernels(replace(load_arm('two_axis'), inertial=None), said.append)
    assert not any('inertias' in text for text in said)
