"""A small arm with hostile joint names, its motion, and a browser."""

from contextlib import contextmanager
from io import BytesIO

from browsers import chromium
from matplotlib.image import imread
import numpy as np
from test_arm_body import TWO_JOINTS
import yaml

#: It would tell in the title of the page that a browser ran it.
HOSTILE = '<img src=x onerror="document.title=\'hacked\'">'
SECONDS = 2.0


def arm_file(folder):
    """Write an arm above a floor, one of whose joints has a hostile name."""
    first, second = HOSTILE.replace('<', '&lt;').replace('"', '&quot;'), 'a/b'
    (folder / 'arm.urdf').write_text(TWO_JOINTS.format(first=first, second=second, visual=''))
    path = folder / 'arm.yaml'
    path.write_text(yaml.safe_dump({
        'name': '<b>arm</b>', 'description': {'urdf': 'arm.urdf'}, 'joints': [HOSTILE, second],
        'environment': {'floor': -0.1, 'boxes': [
            {'name': HOSTILE, 'center': [0.6, 0, 0.1], 'size': [0.2, 0.2, 0.2]}]},
        'collision': [{'link': 'a/b', 'from': [0, 0, 0], 'to': [0, 0, 0.3], 'radius': 0.05}]}))
    return path


def motion_file(folder):
    """Write a JointTrajectory that swings to one side and back."""
    path = folder / 'motion.yaml'
    t = np.linspace(0, SECONDS, 21)
    w = 2 * np.pi / SECONDS
    rows = zip(t, 0.7 * (1 - np.cos(w * t)), 0.7 * w * np.sin(w * t),
               0.7 * w**2 * np.cos(w * t), strict=True)
    points = [{
        'positions': [float(q)] * 2, 'velocities': [float(qd)] * 2,
        'accelerations': [float(qdd)] * 2,
        'time_from_start': {'sec': int(s), 'nanosec': round((s - int(s)) * 1e9)}}
        for s, q, qd, qdd in rows]
    path.write_text(yaml.safe_dump({'joint_names': [HOSTILE, 'a/b'], 'points': points}))
    return path


@contextmanager
def browser_page():
    """Open a page of a headless Chromium that reports errors and requests to other computers."""
    with chromium() as browser:
        page = browser.new_page(viewport={'width': 640, 'height': 400})
        page.set_default_timeout(120_000)
        errors, strangers = [], []
        page.on('pageerror', lambda error: errors.append(str(error)))
        page.on('console', lambda line: errors.append(line.text) if line.type == 'error' else None)

        def check(route):
            if route.request.url.startswith(
                    ('http://127.0.0.1:', 'ws://127.0.0.1:', 'data:', 'blob:', 'file:')):
                route.continue_()
            else:
                strangers.append(route.request.url)
                route.abort()

        page.route('**/*', check)
        yield page
        assert errors == []
        assert strangers == []
        assert 'hacked' not in page.title()


def picture_of(canvas):
    return imread(BytesIO(canvas.screenshot()))[..., :3]


def settled_picture(page, canvas):
    """Take a picture of a canvas that no longer changes: viser fades its scene in."""
    before = None
    for _ in range(60):
        picture = picture_of(canvas)
        # The empty canvas is of one colour.
        if before is not None and picture.std() > 0.01 and differing(before, picture) < 1e-3:
            return picture
        before = picture
        page.wait_for_timeout(200)
    raise AssertionError('the canvas stays empty, or does not come to rest')


def differing(first, second):
    """Share of the pixels of two pictures that differ visibly."""
    return float((np.abs(first - second).max(axis=2) > 0.1).mean())
