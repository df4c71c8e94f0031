"""Three facts in an FFN: each query fires its own key, a stop word none, an edit changes one fact."""

import numpy as np
import pytest

from ffncalc.errors import InputError
from ffncalc.numeric.experiments.facts import FACTS, WORDS, facts, network, word_vectors


def test_words_are_at_right_angles() -> None:
    """Every word's vector has length 1 and nothing in common with any other, exactly."""
    E = word_vectors()
    np.testing.assert_array_equal(E @ E.T, np.eye(len(WORDS)))


@pytest.mark.parametrize("capital", FACTS)
def test_a_capital_fires_its_own_key_and_writes_its_country(capital: str) -> None:
    """One coefficient is 1, the others exactly 0, and the first word is the country."""
    (answer,) = facts(capital).answers
    assert answer.coefficients == tuple(float(other == capital) for other in FACTS)
    assert [word.word for word in answer.words] == list(FACTS[capital])


@pytest.mark.parametrize("word", [word for word in WORDS if word not in FACTS])
def test_other_words_fire_nothing(word: str) -> None:
    """A stop word, or a country, stays below every threshold and writes nothing."""
    (answer,) = facts(word).answers
    assert (answer.coefficients, answer.words) == ((0.0, 0.0, 0.0), ())


def test_mixed_query() -> None:
    """A query can be moved: both memories fire by how far they match."""
    (answer,) = facts("0.8*tokyo + 0.6 Paris").answers
    assert answer.coefficients == pytest.approx((0.2, 0.6, 0.0))


def test_values_point_at_their_words() -> None:
    """Through the output matrix a value's top word is the country, and its probability is that of a softmax."""
    memory = facts().memories[1]
    assert (memory.key, memory.words[0].word) == ("Tokyo", "Japan")
    assert memory.words[0].probability == pytest.approx(np.exp(4) / (np.exp(4) + np.exp(1) + 14))


@pytest.mark.parametrize("edit", ["Tokyo=Peru", "paris = Italy", "Cairo=the"])
def test_an_edit_rewrites_one_fact(edit: str) -> None:
    """The edited capital writes the new word alone, the others what they wrote, by a change of rank one."""
    report = facts(edit=edit)
    assert report.edit is not None
    capital, word = (part.strip().lower() for part in edit.split("="))
    assert (report.edit.rank, report.edit.others_change) == (1, 0.0)
    for before, after in zip(report.answers, report.edit.answers, strict=True):
        if before.query.lower() == capital:
            assert [found.word.lower() for found in after.words] == [word]
        else:
            assert after == before


@pytest.mark.parametrize(
    ("query", "edit", "message"),
    [
        ("Berlin", None, "there is no 'Berlin'"),
        ("", None, "is no word and no sum"),
        ("2 * 3", None, "is no word and no sum"),
        (None, "Tokyo", "is not written like Tokyo=Peru"),
        (None, "Lima=Peru", "there is no 'Lima' among Paris, Tokyo, Cairo"),
        (None, "Tokyo=Spain", "there is no 'Spain'"),
    ],
)
def test_refusals(query: str | None, edit: str | None, message: str) -> None:
    """Words that there aren't are refused by name."""
    with pytest.raises(InputError, match=message):
        facts(query, edit)


def test_nothing_is_learned() -> None:
    """The arrays are the three facts and nothing else: three keys, three values."""
    net = network()
    assert (net.W1.shape, net.W2.shape) == ((16, 3), (3, 16))
