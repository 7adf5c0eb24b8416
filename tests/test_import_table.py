"""Imports point one way: the table of ARCHITECTURE.md, held against the source."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import attendo

ROOT = Path(attendo.__file__).parent

# Each row may import from the rows above it and from itself; two of one row do not know each other.
TABLE = [
    ["errors", "version"],
    ["destinations"],
    ["files", "reading", "settings", "threads", "xml_text"],
    ["output_folders"],
    ["text"],
    ["formats", "parsing"],
    ["model", "native"],
    ["checkpoint"],
    ["training", "decoding"],
    ["evaluation", "interop", "markup"],
    ["recipe", "attention_maps"],
    ["workflow", "diagrams"],
    ["demo", "bench", "cluster", "plots", "spacy", "serving", "client"],
    ["paper"],
    ["cli"],
    ["__main__"],
]
RANK = {part: rank for rank, row in enumerate(TABLE) for part in row}

EXTRAS = {
    "tensorboard",
    "torch.utils.tensorboard",
    "ctranslate2",
    "transformers",
    "onnx",
    "onnxruntime",
    "google.protobuf",
    "nltk",
    "pyarrow",
    "ray",
    "sentencepiece.sentencepiece_model_pb2",  # which needs protobuf
}
"""Not installed everywhere: what needs one imports it where it is wanted, so that the rest works without."""
NEED_TORCH = {
    "torch",
    "attendo.checkpoint.run_checkpoints",
    "attendo.decoding.torch_model",
    "attendo.model.building",
    "attendo.workflow.brief_waits",
    "attendo.workflow.device",
    "attendo.workflow.run_verification",
    "attendo.workflow.torch_facts",
}
"""torch, and the modules of ours that import it and that decoding uses only where the native kernels are not enough."""
SLOW = {"attendo.recipe", "attendo.settings.validated"}
"""What imports pydantic, which takes longer than translating a line, and is asked only where something is unusual."""

WITHOUT_TORCH = [
    "attendo.formats",
    "attendo.text",
    "attendo.parsing",
    "attendo.evaluation",
    "attendo.recipe",
    "attendo.errors",
    "attendo.destinations",
    "attendo.files",
    "attendo.output_folders",
    "attendo.reading",
    "attendo.settings",
    "attendo.threads",
    "attendo.xml_text",
    "attendo.native",
    "attendo.attention_maps",
    "attendo.client",
    "attendo.decoding.engine",
    "attendo.serving",
    "attendo.workflow.confidence",
    "attendo.workflow.file_translation",
    "attendo.workflow.inspect",
    "attendo.workflow.parse",
    "attendo.workflow.translate",
    "attendo.workflow.verification",
]


def module_name(path: Path) -> str:
    return ".".join(("attendo", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imported(tree: ast.AST) -> set[str]:
    """What a module imports of attendo; `from attendo.x import y` counts as `attendo.x.y` where that is a module."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= {name if name in MODULES else str(node.module) for name in full}
    return {name for name in names if name == "attendo" or name.startswith("attendo.")}


def part_of(module: str) -> str:
    return module.split(".")[1]


def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@pytest.mark.parametrize("module", [name for name in MODULES if name != "attendo"])
def test_imports_point_downwards(module: str) -> None:
    part = part_of(module)
    assert part in RANK, f"{module}: give it a place in the table, here and in ARCHITECTURE.md"
    for name in imported(parsed(module)):
        if name == "attendo":  # the version
            assert part == "cli" or RANK[part] >= RANK["workflow"], f"{module} imports the package itself"
            continue
        other = part_of(name)
        assert other == part or RANK[other] < RANK[part], f"{module} imports {name}, which stands above or beside it"


def test_there_is_no_cycle() -> None:
    graph = {module: imported(parsed(module)) & MODULES.keys() - {module, "attendo"} for module in MODULES}
    done: set[str] = set()

    def visit(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, f"a cycle: {' > '.join([*path, module])}"
        if module not in done:
            for name in graph[module]:
                visit(name, (*path, module))
            done.add(module)

    for module in graph:
        if module != "attendo":  # its names are lazy
            visit(module, ())


def is_of_an_extra(node: ast.Import | ast.ImportFrom) -> bool:
    names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    lazy = EXTRAS | NEED_TORCH | SLOW
    return all(any(name == extra or name.startswith(f"{extra}.") for extra in lazy) for name in names)


@pytest.mark.parametrize("module", [name for name in MODULES if name != "attendo" and part_of(name) != "cli"])
def test_imports_stand_at_the_top(module: str) -> None:
    inside = [
        node.lineno
        for function in ast.walk(parsed(module))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom) and not is_of_an_extra(node)
    ]
    assert not inside, f"{module}: an import inside a function or class, line {inside}"


@pytest.mark.parametrize("package", [name for name in MODULES if MODULES[name].name == "__init__.py"])
def test_packages_hold_a_docstring_only(package: str) -> None:
    if package == "attendo":
        return
    (docstring,) = parsed(package).body
    assert isinstance(docstring, ast.Expr)


def test_text_evaluation_recipes_decoding_serving_and_the_command_line_start_without_torch() -> None:
    wanted = [name for name in MODULES if any(name == root or name.startswith(f"{root}.") for root in WITHOUT_TORCH)]
    wanted += [name for name in MODULES if part_of(f"{name}.") == "cli" and not name.endswith("__main__")]
    wanted += ["attendo.workflow.prepare"]
    code = f"import sys, {', '.join(wanted)}; sys.exit('torch' in sys.modules)"
    finished = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr or "torch was imported"
