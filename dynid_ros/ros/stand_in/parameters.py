# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Parameters of a node, and the services that show and set them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from functools import partial
from typing import Any

from dynid_ros.ros.stand_in.messages import message_class


class ParameterException(Exception):  # noqa: N818 - the name that rclpy gave it
    """A parameter cannot have a value."""


class ParameterType(IntEnum):
    """Kinds of values, as rcl_interfaces/msg/ParameterType counts them."""

    NOT_SET = 0
    BOOL = 1
    INTEGER = 2
    DOUBLE = 3
    STRING = 4
    DOUBLE_ARRAY = 8
    STRING_ARRAY = 9


_FIELDS = {kind: f'{kind.name.lower()}_value' for kind in ParameterType if kind}
_TYPES = {type(None): ParameterType.NOT_SET, bool: ParameterType.BOOL, int: ParameterType.INTEGER,
          float: ParameterType.DOUBLE, str: ParameterType.STRING}


class Parameter:
    """A named value."""

    Type = ParameterType

    def __init__(self, name: str, type_: ParameterType | None = None, value: Any = None) -> None:
        self.name = name
        self.value = value
        # An empty list shows no type of its own.
        self.type_ = type_ if type_ and value == [] else _type_of(name, value)

    def message(self) -> Any:
        """Value as rcl_interfaces/msg/ParameterValue."""
        fields = {_FIELDS[self.type_]: self.value} if self.type_ else {}
        return message_class('rcl_interfaces/msg/ParameterValue')(type=int(self.type_), **fields)


def _type_of(name: str, value: Any) -> ParameterType:
    if isinstance(value, Sequence) and not isinstance(value, str):
        for of, kind in ((str, ParameterType.STRING_ARRAY), (float, ParameterType.DOUBLE_ARRAY)):
            if all(isinstance(each, of) for each in value):
                return kind
    if type(value) not in _TYPES:
        raise ParameterException(
            f"parameter '{name}' cannot be {value!r}: without ROS 2 it is a truth value, a "
            'number, a text, or a list of texts or of numbers with a decimal point')
    return _TYPES[type(value)]


class Parameters:
    """
    Parameters that a node declares; its own names start with two underscores, as in `Node`.

    Parameters
    ----------
    overrides : dict of str to object
        Values that were given on the command line or in files.

    """

    def __init__(self, overrides: dict[str, Any]) -> None:
        self.__overrides = overrides
        self.__values: dict[str, Parameter] = {}
        self.__descriptors: dict[str, Any] = {}
        self.__checks: list[Callable[[list[Parameter]], Any]] = []

    def declare_parameter(self, name: str, value: Any = None, descriptor: Any = None) -> Parameter:
        """
        Declare a parameter; its default, or the type that is given instead, fixes its type.

        Raises
        ------
        ParameterException
            The value that was given for it does not fit.

        """
        typed = isinstance(value, ParameterType)
        descriptor = descriptor or message_class('rcl_interfaces/msg/ParameterDescriptor')()
        descriptor.name = name
        descriptor.type = int(value if typed else _type_of(name, value))
        self.__descriptors[name] = descriptor
        default = [] if typed else value
        parameter = Parameter(
            name, ParameterType(descriptor.type), self.__overrides.get(name, default))
        if name in self.__overrides:
            self.__check(parameter)
        self.__values[name] = parameter
        return parameter

    def set_descriptor(self, name: str, descriptor: Any) -> None:
        """Describe a parameter anew."""
        descriptor.name, self.__descriptors[name] = name, descriptor

    def get_parameter(self, name: str) -> Parameter:
        """Find a parameter."""
        return self.get_parameter_or(name, Parameter(name))

    def get_parameter_or(self, name: str, alternative_value: Parameter) -> Parameter:
        """Find a parameter, or take another."""
        return self.__values.get(name, alternative_value)

    def add_on_set_parameters_callback(self, callback: Callable[[list[Parameter]], Any]) -> None:
        """Ask a callback before a parameter changes."""
        self.__checks.append(callback)

    def __check(self, parameter: Parameter) -> None:
        descriptor = self.__descriptors[parameter.name]
        if parameter.type_ != descriptor.type:
            raise ParameterException(
                f"parameter '{parameter.name}' must be of type "
                f'{ParameterType(descriptor.type).name}, not {parameter.value!r}')
        for allowed in descriptor.floating_point_range:
            if not allowed.from_value <= parameter.value <= allowed.to_value:
                raise ParameterException(
                    f"parameter '{parameter.name}' must be from {allowed.from_value:g} to "
                    f'{allowed.to_value:g}, not {parameter.value!r}')

    def parameter_services(self) -> Iterator[tuple[str, Any, Callable[[Any, Any], Any]]]:
        """Names, classes and callbacks."""
        answers: dict[str, Callable[[Any], dict[str, Any]]] = {
            'get_parameters': lambda request: {
                'values': [each.message() for each in self.__find(request)]},
            'get_parameter_types': lambda request: {
                'types': [each.type_ for each in self.__find(request)]},
            'set_parameters': lambda request: {
                'results': [self.__set([each]) for each in request.parameters]},
            'set_parameters_atomically': lambda request: {
                'result': self.__set(request.parameters)},
            'list_parameters': lambda _: {
                'result': message_class('rcl_interfaces/msg/ListParametersResult')(
                    names=list(self.__values))},
            'describe_parameters': lambda request: {
                'descriptors': [self.__descriptors.get(name) or message_class(
                    'rcl_interfaces/msg/ParameterDescriptor')(name=name)
                    for name in request.names]}}
        for name, answer in answers.items():
            kind = message_class(f'rcl_interfaces/srv/{name.title().replace("_", "")}')
            yield name, kind, partial(_respond, kind, answer)

    def __find(self, request: Any) -> list[Parameter]:
        return [self.__values.get(name, Parameter(name)) for name in request.names]

    def __set(self, messages: list[Any]) -> Any:
        """Set parameters from the network, all or none."""
        result = message_class('rcl_interfaces/msg/SetParametersResult')
        try:
            wanted = [self.__wanted(message) for message in messages]
        except ParameterException as error:
            return result(reason=str(error))
        for answer in (check(wanted) for check in self.__checks):
            if not answer.successful:
                return answer
        self.__values.update((parameter.name, parameter) for parameter in wanted)
        return result(successful=True)

    def __wanted(self, message: Any) -> Parameter:
        name, field = message.name, _FIELDS.get(message.value.type)
        if name not in self.__descriptors:
            raise ParameterException(f"there is no parameter '{name}'")
        if self.__descriptors[name].read_only:
            raise ParameterException(f"parameter '{name}' is read-only")
        parameter = Parameter(name, value=getattr(message.value, field) if field else None)
        self.__check(parameter)
        return parameter


def _respond(kind: Any, answer: Callable[[Any], dict[str, Any]], request: Any, _: Any) -> Any:
    return kind.Response(**answer(request))
