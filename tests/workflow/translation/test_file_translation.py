from pathlib import Path

import pytest

from attendo.text.parts import ScannedFile
from attendo.workflow.translation.file_translation import part_lines


@pytest.mark.parametrize(
    ("num_lines", "line_bytes", "window_lines", "expected"),
    [
        (100_000_000, 100, 512, 19 * 512),  # 10,000 lines are 19 whole windows and a bit
        (1_000_000, 100, 512, 512),  # 1,000 parts would have 1,000 lines, which is one whole window
        (3, 100, 512, 512),
        (10_000_000, 10, 20_000, 20_000),
        (0, 0, 512, 512),
        (1_000, 512, 512, 512),
        (1_000, 5_000, 512, 52),  # 256 KiB of documents
        (1_000, 1_000_000, 512, 1),
    ],
)
def test_parts_are_whole_windows_or_fewer_long_lines(
    num_lines: int, line_bytes: int, window_lines: int, expected: int
) -> None:
    size = num_lines * line_bytes
    text = ScannedFile(path=Path(), size=size, mtime_ns=0, sha256="", lines_before=None, num_lines=num_lines)
    assert part_lines(text, window_lines) == expected
