# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""The help of a command imports no more than it shows."""

import json
import subprocess
import sys

import pytest

from dynid_ros.interface.cli.main import COMMANDS

HELP = """
import io, json, sys
from contextlib import redirect_stdout, suppress
from dynid_ros.interface.cli.main import main
with redirect_stdout(io.StringIO()) as shown, suppress(SystemExit):
    main(sys.argv[1:])
print(json.dumps([shown.getvalue(), sorted(sys.modules)]))
"""
#: All of this package that any help may import, beside the module of the command.
ALLOWED = {
    'dynid_ros', 'dynid_ros.errors', 'dynid_ros.arm', 'dynid_ros.arm.shipped',
    'dynid_ros.interface', 'dynid_ros.interface.answers', 'dynid_ros.interface.answers.answer',
    'dynid_ros.interface.cli', 'dynid_ros.interface.cli.main', 'dynid_ros.interface.cli.common',
    'dynid_ros.interface.cli.common.arguments', 'dynid_ros.interface.cli.common.described',
    'dynid_ros.interface.cli.common.output', 'dynid_ros.utilities',
    'dynid_ros.utilities.atomic_write', 'dynid_ros.utilities.freed_memory',
    'dynid_ros.utilities.progress', 'dynid_ros.utilities.text', 'dynid_ros.utilities.threads'}


def help_of(*words):
    done = subprocess.run([sys.executable, '-c', HELP, *words, '--help'], check=True, text=True,
                          stdout=subprocess.PIPE)
    shown, modules = json.loads(done.stdout)
    return shown, {name for name in modules if name.partition('.')[0] == 'dynid_ros'}, {
        name.partition('.')[0] for name in modules}


@pytest.mark.slow
@pytest.mark.parametrize('command', COMMANDS)
def test_a_command_imports_its_own_module_alone(command):
    shown, own, packages = help_of(command)
    assert shown.startswith(f'usage: dynid {command} ')
    assert own - ALLOWED == {f'dynid_ros.interface.cli.{command.replace("-", "_")}'}
    assert not packages & {'numpy', 'scipy', 'numba', 'yaml', 'matplotlib'}


def test_the_help_of_all_imports_their_modules_alone():
    shown, own, packages = help_of()
    assert all(f'\n    {command} ' in shown for command in COMMANDS)
    assert own - ALLOWED == {
        f'dynid_ros.interface.cli.{command.replace("-", "_")}' for command in COMMANDS}
    assert not packages & {'numpy', 'scipy', 'numba', 'yaml', 'matplotlib'}


def test_the_package_imports_none_of_its_rooms():
    code = 'import sys, dynid_ros; print(*(n for n in sys.modules if n.startswith("dynid_ros")))'
    done = subprocess.run([sys.executable, '-c', code], check=True, text=True,
                          stdout=subprocess.PIPE)
    assert done.stdout.split() == ['dynid_ros']
