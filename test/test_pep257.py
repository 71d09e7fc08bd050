# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Docstrings are as ROS 2 packages want them; ``colcon test`` runs this linter."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# Not examples/gallery, whose docstrings begin with the title of a page.
SOURCES = ('dynid_ros', 'launch', 'test', 'benchmarks', 'examples/two_axis_article.py',
           'examples/two_axis_experiment.py', 'setup.py')


@pytest.mark.linter
@pytest.mark.pep257
def test_ament_pep257_finds_nothing():
    pep257 = pytest.importorskip('ament_pep257.main', reason='ament_pep257 is not installed')
    assert pep257.main([str(ROOT / name) for name in SOURCES]) == 0
