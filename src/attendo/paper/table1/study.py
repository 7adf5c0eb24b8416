"""`attendo reproduce table1`: the cost of each layer type, counted and measured, and its path lengths."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from attendo.bench.machine import float32_speed, this_machine, versions
from attendo.bench.systems import torch_threads
from attendo.errors import DataError
from attendo.model.config import EncoderLayerType
from attendo.paper.experiment import Outcome, OwnExperiment, Reporter, StudyRequest
from attendo.paper.report import Paragraph, Report, Section, Shell, Table, write_report
from attendo.paper.study_folder import alone, kept, measured_once
from attendo.paper.table1.findings import Findings
from attendo.paper.table1.layers import (
    BY_NAME,
    LAYERS,
    Layer,
    Sizes,
    count_operations,
    find_crossing,
    passage,
    peak_bytes,
    stacked,
    sub_layer,
    time_passes,
)
from attendo.paper.table1.paths import (
    fewest_layers,
    from_end_to_end,
    from_the_middle,
    longest_chain,
    operations_on_the_way,
)
from attendo.paper.table1.points import (
    GRAPH_WIDTH,
    GRAPH_WINDOW,
    KEPT,
    PLANS,
    BytesAt,
    CrossingAt,
    GraphAt,
    Measurement,
    OperationsAt,
    Place,
    Plan,
    SecondsAt,
)
from attendo.paper.table1.report import table1_report

_OPERATIONS_OF_A_UNIT = 9
"""Upper bound of the operations that one unit of a formula of the work stands for."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """A measurement to make."""

    name: str
    """Name of its file, without the ending."""
    measure: Callable[[], Measurement]


def reproduce(request: StudyRequest, reporter: Reporter, should_stop: Callable[[], bool]) -> Outcome:
    """Makes the measurements that are not kept in `request.folder` yet, each once, and writes the page.

    Measurements run one after the other, whatever `request.jobs` is. Times are taken in `request.seeds` rounds through
    all sizes, so that a short load on the machine does not affect a single size alone.

    Args:
        request: options; at the scale `paper` it runs on a graphics card if there is one, else on one thread.
        reporter: receives the progress.
        should_stop: called between measurements.

    Raises:
        AttendoError: a data folder is given, which this experiment does not read; or another process holds the folder.
        OSError: the folder cannot be written to.
    """
    _check_no_data(request)
    plan, tasks = PLANS[request.scale], all_tasks(request)
    points = request.folder / "points"
    points.mkdir(parents=True, exist_ok=True)
    measurements: list[Measurement] = []
    with alone(request.folder), torch_threads(1):
        for number, task in enumerate(tasks):
            if should_stop():
                return Outcome(report=None, interrupted=True)
            reporter.running(number, len(tasks), task.name)
            measurements.append(measured_once(points / f"{task.name}.json", KEPT, task.measure))
        reporter.running(len(tasks), len(tasks), "")
    report = table1_report(request, plan, Findings.of(measurements))
    write_report(request.folder, report)
    return Outcome(report=report)


def forecast(request: StudyRequest, reporter: Reporter) -> Report:
    """Returns the sizes to measure, and about how long that takes on this machine.

    Raises:
        AttendoError: a data folder is given, which this experiment does not read.
    """
    _check_no_data(request)
    plan, tasks = PLANS[request.scale], all_tasks(request)
    done = sum(kept(request.folder / "points" / f"{task.name}.json", KEPT) is not None for task in tasks)
    with torch_threads(1):
        seconds = _expected_s(request, plan)
    rows = (
        ("operations counted", "n", _listed(plan.counted_lengths)),
        ("operations, time and memory", "d", f"{_listed(plan.widths)} at n = {plan.length}"),
        ("operations, time", "k", f"{_listed(plan.kernels)} at n = {plan.length}, d = {plan.width}"),
        ("operations, time", "r", f"{_listed(plan.windows)} at d = {plan.width}"),
        ("time", "n", f"{_listed(plan.lengths)} at d = {plan.width}"),
        ("memory", "n", f"{_listed(plan.memory_lengths)} at d = {plan.width}"),
        ("steps and paths", "n", f"{_listed(plan.graph_lengths)} at d = {GRAPH_WIDTH}"),
    )
    device = _device(request)
    where = "on one thread of the processor" if device.type == "cpu" else "at the most, with a graphics card"
    total = (
        f"{len(tasks)} measurements, {done} of them kept; times in {request.seeds} rounds. All together take about "
        f"{max(1, round(seconds / 60))} minutes {where}, if nothing else is running."
    )
    sizes = Table(caption="Sizes", columns=("what", "over", "sizes"), rows=rows, words=3)
    return Report(
        title=f"Table 1 at the scale '{request.scale}', in {request.folder}",
        introduction=(total,),
        sections=(Section(title="Plan", blocks=(sizes, Paragraph(text="To start:"), Shell(lines=(request.command,)))),),
        data={
            "table": "table1",
            "scale": request.scale,
            "rounds": request.seeds,
            "measurements": len(tasks),
            "kept": done,
            "seconds": seconds,
            "layers": [layer.name for layer in LAYERS],
        },
    )


def all_tasks(request: StudyRequest) -> tuple[Task, ...]:
    """Returns all measurements to make: first those that need no repetition, then the times, round by round."""
    plan, device = PLANS[request.scale], _device(request)
    place = Place(
        machine=this_machine().to_text(),
        device="one thread of the processor" if device.type == "cpu" else torch.cuda.get_device_name(device),
        versions=versions(),
    )
    tasks = [_operations(layer, sizes) for layer in LAYERS for sizes in _swept(plan, layer, plan.counted_lengths)]
    tasks += [_crossing(d) for d in plan.counted_crossings]
    lengths = sorted({*plan.graph_lengths, *plan.way_lengths})
    tasks += [_graph(layer, n, plan, with_way=n in plan.way_lengths) for layer in LAYERS for n in lengths]
    for layer in LAYERS:
        sweeps = [*plan.sweep(layer, "n", plan.memory_lengths), *plan.sweep(layer, "d", ())]
        tasks += [_bytes(layer.name, sizes, device, place) for sizes in dict.fromkeys(sweeps)]
    for number in range(1, request.seeds + 1):
        tasks += [_seconds(*timed, number, plan, device, place) for timed in all_timed(plan)]
    return tuple(tasks)


def all_timed(plan: Plan) -> tuple[tuple[EncoderLayerType, Sizes], ...]:
    """Returns the layers and sizes that are timed in each round."""
    timed = [(layer.name, sizes) for layer in LAYERS for sizes in _swept(plan, layer, plan.lengths)]
    both: tuple[EncoderLayerType, ...] = ("self-attention", "recurrent")
    for d in plan.timed_crossings:
        sweep = [Sizes(n=n, d=d, k=plan.kernels[0], r=plan.window) for n in plan.crossing_lengths]
        timed += [(name, sizes) for name in both for sizes in sweep]
    return tuple(dict.fromkeys(timed))


def _swept(plan: Plan, layer: Layer, lengths: tuple[int, ...]) -> list[Sizes]:
    return list(dict.fromkeys(sizes for variable in "ndkr" for sizes in plan.sweep(layer, variable, lengths)))


def _operations(layer: Layer, sizes: Sizes) -> Task:
    def measure() -> Measurement:
        return OperationsAt(layer=layer.name, sizes=sizes, operations=count_operations(layer.name, sizes))

    return Task(name=f"operations-{layer.name}-{sizes.to_text()}", measure=measure)


def _crossing(d: int) -> Task:
    return Task(name=f"crossing-d{d}", measure=lambda: CrossingAt(crossing=find_crossing(d)))


def _graph(layer: Layer, n: int, plan: Plan, *, with_way: bool) -> Task:
    sizes = Sizes(n=n, d=GRAPH_WIDTH, k=plan.kernels[0], r=GRAPH_WINDOW)

    def measure() -> Measurement:
        alone, hidden = sub_layer(layer.name, sizes), torch.zeros(1, n, sizes.d)

        def fewest(pairs: tuple[tuple[int, int], ...]) -> int | None:
            return fewest_layers(lambda index: stacked(layer, sizes, index), n, sizes.d, pairs)

        ends, way = fewest(from_end_to_end(n)), None
        if ends is not None and with_way:
            way = operations_on_the_way([stacked(layer, sizes, index) for index in range(ends)], n, sizes.d)
        return GraphAt(
            layer=layer.name,
            sizes=sizes,
            chain=longest_chain(lambda: alone(hidden, None)),
            from_the_middle=fewest(from_the_middle(n)),
            from_end_to_end=ends,
            on_the_way=way,
        )

    return Task(name=f"graph-{layer.name}-{sizes.to_text()}", measure=measure)


def _bytes(name: EncoderLayerType, sizes: Sizes, device: torch.device, place: Place) -> Task:
    def measure() -> Measurement:
        peak = peak_bytes(passage(name, sizes, device), device)
        return BytesAt(layer=name, sizes=sizes, peak=peak, place=place)

    return Task(name=f"bytes-{name}-{sizes.to_text()}", measure=measure)


def _seconds(name: EncoderLayerType, sizes: Sizes, number: int, plan: Plan, device: torch.device, place: Place) -> Task:
    def measure() -> Measurement:
        call = passage(name, sizes, device)
        seconds = time_passes(call, device, repeats=plan.repeats, most_s=plan.most_s)
        return SecondsAt(layer=name, sizes=sizes, round=number, seconds=seconds, place=place)

    return Task(name=f"seconds-{name}-{sizes.to_text()}-round-{number}", measure=measure)


def _expected_s(request: StudyRequest, plan: Plan) -> float:
    """Estimates the seconds of all measurements, from a short recurrence and this machine's speed of products."""
    device, speed, short = torch.device("cpu"), float32_speed(1), 32
    probe = passage("recurrent", Sizes(n=short, d=plan.width, k=3, r=3), device)
    step_s = min(time_passes(probe, device, repeats=3, most_s=1)) / short

    def estimated_s(name: EncoderLayerType, sizes: Sizes) -> float:
        waiting = step_s * (sizes.n if name == "recurrent" else 8)
        return waiting + 3 * _OPERATIONS_OF_A_UNIT * BY_NAME[name].operations(sizes) / speed

    total = 0.0
    for name, sizes in all_timed(plan):
        pass_s = estimated_s(name, sizes)
        total += request.seeds * pass_s * (1 + max(2, min(plan.repeats, plan.most_s / pass_s)))
    counted = sum(plan.counted_lengths) + len(plan.widths) * plan.length
    graph = sum(n**2 for n in plan.way_lengths) + sum(plan.graph_lengths)
    # Counting visits each operation of a step, the profiler each allocation, a path search each part of a gradient.
    return total + step_s * (10 * counted + 8 * sum(plan.memory_lengths) + 10 * graph)


def _device(request: StudyRequest) -> torch.device:
    return torch.device("cuda" if request.scale == "paper" and torch.cuda.is_available() else "cpu")


def _check_no_data(request: StudyRequest) -> None:
    if request.data is not None:
        raise DataError("--data: table1 measures layers and reads no corpora; leave it out")


def _listed(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


TABLE1 = OwnExperiment(unit="measurements", reproduce=reproduce, forecast=forecast)
