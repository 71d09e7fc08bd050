# Copyright 2026 The dynid_ros maintainers. Licensed under Apache-2.0, see LICENSE.
"""Nodes of the embedded layer among themselves: what rclpy promises must hold."""

import math
import os
import signal
import struct
import subprocess
import sys
import time

import pytest
import rclpy
from rclpy.clock import Clock as RosClock
from rclpy.clock import ClockType
from rclpy.exceptions import ParameterException
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from ros.stand_in.embedded_rig import call, layer_only, spin
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, String
from std_srvs.srv import SetBool, Trigger

from dynid_ros.errors import InputError

pytestmark = layer_only
BEST_EFFORT = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
#: The first question of a client, ``data: true``.
REQUEST = b'\0\1\0\0' + struct.pack('<Qq?', 7, 1, True)


def test_reliable_messages_all_arrive_in_their_order(pair):
    talker, listener = pair
    heard = []
    deep = QoSProfile(depth=2000)
    publisher = talker.create_publisher(Float64MultiArray, 'numbers', deep)
    listener.create_subscription(Float64MultiArray, 'numbers', heard.append, deep)
    assert spin(pair, lambda: publisher.get_subscription_count() == 1)
    for k in range(1500):
        publisher.publish(Float64MultiArray(data=[float(k), math.nan]))
    assert spin(pair, lambda: len(heard) == 1500)
    assert [message.data[0] for message in heard] == list(range(1500))
    assert math.isnan(heard[0].data[1])


def test_reader_hears_only_writers_that_offer_what_it_asks_for(pair):
    talker, listener = pair
    asked = {'lossy': BEST_EFFORT, 'sure': QoSProfile(depth=100)}
    heard = {name: [] for name in asked}
    for name, qos in asked.items():
        listener.create_subscription(String, 'words', heard[name].append, qos)
    offered = talker.create_publisher(String, 'words', BEST_EFFORT)
    assert spin(pair, lambda: offered.get_subscription_count() == 1)
    offered.publish(String(data='lossy'))
    assert spin(pair, lambda: heard['lossy'])
    sure = talker.create_publisher(String, 'words', 10)
    assert spin(pair, lambda: sure.get_subscription_count() == 2)
    sure.publish(String(data='sure'))
    assert spin(pair, lambda: len(heard['lossy']) == 2 and heard['sure'])
    assert [message.data for message in heard['sure']] == ['sure']


def test_late_reader_gets_the_last_latched_message_and_no_other(pair):
    talker, listener = pair
    latched = talker.create_publisher(String, 'latched', LATCHED)
    fleeting = talker.create_publisher(String, 'fleeting', 10)
    for publisher in (latched, fleeting):
        for word in ('first', 'second'):
            publisher.publish(String(data=word))
    heard = {topic: [] for topic in ('latched', 'fleeting')}
    for topic, qos in (('latched', LATCHED), ('fleeting', 10)):
        listener.create_subscription(String, topic, heard[topic].append, qos)
    assert spin(pair, lambda: heard['latched'] and fleeting.get_subscription_count())
    fleeting.publish(String(data='third'))
    assert spin(pair, lambda: heard['fleeting'])
    assert [message.data for message in heard['latched']] == ['second']
    assert [message.data for message in heard['fleeting']] == ['third']


def test_graph_tells_who_publishes_what_and_how(init):
    init('-r', '__ns:=/cell')
    nodes = Node('talker'), Node('listener')
    publisher = nodes[0].create_publisher(JointState, 'joint_states', BEST_EFFORT)
    seen = []

    def look():
        seen[:] = nodes[1].get_publishers_info_by_topic('joint_states')
        return [info.node_name for info in seen]

    assert spin(nodes, lambda: look() == ['talker'])
    assert (seen[0].node_namespace, seen[0].topic_type) == ('/cell', 'sensor_msgs/msg/JointState')
    assert seen[0].qos_profile.reliability is ReliabilityPolicy.BEST_EFFORT
    assert seen[0].qos_profile.durability is DurabilityPolicy.VOLATILE
    assert nodes[1].get_publishers_info_by_topic('/joint_states') == []
    listening = nodes[1].create_subscription(JointState, 'joint_states', print, 10)
    assert spin(nodes, lambda: [
        info.node_name for info in nodes[0].get_subscriptions_info_by_topic('joint_states')
    ] == ['listener'])
    nodes[0].destroy_publisher(publisher)
    assert spin(nodes, lambda: look() == [])
    nodes[1].destroy_subscription(listening)
    assert spin(nodes, lambda: nodes[0].get_subscriptions_info_by_topic('joint_states') == [])


