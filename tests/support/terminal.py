"""Running a command in a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path


def in_terminal(command: list[str], environment: dict[str, str], folder: Path | None = None) -> tuple[int, str]:
    """Exit code and everything shown in a pseudo-terminal."""
    main_end, other_end = pty.openpty()
    process = subprocess.Popen(command, stdout=other_end, stderr=other_end, env=environment, cwd=folder)
    os.close(other_end)
    shown = b""
    while True:
        try:
            part = os.read(main_end, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(main_end)
    return process.wait(), shown.decode()
