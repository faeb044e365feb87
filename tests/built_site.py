"""The documentation site, built as `make docs` builds it, into a folder of a test's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"


def build(folder: Path) -> subprocess.CompletedProcess[str]:
    """Build it below the folder, in `site`."""
    words = ["--fresh-env", "--fail-on-warning", "--keep-going", "--quiet", "-b", "html"]
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *words, "-d", folder / "trees", DOCS, folder / "site"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