def test_remapped_nodes_meet(init):
    init('-r', 'a:from:=/met', '-r', 'b:__ns:=/cell', '-r', '/cell/to:=/met')
    nodes = Node('a'), Node('b')
    heard = []
    publisher = nodes[0].create_publisher(String, 'from', 10)
    assert publisher.topic_name == '/met'
    assert nodes[1].get_fully_qualified_name() == '/cell/b'
    nodes[1].create_subscription(String, 'to', heard.append, 10)
    assert spin(nodes, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(String(data='x'))
    assert spin(nodes, lambda: heard)


def test_each_client_gets_the_answers_to_its_own_requests(pair):
    def answer(request, response):
        response.success, response.message = request.data, f'{request.data}'
        return response

    service = pair[0].create_service(SetBool, '~/set', answer)
    clients = [pair[1].create_client(SetBool, '/talker/set') for _ in range(2)]
    assert spin(pair, lambda: all(client.service_is_ready() for client in clients))
    futures = [clients[k % 2].call_async(SetBool.Request(data=k % 3 == 0)) for k in range(10)]
    assert spin(pair, lambda: all(future.done() for future in futures))
    assert [future.result().success for future in futures] == [k % 3 == 0 for k in range(10)]
    assert service.refused == 0
    pair[0].destroy_node()
    del service
    assert spin(pair[1:], lambda: not any(client.service_is_ready() for client in clients))


def test_answer_waits_for_a_client_whose_reader_is_found_late(pair):
    # Cyclone DDS for Python is not there under a real rclpy.
    from dynid_ros.ros.stand_in.dds import take, write
    from dynid_ros.ros.stand_in.spin import CONTEXT

    def answer(request, response):
        response.success = request.data
        return response

    pair[0].create_service(SetBool, '~/set', answer)
    service = pair[0].inboxes[-1]
    # Another client is all there, so that counting readers and writers would not do.
    other = pair[1].create_client(SetBool, '/talker/set')
    assert call(pair, other, data=True).success
    participant, identity = CONTEXT.participant, 'clientid=01.02;'
    asks = participant.writer('rq/talker/setRequest', SetBool.Request.TYPE, QoSProfile(depth=10),
                              service=identity)
    assert spin(pair, lambda: len(service.reader.get_matched_publications()) == 2)
    write(asks, REQUEST)
    spin(pair, lambda: False, 0.5)
    assert call(pair, other, data=True).success
    hears = participant.reader('rr/talker/setReply', SetBool.Response.TYPE, QoSProfile(depth=10),
                               service=identity)
    heard = []
    assert spin(pair, lambda: heard.extend(take(hears)) or heard)
    assert [cdr[4:20] for cdr, _ in heard] == [REQUEST[4:20]]


def test_timer_keeps_its_period_and_makes_nothing_up(pair):
    calls = []
    pair[0].create_timer(0.02, lambda: calls.append(time.monotonic()))
    assert spin(pair[:1], lambda: len(calls) == 5)
    # The first may have been late by up to a period, and none comes before its time.
    assert calls[4] - calls[0] > 0.06
    calls.clear()
    time.sleep(0.3)
    begin = time.monotonic()
    assert spin(pair[:1], lambda: calls and time.monotonic() > begin + 0.01)
    # Of fifteen calls that are overdue one is left; others may have become due meanwhile.
    assert 1 <= len(calls) <= 2 + (calls[-1] - begin) / 0.02


def test_flood_of_one_topic_does_not_keep_others_waiting(pair):
    talker, listener = pair
    flood, heard = [], []
    deep = QoSProfile(depth=2000)
    listener.create_subscription(String, 'flood', flood.append, deep)
    listener.create_subscription(String, 'rare', heard.append, deep)
    publishers = [talker.create_publisher(String, topic, deep) for topic in ('flood', 'rare')]
    assert spin(pair, lambda: all(p.get_subscription_count() for p in publishers))
    for _ in range(1000):
        publishers[0].publish(String())
    publishers[1].publish(String())
    assert spin([listener], lambda: heard)
    # Each waits its turn behind one of every other topic.
    assert len(flood) < 10


def test_destroyed_subscription_hears_nothing_more(pair):
    talker, listener = pair
    heard, other = [], []
    publisher = talker.create_publisher(String, 'words', 10)
    subscription = listener.create_subscription(String, 'words', heard.append, 10)
    listener.create_subscription(String, 'words', other.append, 10)
    assert spin(pair, lambda: publisher.get_subscription_count() == 2)
    listener.destroy_subscription(subscription)
    del subscription
    assert spin(pair, lambda: publisher.get_subscription_count() == 1)
    publisher.publish(String())
    assert spin(pair, lambda: other)
    assert heard == []


def test_raw_subscription_hands_over_the_bytes(pair):
    heard = []
    publisher = pair[0].create_publisher(String, 'words', 10)
    pair[1].create_subscription(String, 'words', heard.append, 10, raw=True)
    assert spin(pair, lambda: publisher.get_subscription_count())
    publisher.publish(String(data='ab'))
    assert spin(pair, lambda: heard)
    # The middleware pads to four bytes.
    assert heard == [b'\0\1\0\0\3\0\0\0ab\0\0']


def test_process_may_leave_the_graph_and_join_it_again():
    for _ in range(3):
        assert not rclpy.ok()
        rclpy.init(args=[])
        assert rclpy.ok()
        with pytest.raises(RuntimeError, match='called already'):
            rclpy.init(args=[])
        nodes = Node('talker'), Node('listener')
        heard = []
        publisher = nodes[0].create_publisher(String, 'words', LATCHED)
        publisher.publish(String(data='x'))
        nodes[1].create_subscription(String, 'words', heard.append, LATCHED)
        assert spin(nodes, lambda heard=heard: heard)
        for node in nodes:
            node.destroy_node()
        del publisher
        rclpy.shutdown()
    with pytest.raises(RuntimeError, match=r'call rclpy\.init\(\) first'):
        Node('talker')


def test_wrong_message_is_refused_where_it_is_published(pair):
    publisher = pair[0].create_publisher(String, 'words', 10)
    with pytest.raises(TypeError, match='/words is of std_msgs/msg/String, not of sensor_msgs'):
        publisher.publish(JointState())
    with pytest.raises(TypeError, match='std_msgs/msg/String'):
        publisher.publish(String(data=5))


def from_import(statement):
    return lambda _: exec(statement)


@pytest.mark.parametrize(('use', 'error', 'said'), [
    (lambda _: rclpy.create_rate(5), AttributeError, 'rclpy.create_rate is not provided'),
    (lambda node: node.create_guard_condition(print), AttributeError,
     'Node.create_guard_condition is not supported without ROS 2'),
    (lambda node: node.create_rate(5), AttributeError, 'Node.create_rate is not supported'),
    (from_import('import rclpy.lifecycle'), ModuleNotFoundError, 'rclpy.lifecycle'),
    (from_import('from rclpy.qos import QoSPresetProfiles'), ImportError, 'QoSPresetProfiles'),
    (from_import('from std_msgs.msg import Nothing'), ImportError, 'Nothing'),
    (lambda _: QoSProfile(depth=1, liveliness=1), TypeError, 'liveliness'),
    (lambda node: node.create_subscription(String, 'a', print, 10, callback_group=None),
     TypeError, 'callback_group'),
    (lambda node: node.create_publisher(String, 'no name', 10), ValueError, 'no name'),
    (lambda node: node.declare_parameter('a', [1]), ParameterException, 'without ROS 2'),
    (lambda _: Node('no name'), InputError, 'not a valid name of a node'),
])
def test_what_is_not_supported_says_so_where_it_is_called(pair, use, error, said):
    with pytest.raises(error, match=said):
        use(pair[0])


@pytest.fixture
def simulated(init):
    """Return a node in simulated time, another one, and a function that sets the time, s."""
    init('-p', 'listener:use_sim_time:=true')
    nodes = Node('talker'), Node('listener')
    publisher = nodes[0].create_publisher(Clock, '/clock', 10)
    assert spin(nodes, lambda: publisher.get_subscription_count() == 1)

    def now():
        return nodes[1].get_clock().now().nanoseconds * 1e-9

    def tell(seconds):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(round(seconds * 1e9), 10**9)

        def told():
            publisher.publish(message)
            return now() == pytest.approx(seconds)

        assert spin(nodes, told)

    return nodes, now, tell


def test_clock_of_a_node_in_simulated_time_shows_what_is_published(simulated):
    nodes, now, tell = simulated
    assert now() == 0.0
    for seconds in (5.25, 5.5, 1.0):
        tell(seconds)
    assert now() == 1.0
    # Others keep the time of the system.
    assert nodes[0].get_clock().now().nanoseconds == pytest.approx(time.time_ns(), abs=1e9)


def test_timers_go_by_the_simulated_clock_and_steady_ones_do_not(simulated):
    nodes, _, tell = simulated
    calls, steady = [], []
    tell(10.0)
    nodes[1].create_timer(0.1, lambda: calls.append(1))
    nodes[1].create_timer(
        0.01, lambda: steady.append(1), clock=RosClock(clock_type=ClockType.STEADY_TIME))
    # Time that stands still makes no call, however long it does.
    assert spin(nodes, lambda: len(steady) > 30)
    assert calls == []
    tell(10.05)
    before = len(steady)
    assert spin(nodes, lambda: len(steady) > before + 2)
    assert calls == []
    tell(10.11)
    assert spin(nodes, lambda: calls)
    # Of many that are overdue one is left.
    tell(20.0)
    before = len(steady)
    assert spin(nodes, lambda: len(steady) > before + 2)
    assert len(calls) == 2
    # A clock that steps back delays a call by one period at most.
    tell(5.0)
    tell(5.11)
    assert spin(nodes, lambda: len(calls) == 3)


ECHO = """
import dynid_ros.ros.nodes, rclpy
from rclpy.node import Node
from std_msgs.msg import String
from std_srvs.srv import Trigger
rclpy.init(args=[])
node = Node('echo')
back = node.create_publisher(String, 'pong', 10)
node.create_subscription(String, 'ping', lambda message: back.publish(message), 10)
def answer(_, response):
    response.success = True
    return response
node.create_service(Trigger, '~/ask', answer)
while True:
    rclpy.spin_once(node, timeout_sec=0.1)
"""


def test_processes_hear_each_other_and_notice_who_has_gone(init):
    echo = subprocess.Popen([sys.executable, '-c', ECHO], stderr=subprocess.PIPE, text=True)
    try:
        init()
        node = Node('talker')
        heard = []
        publisher = node.create_publisher(String, 'ping', 10)
        node.create_subscription(String, 'pong', heard.append, 10)
        client = node.create_client(Trigger, '/echo/ask')
        assert call([node], client).success
        assert spin([node], lambda: publisher.get_subscription_count())
        publisher.publish(String(data='ä\n'))
        assert spin([node], lambda: heard)
        assert heard[0].data == 'ä\n'
    finally:
        os.kill(echo.pid, signal.SIGTERM)
        said = echo.communicate()[1]
    assert said == 'dynid: rclpy is not installed; dynid_ros.ros.stand_in stands in for it\n'
