"""Costs as a user writes them: numbers, columns, arithmetic of columns, and texts that are none of these."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from uneven.app.files.table import Table, read_table
from uneven.app.models.written_costs import WrittenCosts, columns_in, cost_of_rows, number_in, scale_misses
from uneven.errors import CostError, UnevenError

FRAME = pd.DataFrame(
    {
        "amount": [10.0, 250.5, 3.0],
        "amount due": [1.0, 2.0, 4.0],
        "Preis (€)": [7.0, 8.0, 9.0],
        "max": [5.0, 1.0, 2.0],
        "2024": [100.0, 100.0, 100.0],
        "e": [1.0, 2.0, 3.0],
        "gap": ["1", "", "3"],
        "word": ["1", "two", "3"],
        "zero": [0.0, 1.0, 2.0],
    }
)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("costs") / "t.csv"
    FRAME.to_csv(path, index=False)
    return read_table(str(path))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amount", FRAME["amount"]),
        (" amount due ", FRAME["amount due"]),
        ("amount*0.9 + 5", FRAME["amount"] * 0.9 + 5),
        ("amount due*2 - amount", FRAME["amount due"] * 2 - FRAME["amount"]),
        ("`amount due`/3", FRAME["amount due"] / 3),
        ("Preis (€)", FRAME["Preis (€)"]),
        ("2*Preis (€)+1", 2 * FRAME["Preis (€)"] + 1),
        ("max(amount, 20) + max", np.maximum(FRAME["amount"], 20) + FRAME["max"]),
        ("min(amount, e*3, 8)", np.minimum(np.minimum(FRAME["amount"], FRAME["e"] * 3), 8)),
        ("-(amount - 1e3)/2", -(FRAME["amount"] - 1000) / 2),
        ("2024 + 0*amount", 2024 + 0 * FRAME["amount"]),
        ("`2024` + amount", FRAME["2024"] + FRAME["amount"]),
        ("amount/amount due/e", FRAME["amount"] / FRAME["amount due"] / FRAME["e"]),
    ],
)
def test_values(table: Table, text: str, expected: pd.Series) -> None:
    assert np.array_equal(cost_of_rows("--fn-cost", text, table), expected.to_numpy())


def test_columns_are_known(table: Table) -> None:
    assert columns_in("--fn-cost", "amount due*2 + max(e, 1)", table) == ["amount due", "e"]


@pytest.mark.parametrize(
    ("text", "number"), [("20", 20), ("1/3", "1/3"), ("0.5", "1/2"), ("3*(25 - 5)", 60), ("-2", -2), ("amount", None)]
)
def test_numbers_are_exact(text: str, number: object) -> None:
    from fractions import Fraction

    found = number_in("--fn-cost", text)
    assert found == (None if number is None else Fraction(number))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("__import__('os').system('true')", "there is no function '__import__' for costs (allowed: min, max"),
        ("().__class__", "there is no column '__class__'"),
        ("amount.__class__", "there is no column '__class__'"),
        ("10**10**10", "costs have no powers"),
        ("amount^2", "costs have no powers"),
        ("(" * 70 + "amount" + ")" * 70, "nested deeper than 60"),
        ("amount" + "+amount" * 400, "at most 2000 characters"),
        ("9" * 3000, "within the range of double precision"),
        ("amont", "there is no column 'amont' (did you mean 'amount'?), which --fn-cost needs"),
        ("amont*2", "there is no column 'amont' (did you mean 'amount'?), which --fn-cost 'amont*2' needs"),
        ("`amount du`*2", "there is no column 'amount du' (did you mean 'amount due'?)"),
        ("t", "there is no column 't'"),
        ("pi*amount", "there is no column 'pi'"),
        ("log(amount)", "there is no function 'log' for costs"),
        ("max(amount)", "max takes two or more arguments, 1 given"),
        ("amount*", "expected a number, a column or '(', found the end"),
        ("amount amount", "there is no column 'amount amount'"),
        ("(amount) amount", "found 'amount'"),
        ("1,5", "numbers have a decimal point"),
        ("amount < 3", "found '<'"),
        ("", "got an empty text"),
        ("amount; 3", "the character ';' is not part of the language"),
        ("1e400", "within the range of double precision"),
        ("1/0*amount", "row 1 below the header: --fn-cost '1/0*amount' is not a finite number there (amount = 10)"),
        ("amount/zero", "row 1 below the header: --fn-cost 'amount/zero' is not a finite number there"),
        ("gap", "row 2 below the header: column 'gap' is empty, but --fn-cost needs a number in every row"),
        ("word + 1", "row 2 below the header: column 'word' has 'two', which is not a number"),
    ],
)
def test_what_is_no_cost_is_one_sentence(table: Table, text: str, sentence: str) -> None:
    with pytest.raises(UnevenError) as error:
        WrittenCosts("1", text).of(table)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("costs", "sentence"),
    [
        ({"fp_cost": "0", "fn_cost": "1"}, "--fp-cost must be positive, got '0'"),
        ({"fp_cost": "1", "fn_cost": "-1"}, "--fn-cost must be positive, got '-1'"),
        ({"fp_cost": "1", "fn_cost": "5", "tp_cost": "5"}, "--fn-cost must be above --tp-cost (5), got '5'"),
    ],
)
def test_a_mistake_must_cost_more(costs: dict[str, str], sentence: str) -> None:
    with pytest.raises(CostError) as error:
        WrittenCosts(**costs)
    assert str(error.value) == sentence


def test_costs_of_rows_and_their_words(table: Table) -> None:
    given = WrittenCosts("4", "amount*0.9 + 5", tp_cost="4", unit="EUR")
    assert given.per_row
    costs = given.of(table)
    assert np.array_equal(np.asarray(costs.fn_regret), FRAME["amount"] * 0.9 + 5 - 4)
    assert given.in_words(costs) == (
        "A miss costs amount*0.9 + 5 (7.7 to 230.5 EUR, mean 84.05), a false alarm costs 4 EUR and a hit costs 4 EUR. "
        "So on average a miss costs 80.05 EUR more than a hit, and a false alarm 4 EUR more than a correct all-clear."
    )
    double = scale_misses(costs, 2.0)
    assert np.allclose(double.fn_regret, 2 * np.asarray(costs.fn_regret))
    assert double.fp_regret == costs.fp_regret
    numbers = WrittenCosts("1/3", "2*10")
    assert not numbers.per_row
    assert numbers.numbers() == {"fp_cost": "1/3", "fn_cost": "20", "tp_cost": "0", "tn_cost": "0"}
    assert numbers.in_words(numbers.of(table)) == "A miss costs 20 and a false alarm costs 0.3333."


def test_a_single_row_whose_mistake_pays_can_be_decided(table: Table) -> None:
    costs = WrittenCosts("4", "amount", tp_cost="4").of(table.rows(np.array([False, False, True])))
    assert costs.prefers_positive(np.array([0.9])).tolist() == [False]
