import pickle
from functools import partial

import pytest

from attendo.cluster.pool import _call, _Worker
from attendo.errors import DataError

pyarrow = pytest.importorskip("pyarrow")


def half(number: int) -> float:
    if number % 2:
        raise DataError(f"{number} is odd")
    return number / 2


def missing(number: int) -> int:
    raise FileNotFoundError(2, "No such file or directory", f"/data/{number}")


def test_what_users_can_cause_comes_back_as_a_value() -> None:
    rows = pyarrow.table({"task": [pickle.dumps(task) for task in ((half, 4), (half, 3), (missing, 1))]})
    done, odd, gone = (pickle.loads(row.as_py()) for row in _call(rows).column("outcome"))
    assert (done.result, done.error) == (2.0, None)
    assert (type(odd.error), str(odd.error)) == (DataError, "3 is odd")
    assert str(gone.error).startswith("/data/1: No such file or directory (on ")


def test_what_nobody_foresaw_is_raised() -> None:
    with pytest.raises(TypeError):
        _call(pyarrow.table({"task": [pickle.dumps((half, "four"))]}))


def test_a_worker_is_opened_once() -> None:
    opened: list[int] = []

    def opener() -> partial[float]:
        opened.append(1)
        return partial(half)

    worker = _Worker(opener)
    assert not opened
    rows = pyarrow.table({"task": [pickle.dumps(2), pickle.dumps(6)]})
    for _ in range(2):
        assert [pickle.loads(row.as_py()).result for row in worker(rows).column("outcome")] == [1.0, 3.0]
    assert opened == [1]
