"""Parameters of a node, and the services that show and set them."""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

from dynid_ros.embedded.messages import message_class, service_class


class ParameterException(Exception):  # noqa: N818 - the name that rclpy gave it
    """A parameter cannot have a value."""


class ParameterType(IntEnum):
    """Kinds of values, as rcl_interfaces/msg/ParameterType counts them."""

    NOT_SET = 0
    BOOL = 1
    INTEGER = 2
    DOUBLE = 3
    STRING = 4
    STRING_ARRAY = 9


_FIELDS = {1: 'bool_value', 2: 'integer_value', 3: 'double_value', 4: 'string_value',
           9: 'string_array_value'}


class Parameter:
    """A named value."""

    Type = ParameterType

    def __init__(self, name: str, *, value: Any = None) -> None:
        self.name = name
        self.value = value
        self.type_ = _type_of(name, value)

    def message(self) -> Any:
        """Value as rcl_interfaces/msg/ParameterValue."""
        made = message_class('rcl_interfaces/msg/ParameterValue')(type=int(self.type_))
        if self.type_ in _FIELDS:
            setattr(made, _FIELDS[self.type_], self.value)
        return made


def _type_of(name: str, value: Any) -> ParameterType:
    if value is None:
        return ParameterType.NOT_SET
    if isinstance(value, (list, tuple)) and all(isinstance(each, str) for each in value):
        return ParameterType.STRING_ARRAY
    kinds = {bool: ParameterType.BOOL, int: ParameterType.INTEGER, float: ParameterType.DOUBLE,
             str: ParameterType.STRING}
    if type(value) not in kinds:
        raise ParameterException(
            f"parameter '{name}' cannot be {value!r}: without ROS 2 it is a truth value, a "
            'number, a text or a list of texts')
    return kinds[type(value)]


class ParameterStore:
    """
    Declared parameters.

    Parameters
    ----------
    overrides : dict of str to object
        Values that were given on the command line or in files.

    """

    def __init__(self, overrides: dict[str, Any]) -> None:
        self._overrides = overrides
        self._values: dict[str, Parameter] = {}
        self._descriptors: dict[str, Any] = {}
        self.checks: list[Callable[[list[Parameter]], Any]] = []

    def declare(self, name: str, default: Any, descriptor: Any) -> Parameter:
        """
        Declare a parameter; its default, or the type that is given instead, fixes its type.

        Raises
        ------
        ParameterException
            The value that was given for it does not fit.

        """
        typed = isinstance(default, ParameterType)
        kind = default if typed else _type_of(name, default)
        descriptor = descriptor or message_class('rcl_interfaces/msg/ParameterDescriptor')()
        descriptor.name, descriptor.type = name, int(kind)
        self._descriptors[name] = descriptor
        value = self._overrides.get(name, None if typed else default)
        parameter = Parameter(name, value=value)
        if name in self._overrides:
            self._check(parameter)
        self._values[name] = parameter
        return parameter

    def get(self, name: str) -> Parameter | None:
        """Find a parameter that has a value."""
        found = self._values.get(name)
        return None if found is None or found.type_ is ParameterType.NOT_SET else found

    def _check(self, parameter: Parameter) -> None:
        descriptor = self._descriptors[parameter.name]
        if int(parameter.type_) != descriptor.type:
            raise ParameterException(
                f"parameter '{parameter.name}' must be of type "
                f'{ParameterType(descriptor.type).name}, not {parameter.value!r}')
        for allowed in descriptor.floating_point_range:
            if not allowed.from_value <= parameter.value <= allowed.to_value:
                raise ParameterException(
                    f"parameter '{parameter.name}' must be from {allowed.from_value:g} to "
                    f'{allowed.to_value:g}, not {parameter.value!r}')

    def _set(self, message: Any) -> Any:
        """Set a parameter from the network."""
        result = message_class('rcl_interfaces/msg/SetParametersResult')
        name = message.name
        if name not in self._descriptors:
            return result(reason=f"there is no parameter '{name}'")
        if self._descriptors[name].read_only:
            return result(reason=f"parameter '{name}' is read-only")
        field = _FIELDS.get(message.value.type)
        try:
            parameter = Parameter(name, value=getattr(message.value, field) if field else None)
            self._check(parameter)
        except ParameterException as error:
            return result(reason=str(error))
        for check in self.checks:
            answer = check([parameter])
            if not answer.successful:
                return answer
        self._values[name] = parameter
        return result(successful=True)

    def services(self) -> dict[str, tuple[Any, Callable[[Any, Any], Any]]]:
        """Classes and callbacks by names."""
        answers: dict[str, tuple[str, Callable[[Any, Any], None]]] = {
            'get_parameters': ('GetParameters', self._on_get),
            'get_parameter_types': ('GetParameterTypes', self._on_types),
            'set_parameters': ('SetParameters', self._on_set),
            'set_parameters_atomically': ('SetParametersAtomically', self._on_set_all),
            'list_parameters': ('ListParameters', self._on_list),
            'describe_parameters': ('DescribeParameters', self._on_describe)}
        return {name: (service_class(f'rcl_interfaces/srv/{kind}'), _answering(answer))
                for name, (kind, answer) in answers.items()}

    def _on_get(self, request: Any, response: Any) -> None:
        response.values = [
            self._values.get(name, Parameter(name)).message() for name in request.names]

    def _on_set(self, request: Any, response: Any) -> None:
        response.results = [self._set(message) for message in request.parameters]

    def _on_types(self, request: Any, response: Any) -> None:
        response.types = [
            self._values.get(name, Parameter(name)).type_ for name in request.names]

    def _on_set_all(self, request: Any, response: Any) -> None:
        if len(request.parameters) == 1:
            response.result = self._set(request.parameters[0])
        else:
            response.result.reason = 'without ROS 2, set one parameter at a time'

    def _on_list(self, _: Any, response: Any) -> None:
        response.result.names = list(self._values)

    def _on_describe(self, request: Any, response: Any) -> None:
        empty = message_class('rcl_interfaces/msg/ParameterDescriptor')
        response.descriptors = [
            self._descriptors.get(name, empty(name=name)) for name in request.names]


def _answering(fill: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
    def answer(request: Any, response: Any) -> Any:
        fill(request, response)
        return response
    return answer
