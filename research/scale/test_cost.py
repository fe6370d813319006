"""Tests of `cost.py` against closed forms: python3 -m unittest discover -s research/scale"""

from __future__ import annotations

import math
import random
import unittest
from statistics import fmean
from unittest import mock

import cost

TRIES = 2000


def constant_times(*milliseconds: float) -> cost.ShardTimes:
    a, b, c = milliseconds
    return cost.ShardTimes([(a, b, c)], [[1.0]] * 3)


def without_straggling() -> mock._patch_dict:
    none = cost.CostUnit("straggling", 0.0, "", "")
    return mock.patch.dict(cost.ASSUMED, {"straggling": none})


class SlowestRequest(unittest.TestCase):
    """The slowest of requests that take exponential times with a mean of 1."""

    def setUp(self) -> None:
        self.rng = random.Random(7)

    def draw(self) -> float:
        return self.rng.expovariate(1)

    def test_the_mean_of_the_slowest_is_the_harmonic_number(self) -> None:
        for requests in (1, 10, 100):
            found = fmean(cost.slowest(self.draw, requests, None)[0] for _ in range(TRIES))
            harmonic = sum(1 / k for k in range(1, requests + 1))
            self.assertAlmostEqual(found, harmonic, delta=0.05 * harmonic)

    def test_the_quantiles_of_the_slowest_are_roots_of_those_of_one(self) -> None:
        for requests in (1, 10, 100):
            found = sorted(cost.slowest(self.draw, requests, None)[0] for _ in range(TRIES))
            for share in (0.5, 0.99):
                exact = -math.log(1 - share ** (1 / requests))
                self.assertAlmostEqual(cost.quantile(found, share), exact, delta=0.1 * exact)

    def test_a_second_replica_halves_the_rest_of_a_hedged_request(self) -> None:
        # Exponential times have no memory: after `delay` two requests race, at twice the rate.
        delay, requests = 2.0, 100
        drawn = [cost.slowest(self.draw, requests, delay) for _ in range(TRIES)]
        found = sorted(time for time, _ in drawn)
        for share in (0.5, 0.99):
            tail = 1 - share ** (1 / requests)
            exact = delay - (math.log(tail) + delay) / 2
            self.assertAlmostEqual(cost.quantile(found, share), exact, delta=0.05 * exact)
        twice = sum(twice for _, twice in drawn) / (requests * TRIES)
        self.assertAlmostEqual(twice, math.exp(-delay), delta=0.005)


class WaitingTimes(unittest.TestCase):
    def test_searches_wait_as_in_a_queue_with_one_server(self) -> None:
        # M/M/1: the mean wait is rho / (1 - rho) mean services.
        rng, load = random.Random(7), 0.5
        count = 100_000
        services = [rng.expovariate(1) for _ in range(count)]
        gaps = [rng.expovariate(load) for _ in range(count)]
        found = fmean(cost.waiting_times(services, gaps))
        self.assertAlmostEqual(found, load / (1 - load), delta=0.05)

    def test_nobody_waits_if_searches_end_before_the_next(self) -> None:
        self.assertEqual(cost.waiting_times([1.0, 2.0, 1.0], [2.0, 2.0, 2.0]), [0.0, 0.0, 0.0])
        self.assertEqual(cost.waiting_times([3.0, 3.0, 1.0], [2.0, 2.0, 2.0]), [0.0, 1.0, 2.0])


