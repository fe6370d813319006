"""Drawings of what was measured: needs matplotlib (``pip install 'cento-search[plots]'``).

Each function draws on the axes ``ax``, or on new ones, and returns them; the function beside it
gives what is drawn, without matplotlib.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Iterable, Sequence
from typing import Any

from ._errors import InvalidArgumentError
from ._texts import sign
from ._types import Answer, Hit, Pair

_RUN = 5


def _axes(ax: Any) -> Any:
    return ax if ax is not None else importlib.import_module("matplotlib.pyplot").subplots()[1]


def _texts(rng: random.Random, words: int, kept: float) -> tuple[str, str]:
    """A text, and a copy that keeps this share of its words, spread evenly."""
    one = [f"w{rng.getrandbits(40)}" for _ in range(words)]
    other = [word if rng.random() < kept else f"w{rng.getrandbits(40)}" for word in one]
    return " ".join(one), " ".join(other)


def s_curve_points(
    scheme: str,
    threshold: float,
    *,
    words: int = 300,
    pairs: int = 100,
    steps: int = 20,
    seed: int = 17,
) -> list[tuple[float, float]]:
    """Returns how often a scheme takes two texts for similar, by their similarity.

    Texts are made up, changed word by word, signed and compared; the same arguments give the same
    points. No index is searched: an index finds every pair whose fingerprints are over the
    threshold.

    Args:
        scheme: The scheme: see :func:`cento.schemes`.
        threshold: The least resemblance of the fingerprints, 0 to 1.
        words: The words of a text.
        pairs: The pairs of texts for each point.
        steps: The number of points.
        seed: Where drawing begins.

    Returns:
        For each point the mean resemblance of the texts, of their runs of five words, 0 to 1, and
        the share of the pairs whose fingerprints are over the threshold, 0 to 1; ascending.

    Raises:
        SpecError: The scheme cannot be used.
        InvalidArgumentError: A number is out of its range.
    """
    if not 0 <= threshold <= 1:
        raise InvalidArgumentError(f"`threshold` is {threshold}; it must be from 0 to 1")
    if min(words, pairs, steps) < 1:
        raise InvalidArgumentError("`words`, `pairs` and `steps` must be at least 1")
    rng = random.Random(seed)
    points: list[tuple[float, float]] = []
    for step in range(1, steps + 1):
        # Of two texts with resemblance r, each has 2r / (1 + r) of the other's runs; a run is in
        # both if all of its words were kept.
        aim = step / steps
        kept = (2 * aim / (1 + aim)) ** (1 / _RUN)
        found, sum_of = 0, 0.0
        for _ in range(pairs):
            a, b = _texts(rng, words, kept)
            x, y = sign(a, scheme=scheme).keys, sign(b, scheme=scheme).keys
            found += len(x & y) >= threshold * len(x | y) and bool(x & y)
            runs, others = _runs(a), _runs(b)
            sum_of += len(runs & others) / len(runs | others)
        points.append((sum_of / pairs, found / pairs))
    return sorted(points)


def _runs(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[at : at + _RUN]) for at in range(max(1, len(words) - _RUN + 1))}


def s_curve(
    schemes: str | Sequence[str], threshold: float = 0.8, *, ax: Any = None, **options: Any
) -> Any:
    """Draws :func:`s_curve_points` of one scheme or several."""
    ax = _axes(ax)
    for scheme in [schemes] if isinstance(schemes, str) else schemes:
        points = s_curve_points(scheme, threshold, **options)
        ax.plot([x for x, _ in points], [y for _, y in points], marker=".", label=scheme)
    ax.axvline(threshold, linestyle=":", color="gray")
    ax.set(xlabel="resemblance of the texts", ylabel="share of pairs found", ylim=(-0.02, 1.02))
    ax.legend()
    return ax


def similarity_counts(found: Iterable[Pair | Hit], bins: int = 20) -> list[int]:
    """Counts the pairs or hits with a resemblance in each of several equal parts of 0 to 1.

    The last part has those of resemblance 1.
    """
    if bins < 1:
        raise InvalidArgumentError("`bins` must be at least 1")
    counts = [0] * bins
    for each in found:
        counts[min(int(each.resemblance * bins), bins - 1)] += 1
    return counts


def similarities(found: Iterable[Pair | Hit], *, bins: int = 20, ax: Any = None) -> Any:
    """Draws :func:`similarity_counts` of pairs, such as ``index.pairs()``, or of an answer."""
    counts = similarity_counts(found, bins)
    ax = _axes(ax)
    places = [at / bins for at in range(bins)]
    ax.bar(places, counts, width=1 / bins, align="edge", edgecolor="white")
    ax.set(xlabel="resemblance", ylabel="number", xlim=(0, 1))
    return ax


def latency_percentiles(
    answers: Iterable[Answer], percents: Sequence[float] = (50, 90, 99, 100)
) -> dict[float, float]:
    """Returns the seconds within which these shares of searches were answered (nearest rank).

    Raises:
        InvalidArgumentError: There is no answer, or a number is no percentage.
    """
    seconds = sorted(answer.took_us / 1e6 for answer in answers)
    if not seconds:
        raise InvalidArgumentError("there are no answers to take times from")
    if any(not 0 < percent <= 100 for percent in percents):
        raise InvalidArgumentError("a percentage must be over 0 and at most 100")
    rank = {percent: -int(-percent * len(seconds) // 100) for percent in percents}
    return {percent: seconds[at - 1] for percent, at in rank.items()}


def latency(answers: Iterable[Answer], *, ax: Any = None) -> Any:
    """Draws the times of searches, for example of :meth:`cento.Index.search_many`."""
    answers = list(answers)
    marks = latency_percentiles(answers, (50, 99))
    ax = _axes(ax)
    millis = sorted(answer.took_us / 1000 for answer in answers)
    shares = [100 * (at + 1) / len(millis) for at in range(len(millis))]
    ax.step(millis, shares, where="post")
    for percent, seconds in marks.items():
        label = f"p{percent:g} {seconds * 1000:.3g} ms"
        ax.axvline(seconds * 1000, linestyle=":", color="gray", label=label)
    # A clock of microseconds says 0 of the fastest.
    ax.set_xscale("symlog", linthresh=0.01)
    ax.set(xlabel="milliseconds", ylabel="per cent of searches", ylim=(0, 101))
    ax.legend()
    return ax
