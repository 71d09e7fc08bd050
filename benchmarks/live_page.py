"""
Count the messages that four nodes lose at 1 kHz while a browser shows the live page.

    python benchmarks/live_page.py [--seconds 60] [--without-page]

The nodes run as in nodes_at_1khz.py, but the controller of the arm follows a trajectory: a loop
of torques aborts where the browser takes its processor. The browser is a Chromium without a screen
and of the lowest priority, which draws in software. An update is a message to the page, of which
the arm has one each time it moved.
"""

import argparse
import os
from pathlib import Path
import shutil
import tempfile
import time

from nodes_at_1khz import cpu_seconds, family, missing, RATE, stamps_of, write_excitation

from dynid_ros.estimation.result_files.result_file import read_result
from dynid_ros.interface.demo.live_page import start_page
from dynid_ros.interface.demo.processes import own_domain, Processes

NAMES = ('simulated_arm', 'trajectory_publisher', 'recorder', 'identifier')
OPTIONS = ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']
#: Counts the pictures that the browser draws, for a time in ms.
PICTURES = """
time => new Promise(done => { let count = 0; const end = performance.now() + time;
    const next = now => now < end ? (count++, requestAnimationFrame(next)) : done(count);
    requestAnimationFrame(next); })"""


def watched(url, seconds, folder):
    """Open the page; return updates that it got a second, and pictures drawn a second."""
    from playwright.sync_api import sync_playwright

    polite = folder / 'chromium'
    polite.write_text(f'#!/bin/sh\nexec nice -n 19 {shutil.which("chromium")} "$@"\n')
    polite.chmod(0o755)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=polite, args=OPTIONS)
        tab = browser.new_page(viewport={'width': 1000, 'height': 600})
        got = []
        tab.on('websocket', lambda socket: socket.on(
            'framereceived', lambda _: got.append(time.monotonic())))
        tab.goto(url)
        tab.wait_for_timeout(5000)
        before, began = len(got), time.monotonic()
        pictures = tab.evaluate(PICTURES, 1000 * seconds)
        wall = time.monotonic() - began
        result = (len(got) - before) / wall, pictures / wall
        browser.close()
    return result


def run(folder, seconds, page):
    """Run all; return rates of the page, and CPU time of each node a second."""
    excitation = folder / 'excitation.yaml'
    write_excitation(excitation, seconds + 20.0)
    said = []
    with own_domain(), Processes(folder / 'logs') as nodes:
        if page:
            start_page(nodes, 'panda', said.append)
        nodes.start('simulated_arm', arm='panda', excitation=excitation, rate=RATE)
        nodes.start('identifier', arm='panda', output_folder=folder / 'online', save_at_end=True)
        nodes.start('recorder', arm='panda', output_folder=folder, record_at_start=True)
        time.sleep(15.0)
        nodes.start('trajectory_publisher', arm='panda', excitation=excitation,
                    once=True, state_timeout=1.0)
        time.sleep(10.0)
        names = NAMES + ('watch',) * page
        pids = {name: family(nodes.pid(name)) for name in names}
        before, began = {name: cpu_seconds(pids[name]) for name in names}, time.monotonic()
        rates = watched(said[0].split()[-1], seconds, folder) if page else time.sleep(seconds)
        wall = time.monotonic() - began
        spent = {name: (cpu_seconds(pids[name]) - before[name]) / wall for name in names}
        for name in ('recorder', 'identifier', 'simulated_arm'):
            nodes.stop(name)
    return rates, spent


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--without-page', action='store_true')
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rates, spent = run(folder, args.seconds, not args.without_page)
        load = os.getloadavg()[0]
        stamps = stamps_of(next(folder.glob('*/bag')))
        result = read_result(folder / 'online')
    lost, left_out = missing(stamps)
    print(f'{os.cpu_count()} processors, load {load:.1f}')
    print(f'recorder: {len(stamps)} messages, {lost} lost between them; the simulated arm was '
          f'late and left out {left_out} states')
    print(f'identifier: {result.samples} samples, defects '
          f'{ {defect.code: defect.count for defect in result.defects} or "none"}')
    if rates:
        print(f'page: {rates[0]:.1f} updates a second arrive, {rates[1]:.1f} pictures are drawn')
    for name, cpu in spent.items():
        print(f'{name:22s}{100 * cpu:6.1f} % of a core')


if __name__ == '__main__':
    main()
