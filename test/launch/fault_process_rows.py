# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Processes that are killed or come late, and what is left on the disk."""

from contextlib import suppress
from math import inf
import os
from pathlib import Path
import shutil
import signal
import subprocess

from ament_index_python.packages import get_package_prefix
from fault_answers import AT_ONCE, REPORTED
from fault_chain import ARM, motion, RATE
from fault_rows import COMMAND_TIMEOUT, ERROR, OK, Rows
import numpy as np
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import SetParameters

from dynid_ros.data.files.recording_reader import read_recording
from dynid_ros.dynamics.base import base_parameters
from dynid_ros.dynamics.rigid_parameters import nominal_parameters
from dynid_ros.estimation.online.row_pipeline import PROCESSED_TOGETHER
from dynid_ros.estimation.result_files.result_file import read_result

BAG, DISK = 'recorder: bag', 'disk full'


class ProcessRows(Rows):
    """The rest of the chain goes on."""

    def answered_after_kill(self, fault, since, name, words):
        # A process that is back late, on a busy machine, is not waited for.
        late = 'has vanished' in self.bench.printed()
        self.bench.answers.time(fault, since, name, words, inf if late else REPORTED)

    def test_01_publisher_of_a_trajectory_is_killed(self):
        self.bench.move('short')
        since = self.bench.now
        self.bench.kill(self.chain.short)
        self.bench.data_goes_on()
        self.bench.until_at_rest()
        # The time of the arm stood still until DDS gave the process up.
        self.bench.answers.time('publisher of a trajectory killed', since, 'simulated_arm',
                                '/short has vanished', AT_ONCE)
        # The whole way was one goal of the controller, to rest at its end.
        np.testing.assert_allclose(
            self.bench.states[-1].position, motion(0.5, 1).start, atol=5e-3)

    def test_04_publisher_of_torques_is_killed(self):
        self.bench.move('torque')
        since = self.bench.now
        self.bench.kill(self.chain.torque)
        self.bench.answers.time(
            'publisher of torques killed', since, 'simulated_arm',
            'no commands: the arm is held', COMMAND_TIMEOUT + AT_ONCE)
        self.bench.until_at_rest()
        self.bench.data_goes_on()

    def test_20_full_disk(self):
        if not self.chain.mounted:
            self.bench.answers.skip(DISK, 'may not mount a small tmpfs here')
        self.rides_through(self.fill_disk)

    def fill_disk(self):
        """Fill the disk; see what is said, that the bag can be read, and another be made."""
        bag = Path(self.bench.value(BAG, 'bag'))
        filler = self.chain.disk / 'filler'
        with suppress(OSError), filler.open('wb') as file:
            while True:
                file.write(bytes(65536))
        self.bench.answers.time(
            DISK, self.bench.now, BAG, 'the disk is full', REPORTED)
        self.bench.until_diagnosed(BAG, 'the disk is full', ERROR)
        self.bench.until_more('identifier: stream', 'samples')
        answer = self.bench.call('/recorder/stop')
        assert not answer.success and 'the disk is full' in answer.message, answer.message
        filler.unlink()
        assert len(read_recording(bag, ARM).t) > 2500
        assert self.bench.call('/recorder/start').success
        self.bench.until_diagnosed(BAG, 'recording', OK)

    def test_21_identifier_is_killed(self):
        self.rides_through(self.kill_identifier)
        samples_in(self.bench.call('/identifier/save'))
        result = read_result(self.chain.folder / 'result')
        true = base_parameters(ARM).grouping @ nominal_parameters(ARM)
        # Half a minute with the usual torque noise leaves a deviation of some 5 %.
        assert np.linalg.norm(result.theta - true) < 0.2 * np.linalg.norm(true)

    def kill_identifier(self):
        """Kill it and see that it goes on, and learns from what comes."""
        saved = samples_in(self.bench.call('/identifier/save'))
        since = self.bench.now
        self.bench.kill(self.chain.identifier)
        self.answered_after_kill(
            'identifier killed', since, 'identifier', f'resumed after {saved} samples')
        stream = 'identifier: stream'
        self.bench.until(lambda: self.bench.count(stream, 'messages') < saved, 'the new process')
        resumed = self.bench.answers.until('identifier', 'resumed after').time
        self.bench.answers.time('restart and resume', resumed, stream, r'samples \d+',
                                REPORTED + PROCESSED_TOGETHER / RATE, ('samples', saved))
        self.bench.until(lambda: self.bench.count(stream, 'samples') > saved + 2500, 'samples')

    def test_22_recorder_is_killed(self):
        old = self.bench.value(BAG, 'bag')
        self.rides_through(self.kill_recorder)
        bag = Path(old)
        self.bench.until((bag / 'metadata.yaml').exists, 'the end of the bag')
        whole = read_recording(bag, ARM)
        assert not {'bag_truncated', 'metadata_missing'} & {d.code for d in whole.defects}
        self.read_without_metadata(bag, len(whole.t))
        self.read_cut(bag, len(whole.t))

    def kill_recorder(self):
        """Kill it and see another bag."""
        old, since = self.bench.value(BAG, 'bag'), self.bench.now
        self.bench.kill(self.chain.recorder)
        self.bench.until(lambda: self.bench.value(BAG, 'bag') not in (old, ''), 'another bag')
        new = self.bench.value(BAG, 'bag')
        self.answered_after_kill('recorder killed', since, BAG,
                                 f'(recording|not yet subscribed to /joint_states); bag {new}')
        self.bench.until_diagnosed(BAG, 'recording', OK)

    def read_without_metadata(self, bag, count):
        """See that all can be read without metadata.yaml."""
        copy = self.chain.folder / 'without_metadata'
        shutil.copytree(bag, copy)
        (copy / 'metadata.yaml').unlink()
        read = read_recording(copy, ARM)
        (found,) = [d for d in read.defects if d.code == 'metadata_missing']
        assert len(read.t) == count
        said = 'has no metadata.yaml, as when its recorder was killed'
        assert said in found.message
        self.bench.answers.note('missing metadata', f'dynid: {said}', 'when it is read')

    def read_cut(self, bag, count):
        """See that all before the cut can be read."""
        copy = self.chain.folder / 'cut'
        shutil.copytree(bag, copy)
        (file,) = copy.glob('*.mcap')
        os.truncate(file, int(0.7 * file.stat().st_size))
        read = read_recording(copy, ARM)
        (found,) = [d for d in read.defects if d.code == 'bag_truncated']
        assert 0.5 * count < len(read.t) < 0.9 * count
        self.bench.answers.note('cut bag', f'dynid: {found.message}', 'when it is read')

    def test_23_monitor_is_killed(self):
        self.rides_through(self.kill_monitor)

    def kill_monitor(self):
        """Kill it and see that it comes back without its thresholds."""
        self.bench.until_diagnosed('monitor: contact', '^(no )?contact(:|$)', OK)
        since = self.bench.now
        self.bench.kill(self.chain.monitor)
        self.answered_after_kill(
            'monitor killed', since, 'monitor: contact', 'contact is not known yet')
        self.bench.until_diagnosed('monitor: contact', 'no contact', OK)

    def test_24_late_joiner(self):
        program = Path(get_package_prefix('dynid_ros'), 'lib', 'dynid_ros', 'identifier')
        late = subprocess.Popen(
            [program, '--ros-args', '-r', '__node:=late', '-p', 'arm:=panda',
             '-p', 'use_sim_time:=true', '-p', 'report_rate:=5.0'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

        def join():
            since = self.bench.answers.until('late', 'ready').time
            self.bench.answers.time_by_graph(
                'late joiner', since, 'late: stream', r'samples \d+', grown=('samples', 0))
            late.send_signal(signal.SIGINT)
            self.bench.until(lambda: late.poll() is not None, 'the end of the late joiner')
            assert late.returncode == 0

        try:
            self.rides_through(join)
        finally:
            late.kill()
            late.wait()

    def test_25_save_outside_its_folder(self):
        outside, link = (self.chain.folder / name for name in ('mine', 'result/result.yaml'))
        outside.write_text('mine')
        samples_in(self.bench.call('/identifier/save'))
        link.unlink()
        link.symlink_to(outside)
        since = self.bench.now
        value = ParameterValue(
            type=ParameterType.PARAMETER_STRING, string_value=str(self.chain.folder))
        (refused,) = self.bench.call('/identifier/set_parameters', SetParameters, parameters=[
            Parameter(name='output_folder', value=value)]).results
        assert not refused.successful and 'read-only' in refused.reason
        self.bench.answers.note(
            '~/save outside its folder', f'identifier: {refused.reason}',
            f'{self.bench.now - since:.3f} s')
        assert self.bench.now - since <= REPORTED
        samples_in(self.bench.call('/identifier/save'))
        assert outside.read_text() == 'mine' and not link.is_symlink()


def samples_in(answer):
    """Return the number of samples that were saved."""
    assert answer.success, answer.message
    return int(answer.message.split()[0])
