# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Joint states and drive signals on two topics become one stream, and nothing is made up."""

from hypothesis import given, settings
from hypothesis import strategies as st
import numpy as np

from dynid_ros.data.streaming.pairing import GAP_NS, LONGEST_WAIT_NS, Pairing

MS = 10**6


def fed(messages, portions=()):
    """Return samples and the pairing, from (stream, stamp, value) in the order of arrival."""
    pairing = Pairing(1, 1)
    parts = []
    for i, (stream, stamp, value) in enumerate(messages):
        if i in portions:
            parts.append(pairing.take())
        add = pairing.add_state if stream == 'state' else pairing.add_signal
        add(stamp, np.array([value]))
    parts.append(pairing.take())
    pairing.close()
    return *(np.concatenate(x) for x in zip(*parts, strict=True)), pairing


def both(stamps, signals=None, lag=0):
    """Messages of both streams; the value of a signal is its stamp in s."""
    every = [('state', s, s / 1e9, s) for s in stamps]
    every += [('signal', s, s / 1e9, s + lag)
              for s in (stamps if signals is None else signals)]
    return [m[:3] for m in sorted(every, key=lambda m: m[3])]


def test_equal_stamps_keep_the_signal_to_the_last_bit():
    stamps = [k * MS for k in range(1, 400)]
    messages = both(stamps, lag=3 * MS + 1)
    t, p, u, pairing = fed(messages)
    np.testing.assert_array_equal(t, stamps)
    np.testing.assert_array_equal(u[:, 0], np.array(stamps) / 1e9)
    np.testing.assert_array_equal(p, u)
    assert pairing.unpaired == pairing.late == 0


def test_between_two_signals_is_the_straight_line():
    states = [k * MS for k in range(100, 900, 2)]
    t, _, u, _ = fed(both(states, [k * MS for k in range(90, 905, 7)]))
    np.testing.assert_array_equal(t, states)
    # Nanoseconds in floating point.
    np.testing.assert_allclose(u[:, 0], np.array(states) / 1e9, rtol=1e-12)


def test_states_in_a_pause_of_the_signals_are_left_out_and_counted():
    stamps = np.arange(1, 1000) * MS
    pause = (stamps > 400 * MS) & (stamps < 600 * MS)
    t, _, _, pairing = fed(both(stamps.tolist(), stamps[~pause].tolist()))
    np.testing.assert_array_equal(t, stamps[~pause])
    assert pairing.unpaired == pause.sum()
    # A pause as short as the longest gap is none.
    short = (stamps > 400 * MS) & (stamps < 400 * MS + GAP_NS)
    t, _, _, pairing = fed(both(stamps.tolist(), stamps[~short].tolist()))
    np.testing.assert_array_equal(t, stamps)


def test_nothing_is_paired_beyond_the_ends_of_the_signals():
    states = [k * MS for k in range(1, 101)]
    t, _, _, pairing = fed(both(states, states[20:80]))
    np.testing.assert_array_equal(t, states[20:80])
    assert pairing.unpaired == 40


def test_after_a_clock_was_set_back_old_signals_are_not_used_again():
    before = [10**10 + k * MS for k in range(1000)]
    after = [s - 1500 * MS for s in before]
    messages = [('state', s, 0.0) for s in before] + [('signal', s, 1.0) for s in before]
    messages += [('state', s, 0.0) for s in after] + [('signal', s, 2.0) for s in after]
    t, _, u, pairing = fed(messages)
    np.testing.assert_array_equal(t, before + after)
    assert (u[:1000] == 1.0).all() and (u[1000:] == 2.0).all()
    # Only the states step back: those of the new time have no signals yet.
    late = [('state', s, 0.0) for s in after]
    t, _, _, pairing = fed(both(before) + late)
    np.testing.assert_array_equal(t, before)
    assert pairing.unpaired == len(after)
    t, _, _, _ = fed(both(before, lag=MS) + both(after, lag=MS))
    assert len(t) >= 2 * len(before) - 2


def test_streams_of_clocks_that_differ_are_not_paired():
    states = [10**12 + k * MS for k in range(500)]
    for lead in (-2 * LONGEST_WAIT_NS, 2 * LONGEST_WAIT_NS):
        messages = [m for s in states for m in (
            ('signal', s + lead, 1.0), ('state', s, 0.0))]
        t, _, _, pairing = fed(messages)
        assert len(t) == 0
        assert pairing.unpaired == len(states)


@given(seed=st.integers(0, 10**6), portions=st.sets(st.integers(0, 300), max_size=8))
@settings(max_examples=60)
def test_portions_and_interleaving_do_not_matter(seed, portions):
    rng = np.random.default_rng(seed)
    states = np.cumsum(rng.integers(1, 30, 150)) * MS
    signals = np.cumsum(rng.integers(1, 30, 150)) * MS
    whole = fed(both(states.tolist(), signals.tolist()))
    other = fed(both(states.tolist(), signals.tolist(), lag=int(rng.integers(-200, 200)) * MS),
                portions)
    for a, b in zip(whole[:3], other[:3], strict=True):
        np.testing.assert_array_equal(a, b)
    assert whole[3].unpaired == other[3].unpaired