class FanOut(unittest.TestCase):
    def test_without_noise_a_search_takes_its_rounds(self) -> None:
        trips = 3 * cost.assumed("round trip")
        with without_straggling():
            for nodes in (1, 50):
                found = cost.fan_out(constant_times(1, 2, 4), cost.Fleet(nodes), 20)
                self.assertAlmostEqual(found.p50, 7 + trips)
                self.assertAlmostEqual(found.p99, 7 + trips)
            # Spans are asked of few shards; counting takes all cores of a node.
            shards = 3 * int(cost.assumed("cores"))
            found = cost.fan_out(constant_times(1, 2, 4), cost.Fleet(5, shards), 20)
            self.assertAlmostEqual(found.p99, 3 + 6 + 4 + trips)
            # Noise delays a request once, however many shards the node has.
            noisy = cost.ShardTimes([(1.0, 2.0, 4.0)], [[2.0]] * 3)
            found = cost.fan_out(noisy, cost.Fleet(5, shards), 20)
            self.assertAlmostEqual(found.p99, 4 + 8 + 8 + trips)

    def test_the_slowest_node_decides_and_not_the_mean(self) -> None:
        # Half of the requests take twice as long, so that one of many nodes does.
        times = cost.ShardTimes([(1.0, 1.0, 1.0)], [[1.0, 2.0]] * 3)
        with without_straggling():
            one = cost.fan_out(times, cost.Fleet(1), 500)
            many = cost.fan_out(times, cost.Fleet(100), 500)
        trips = 3 * cost.assumed("round trip")
        self.assertLess(one.p50, 5 + trips)
        self.assertAlmostEqual(many.p50, 6 + trips)

    def test_as_many_searches_meet_a_straggler_as_chance_says(self) -> None:
        # (1 - p) ^ requests of them meet none.
        straggling, nodes = cost.assumed("straggling"), 100
        requests = 2 * nodes + cost.WINNERS
        clean = (1 - straggling) ** requests
        times, fastest = constant_times(1, 1, 1), 3 + 3 * cost.assumed("round trip")
        found = cost.fan_out(times, cost.Fleet(nodes), TRIES)
        self.assertAlmostEqual(found.p50, fastest)
        self.assertGreater(found.p99, fastest + cost.assumed("straggling time"))
        with mock.patch.object(cost, "quantile", wraps=cost.quantile) as asked:
            cost.fan_out(times, cost.Fleet(nodes), TRIES)
            totals = asked.call_args.args[0]
        share = sum(total < fastest + 1e-9 for total in totals) / len(totals)
        self.assertAlmostEqual(share, clean, delta=0.02)

    def test_hedging_cuts_the_tail_and_sends_few_requests_twice(self) -> None:
        plain = cost.fan_out(constant_times(1, 1, 1), cost.Fleet(1000), 300)
        hedged = cost.fan_out(constant_times(1, 1, 1), cost.Fleet(1000, hedge=True), 300)
        self.assertLess(hedged.p99, plain.p99 / 5)
        self.assertEqual(plain.sent_twice, 0)
        self.assertAlmostEqual(hedged.sent_twice, cost.assumed("straggling"), delta=0.0003)

    def test_equal_seeds_give_equal_results(self) -> None:
        times = cost.ShardTimes([(1.0, 2.0, 3.0), (2.0, 3.0, 4.0)], [[0.5, 1.0, 3.0]] * 3)
        fleet = cost.Fleet(20, 4, hedge=True, queries_per_second=100)
        self.assertEqual(cost.fan_out(times, fleet, 50), cost.fan_out(times, fleet, 50))
        self.assertNotEqual(cost.fan_out(times, fleet, 50), cost.fan_out(times, fleet, 50, seed=2))


class Costs(unittest.TestCase):
    def test_ten_times_the_text_costs_ten_times_as_much(self) -> None:
        one, ten = cost.build_cost(10 * cost.TB), cost.build_cost(100 * cost.TB)
        for name in ("core_hours", "index", "puts", "request_dollars", "storage_dollars"):
            self.assertAlmostEqual(getattr(ten, name) / getattr(one, name), 10)
        self.assertTrue(10 * (one.nodes - 1) < ten.nodes <= 10 * one.nodes)

    def test_the_nodes_suffice_for_each_limit(self) -> None:
        for text in (10 * cost.TB, 1000 * cost.TB):
            built = cost.build_cost(text)
            cores = built.nodes * cost.assumed("cores") * cost.assumed("busy while building")
            self.assertGreaterEqual(cores, built.core_hours)
            found = cost.search_cost(text)
            nodes = found.fleet.nodes
            self.assertGreaterEqual(nodes * found.fleet.shards_per_node, found.shards)
            cores = nodes * cost.assumed("cores") * cost.assumed("busy while searching")
            self.assertGreaterEqual(cores, found.cores)
            memory = nodes * cost.assumed("memory") * 1024 * cost.MIB
            self.assertGreater(memory, text * cost.measured("index without texts"))

    def test_numbers_have_three_digits(self) -> None:
        for value, text in ((0, "0"), (0.01234, "0.0123"), (1.5, "1.50"), (83.04, "83.0")):
            self.assertEqual(cost.short(value), text)
        self.assertEqual(cost.short(123_456), "123,000")


if __name__ == "__main__":
    unittest.main()
