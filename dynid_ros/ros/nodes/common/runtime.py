# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Start, parameters, spinning and end of all nodes of this package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
import os
import signal
import sys
import time
from typing import Any

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
import rclpy
from rclpy.exceptions import ParameterException
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions

from dynid_ros.errors import DynidError, InputError, missing_package

#: Longest time until a signal is noticed, s.
SPIN = 0.1
#: Signals that end a node in order: of Ctrl-C, a supervisor, and a closed terminal.
END_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
#: Time for which a node that fails to start stays, s, so that listeners to /rosout find it.
ROSOUT = 0.5


@dataclass(frozen=True)
class Setting:
    """
    One parameter of a node.

    Attributes
    ----------
    name, description : str
        As ``ros2 param describe`` shows them.
    default : bool, int, float, str or list of str
        Default; its type is the parameter's.
    low, high : float or None
        Range of a floating-point parameter.
    choices : tuple of str
        The only values of a text, if any.
    numbers : bool
        Whether an empty list is one of numbers instead of texts.
    example : str
        A value to suggest, for a parameter that must not be left empty.
    changeable : bool
        Whether it may change while the node runs; the others are read once.

    """

    name: str
    default: Any
    description: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    numbers: bool = False
    example: str = ''
    changeable: bool = False

    @property
    def declared(self) -> Any:
        """Return the default for rclpy, which takes an empty list for bytes."""
        if self.default != []:
            return self.default
        return Parameter.Type.DOUBLE_ARRAY if self.numbers else Parameter.Type.STRING_ARRAY

    def described(self, fixed: bool) -> ParameterDescriptor:
        """Return the description that ``ros2 param describe`` shows."""
        kind = self.declared.value if self.default == [] else 0
        return ParameterDescriptor(
            type=kind, description=self.description, read_only=fixed,
            additional_constraints='' if self.changeable else
            'read at the start: restart the node to change it',
            floating_point_range=[FloatingPointRange(
                from_value=self.low, to_value=self.high)] if self.low is not None else [])


ARM = Setting(
    'arm', '', 'Shipped arm, or path of an arm.yaml, of its folder, or of a URDF.',
    example='panda')
MODEL = Setting('model', '', 'Folder of dynid identify, or its result.yaml.', example='result')
#: rclpy declares it for every node.
SIMULATED = Setting('use_sim_time', False, 'true: the time comes from /clock, of a simulator.')


def declare(
    node: Node, settings: Sequence[Setting],
    change: Callable[[str, Any], None] = lambda _name, _value: None,
) -> dict[str, Any]:
    """
    Declare parameters, and return their values.

    Parameters
    ----------
    node : Node
        Owner.
    settings : sequence of Setting
        The parameters.
    change : callable, optional
        Takes name and value of one that changes while the node runs; a DynidError refuses it.

    """
    values = {setting.name: _declare(node, setting) for setting in settings}
    for each in settings:
        value = values[each.name]
        if each.example and not value:
            raise InputError(
                f"set the parameter '{each.name}' of {node.get_name()} "
                f'({each.description.rstrip(".")}), such as {each.name}:={each.example}')
        if each.choices and value not in each.choices:
            raise InputError(f"the parameter '{each.name}' of {node.get_name()} must be "
                             f"{' or '.join(each.choices)}, not '{value}'")
    node.add_on_set_parameters_callback(partial(_set, values, change))
    return values


def _set(
    values: dict[str, Any], change: Callable[[str, Any], None], parameters: Sequence[Parameter],
) -> SetParametersResult:
    """Change parameters; rclpy has refused those that are read-only or out of range."""
    try:
        for each in parameters:
            if each.name in values:
                change(each.name, each.value)
                values[each.name] = each.value
    except DynidError as error:
        return SetParametersResult(successful=False, reason=str(error))
    return SetParametersResult(successful=True)


def _declare(node: Node, setting: Setting) -> Any:
    """Declare one parameter, and return its value."""
    name, empty = setting.name, setting.default == []
    fixed = not (empty or setting.changeable)
    try:
        node.declare_parameter(name, setting.declared, setting.described(fixed))
    except ParameterException as error:
        raise InputError(str(error)) from error
    if empty:
        # While a parameter has no value, rclpy does not answer `ros2 param dump`.
        if node.get_parameter_or(name, Parameter(name)).value is None:
            node.set_parameters([Parameter(name, setting.declared, [])])
        node.set_descriptor(name, setting.described(True))
    return node.get_parameter(name).value


def run(make: type[Node]) -> int:
    """
    Run a node until a signal, and give it time to send its last messages.

    rclpy's own signal handlers make the context invalid before the node can publish a last safe
    command; these only set a flag. A node may have a method ``stop()``, called before it ends,
    which may spin its ``executor``, an attribute ``finished`` that ends it, and an attribute
    ``status`` that becomes the exit status.

    Parameters
    ----------
    make : type
        Class of the node, which is made once rclpy is initialised.

    Returns
    -------
    int
        Exit status of the node, 0 if it has none, or 2 if it could not start.

    """
    # A signal may interrupt the handler of another one, so the lock of an Event would deadlock.
    stopping: list[int] = []
    # A process started by nohup outlives its terminal.
    ours = [number for number in END_SIGNALS if number is not signal.SIGHUP
            or signal.getsignal(number) is not signal.SIG_IGN]
    for number in ours:
        signal.signal(number, lambda number, _: stopping.append(number))
    # A launch file may hold them back until they can be answered.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ours)
    kind: Any = make
    node: Any = None
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
        # The node exists, and can log why it fails to start, before its __init__ ends.
        node = kind.__new__(kind)
        kind.__init__(node)
        # rclpy.spin_once() would add the node for each message to an executor that does not know
        # the answers that this one awaits.
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        while not stopping and not getattr(node, 'finished', False):
            executor.spin_once(timeout_sec=SPIN)
        if hasattr(node, 'stop'):
            node.stop()
        return int(getattr(node, 'status', 0))
    except (DynidError, ImportError) as error:
        reason = missing_package(error) if isinstance(error, ImportError) else str(error)
        if node is None:
            print(f'dynid: {reason}', file=sys.stderr)
            return 2
        node.get_logger().fatal(reason)
        # Until then, listeners to /rosout have found the node.
        time.sleep(ROSOUT)
        return 2
    except RuntimeError as error:
        # rclpy raises it if a node may not join, or may not use a topic or a service. The
        # incomplete node cannot be destroyed.
        node = None
        if os.environ.get('ROS_SECURITY_ENABLE') != 'true':
            raise
        print(f'dynid: ROS 2 refuses this node while ROS_SECURITY_ENABLE is true: '
              f'{str(error).partition(", at ")[0]}; its enclave needs keys, and permissions such '
              'as in config/sros2/policy.xml', file=sys.stderr)
        return 2
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
        # Python removes its handlers before it ends, and a launch repeats the signal of a
        # terminal, which would then kill the process.
        for number in ours:
            signal.signal(number, signal.SIG_IGN)
