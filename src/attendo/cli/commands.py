"""The commands of `attendo` by name; a command's module is imported when the command is asked for.

Twenty commands declare more than 300 options. Importing and declaring all of them takes longer than to translate a
line, and only `--help` names them all.
"""

from collections.abc import Callable, Mapping
from typing import Any

import typer

Command = Callable[..., Any]


def _demo() -> Command:
    from attendo.cli.demo import demo

    return demo


def _prepare() -> Command:
    from attendo.cli.prepare import prepare

    return prepare


def _train() -> Command:
    from attendo.cli.train import train

    return train


def _average() -> Command:
    from attendo.cli.average import average

    return average


def _translate() -> Command:
    from attendo.cli.translate import translate

    return translate


def _check() -> Command:
    from attendo.cli.check import check

    return check


def _serve() -> Command:
    from attendo.cli.serve import serve

    return serve


def _evaluate() -> Command:
    from attendo.cli.evaluate import evaluate

    return evaluate


def _calibrate() -> Command:
    from attendo.cli.calibrate import calibrate

    return calibrate


def _score() -> Command:
    from attendo.cli.score import score

    return score


def _compare() -> Command:
    from attendo.cli.compare import compare

    return compare


def _learn() -> Command:
    from attendo.cli.learn import learn

    return learn


def _parse() -> Command:
    from attendo.cli.parse import parse

    return parse


def _evalb() -> Command:
    from attendo.cli.evalb import evalb

    return evalb


def _attention() -> Command:
    from attendo.cli.attention import attention

    return attention


def _plot() -> Command:
    from attendo.cli.plot import plot

    return plot


def _export() -> Command:
    from attendo.cli.export import export

    return export


def _import() -> Command:
    from attendo.cli.import_ import import_

    return import_


def _info() -> Command:
    from attendo.cli.info import info

    return info


def _recipe() -> Command:
    from attendo.cli.recipe import recipe

    return recipe


def _reproduce() -> Command:
    from attendo.cli.reproduce import reproduce

    return reproduce


def _data() -> typer.Typer:
    from attendo.cli.data import data

    return data


def _bench() -> typer.Typer:
    from attendo.cli.bench import bench

    return bench


def _models() -> typer.Typer:
    from attendo.cli.models import models

    return models


def _keys() -> typer.Typer:
    from attendo.cli.keys import keys

    return keys


def _memory() -> typer.Typer:
    from attendo.cli.memory import memory

    return memory


def _draw() -> typer.Typer:
    from attendo.cli.draw import draw

    return draw


COMMANDS: Mapping[str, Callable[[], Command]] = {
    "demo": _demo,
    "prepare": _prepare,
    "train": _train,
    "average": _average,
    "translate": _translate,
    "check": _check,
    "serve": _serve,
    "evaluate": _evaluate,
    "calibrate": _calibrate,
    "score": _score,
    "compare": _compare,
    "learn": _learn,
    "parse": _parse,
    "evalb": _evalb,
    "attention": _attention,
    "plot": _plot,
    "export": _export,
    "import": _import,
    "info": _info,
    "recipe": _recipe,
    "reproduce": _reproduce,
}
"""The function that imports each command, in the order of `--help`, by typical use."""

GROUPS: Mapping[str, Callable[[], typer.Typer]] = {
    "data": _data,
    "bench": _bench,
    "models": _models,
    "keys": _keys,
    "memory": _memory,
    "draw": _draw,
}
"""The function that imports each group of commands; `--help` lists them after the commands."""
