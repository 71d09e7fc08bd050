"""
Clearance by convex hulls against exact meshes, and designs for the URDFs of real robots.

    pip install example-robot-data
    OPENBLAS_NUM_THREADS=1 python benchmarks/clearance.py [SHARE_FOLDER]

The package has no Python module; SHARE_FOLDER is its folder ``robots``, sought in the environment
if not given. Prints, for each robot: time of a clearance query at random positions by hulls and by
the meshes of the same pairs; then what ``design --time 6`` reaches, and the clearance of that
motion on a dense grid by the exact meshes: the nearest pair (less what it must keep), and how much
nearer hulls appear.
"""

from __future__ import annotations

import dynid_ros.utilities.threads  # isort: skip  # noqa: F401 (before anything imports NumPy)

from importlib import metadata
from pathlib import Path
import sys
from time import perf_counter

import numpy as np

from dynid_ros.arm import ArmModel, load_arm
from dynid_ros.arm.surroundings import load_surroundings
from dynid_ros.errors import DynidError
from dynid_ros.motion.excitation.design_objective import Task
from dynid_ros.motion.excitation.search import Search
from dynid_ros.motion.feasibility.link_shapes import urdf_bodies
from dynid_ros.motion.feasibility.pair_distances import PairDistances
from dynid_ros.motion.feasibility.planning_limits import planning_limits
from dynid_ros.motion.feasibility.scene import build_scene, Scene
from dynid_ros.motion.trajectory.fourier import FourierMotion
from dynid_ros.utilities.progress import listening

ROBOTS = (
    'panda_description/urdf/panda.urdf', 'z1_description/urdf/z1.urdf',
    'so_arm_description/urdf/so101.urdf', 'kinova_description/robots/kinova.urdf',
    'xarm_description/urdf/xarm7.urdf', 'tiago_description/robots/tiago.urdf',
    'talos_data/robots/talos_left_arm.urdf', 'ur_description/urdf/ur5_robot.urdf',
    'baxter_description/urdf/baxter.urdf',
    'double_pendulum_description/urdf/double_pendulum_continuous.urdf')
SECONDS = 6.0
POSITIONS = 20
GRID = 200
#: Pairs are compared where their hulls are nearer than this, m.
NEAR = 0.1


def main() -> None:
    """Print both tables."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else installed()
    begin = perf_counter()
    load_surroundings('ur10', load_arm('ur10'))
    build_scene(load_arm('ur10'), load_surroundings('ur10', load_arm('ur10')))
    print(f'imports and kernels {perf_counter() - begin:.1f} s')
    for inner in ROBOTS:
        path = folder / inner
        begin = perf_counter()
        arm = load_arm(path)
        scene = build_scene(arm, load_surroundings(path, arm))
        prepared = perf_counter() - begin
        print(f'{path.stem}: {arm.n} joints, prepared in {prepared:.1f} s', flush=True)
        if scene is None:
            designed(arm, None, None)
            continue
        names = tuple(dict.fromkeys(scene.names))
        exact = meshes(arm, path, names)
        queries(arm, scene, exact)
        designed(arm, scene, exact)


def installed() -> Path:
    """Folder of the robots in the environment."""
    files = metadata.files('example-robot-data') or []
    urdf = next(Path(file.locate()) for file in files if file.suffix == '.urdf')
    return next(up for up in urdf.parents if up.name == 'robots')


def meshes(arm: ArmModel, path: Path, names: tuple[str, ...]) -> PairDistances:
    """Distances of pairs of links, by the names of these, with the meshes as their files are."""
    bodies, _ = urdf_bodies(arm, path, load_surroundings(path, arm).locked)
    named = {body.name: body for body in bodies}
    pairs = [name.split(' - ') for name in names]
    return PairDistances(arm, [(named[a], named[b]) for a, b in pairs])


def queries(arm: ArmModel, scene: Scene, meshes: PairDistances) -> None:
    """Time of a query of all pairs by hulls, and of the meshes behind them."""
    allowed = planning_limits(arm)
    q = np.random.default_rng(0).uniform(allowed.lower, allowed.upper, (POSITIONS, arm.n))
    seconds = []
    for between, horizon in ((scene.between, scene.kept + scene.width), (scene.between, np.inf),
                             (meshes, np.inf)):
        begin = perf_counter()
        between.distances(q, horizon)
        seconds.append((perf_counter() - begin) / POSITIONS)
    near, all_hulls, exact = seconds
    print(f'  query: hulls {1e6 * near:.0f} us, with the distance of far pairs too '
          f'{1e6 * all_hulls:.0f} us, meshes {1e6 * exact:.0f} us: {exact / near:.0f} and '
          f'{exact / all_hulls:.0f} times; {len(scene.names)} pairs of hulls for '
          f'{len(meshes.pairs)} of meshes, {len(scene.ignored)} left out, gap at most '
          f'{1000 * max(scene.gaps.values(), default=0):.0f} mm', flush=True)


def designed(arm: ArmModel, scene: Scene | None, meshes: PairDistances | None) -> None:
    """Run a design, and verify its clearance by the meshes on a dense grid."""
    first: list[float] = []
    try:
        with listening(lambda _, gone: first.append(SECONDS * gone)):
            found = Search(arm, Task(seconds=SECONDS), scene).run()
    except DynidError as error:
        print(f'  {error}')
        return
    print(f'  design: condition number {found.condition_number:.1f}, first motion after '
          f'{first[0]:.2f} s, {found.seconds:.2f} s in all, least margin of clearance '
          f'{1000 * min(found.margins.clearance.values(), default=np.nan):.1f} mm', flush=True)
    if scene is not None and meshes is not None:
        verify(scene, meshes, found.motion)


def verify(scene: Scene, meshes: PairDistances, motion: FourierMotion) -> None:
    """Compare hulls and meshes along a motion."""
    q = motion.evaluate(np.linspace(0, motion.period, GRID, endpoint=False))[0]
    hulls = scene.between.distances(q, NEAR)
    places = [[i for i, other in enumerate(scene.names) if other == name]
              for name in dict.fromkeys(scene.names)]
    own = np.stack([hulls[:, place].min(axis=1) for place in places], axis=1)
    near = own < NEAR
    exact = meshes.refined(q, meshes.lower_bounds(q), near)
    keep = np.array([scene.kept[place].min() for place in places])
    left, gaps = (exact - keep)[near], (exact - own)[near]
    if not len(gaps):
        return
    print(f'  meshes on {GRID} positions: least margin {1000 * left.min():.1f} mm; where hulls '
          f'are within {NEAR:g} m, they appear nearer by {1000 * np.median(gaps):.2f} mm in the '
          f'median, {1000 * np.quantile(gaps, 0.95):.1f} mm in 95 %, {1000 * gaps.min():.4f} mm '
          'at least', flush=True)


if __name__ == '__main__':
    main()
