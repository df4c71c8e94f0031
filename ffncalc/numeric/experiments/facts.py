"""An FFN that stores three facts, built by hand: nothing is learned, and every number can be followed.

Sixteen words have orthonormal vectors (a Hadamard matrix divided by 4, so that products are exact). A memory's key is
twice the vector of a capital, its threshold 1: the capital fires it with 2 - 1 = 1, an unrelated word not at all. Its
value is 4 of the country and 1 of the continent, and the output matrix is the table of word vectors.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ffncalc.errors import InputError
from ffncalc.numeric.activations import relu
from ffncalc.numeric.attention import softmax
from ffncalc.numeric.checks import Array
from ffncalc.numeric.memory import ffn_memories, rank_one_edit

FACTS = {"Paris": ("France", "Europe"), "Tokyo": ("Japan", "Asia"), "Cairo": ("Egypt", "Africa")}
WORDS = (
    "Paris", "Tokyo", "Cairo", "Lima", "Rome", "France", "Japan", "Egypt", "Peru", "Italy",
    "Europe", "Asia", "Africa", "America", "the", "of",
)  # fmt: skip
D_MODEL = len(WORDS)
KEY, THRESHOLD, COUNTRY, CONTINENT = 2.0, 1.0, 4.0, 1.0
TOP = 3
TERM = re.compile(r"\s*(?:([0-9]*\.?[0-9]+)\s*\*?\s*)?([A-Za-z]+)\s*")


class Word(NamedTuple):
    """A word, its logit, and its probability by a softmax over all words."""

    word: str
    logit: float
    probability: float


class Answer(NamedTuple):
    """What a query does: how far each memory fires, and the top words of what is written (none where nothing is)."""

    query: str
    coefficients: tuple[float, ...]
    words: tuple[Word, ...]


class Memory(NamedTuple):
    """A memory: the word its key matches, its threshold, and the top words of its value through the output matrix."""

    key: str
    threshold: float
    words: tuple[Word, ...]


class Edit(NamedTuple):
    """A fact rewritten: the rank of the change of W2, and the largest change in what the other facts write."""

    capital: str
    country: str
    rank: int
    others_change: float
    answers: tuple[Answer, ...]


class Report(NamedTuple):
    """All that `ffncalc lab facts` says."""

    d_model: int
    words: tuple[str, ...]
    memories: tuple[Memory, ...]
    answers: tuple[Answer, ...]
    edit: Edit | None


class Network(NamedTuple):
    """The arrays: word vectors E (words, d_model), and an FFN without output bias."""

    E: Array
    W1: Array
    b1: Array
    W2: Array


def network() -> Network:
    """The hand-built FFN."""
    E = word_vectors()
    vectors = dict(zip(WORDS, E, strict=True))
    keys = [KEY * vectors[capital] for capital in FACTS]
    values = [COUNTRY * vectors[country] + CONTINENT * vectors[continent] for country, continent in FACTS.values()]
    return Network(E, np.array(keys).T, np.full(len(FACTS), -THRESHOLD), np.array(values))


def word_vectors() -> Array:
    """One vector of length 1 for each word, at right angles to all others: Sylvester's Hadamard matrix, scaled."""
    matrix: Array = np.ones((1, 1))
    while len(matrix) < D_MODEL:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    matrix /= np.sqrt(D_MODEL)
    return matrix


def facts(query: str | None = None, edit: str | None = None) -> Report:
    """Ask the FFN: one query ("Tokyo", "0.8*Tokyo + 0.6*Paris"), or each capital and a stop word.

    `edit` ("Tokyo=Peru") rewrites one fact, and asks again. Raises InputError for words that it doesn't have.
    """
    net = network()
    queries = [query] if query is not None else [*FACTS, "the"]
    answers = tuple(answer(text, net) for text in queries)
    memories = tuple(
        Memory(capital, THRESHOLD, top_words(value, net)) for capital, value in zip(FACTS, net.W2, strict=True)
    )
    return Report(D_MODEL, WORDS, memories, answers, None if edit is None else edited(edit, net, queries))


def answer(query: str, net: Network) -> Answer:
    """What one query fires and writes."""
    coefficients, _, written = ffn_memories(vector(query, net), net.W1, net.b1, net.W2, len(FACTS))
    fires = bool(coefficients.any())
    return Answer(query, tuple(coefficients.tolist()), top_words(written, net) if fires else ())


def vector(query: str, net: Network) -> Array:
    """The stream for a query: a word's vector, or a sum of words with factors."""
    total = np.zeros(D_MODEL)
    for term in query.split("+"):
        found = TERM.fullmatch(term)
        if not found:
            raise InputError(f"the query {query!r} is no word and no sum such as '0.8*Tokyo + 0.6*Paris'")
        total += float(found[1] or 1) * net.E[known(found[2])]
    return total


def known(word: str, among: tuple[str, ...] = WORDS) -> int:
    """The place of a word in the vocabulary, whatever its case."""
    for place, other in enumerate(WORDS):
        if other.lower() == word.lower() and other in among:
            return place
    raise InputError(f"there is no {word!r} among {', '.join(among)}")


def top_words(written: Array, net: Network) -> tuple[Word, ...]:
    """The words that a vector of the stream points at, through the output matrix."""
    logits = net.E @ written
    probabilities = softmax(logits)[0]
    best = np.argsort(-logits, kind="stable")[:TOP]
    return tuple(Word(WORDS[i], float(logits[i]), float(probabilities[i])) for i in best if logits[i] > 0)


def edited(edit: str, net: Network, queries: list[str]) -> Edit:
    """One fact rewritten by a rank-one update of W2, and what that did to the others."""
    capital, found, country = (part.strip() for part in edit.partition("="))
    if not found:
        raise InputError(f"the fact {edit!r} is not written like Tokyo=Peru")
    capital, country = WORDS[known(capital, tuple(FACTS))], WORDS[known(country)]
    hidden = relu(net.E[[known(name) for name in FACTS]] @ net.W1 + net.b1)
    own = list(FACTS).index(capital)
    W2 = rank_one_edit(net.W2, hidden[own], COUNTRY * net.E[known(country)])
    change = np.delete(hidden @ W2 - hidden @ net.W2, own, axis=0)
    answers = tuple(answer(text, net._replace(W2=W2)) for text in queries)
    rank = int(np.linalg.matrix_rank(W2 - net.W2))
    return Edit(capital, country, rank, float(np.abs(change).max()), answers)
