"""Devices by their names, or by the address of a survey page."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from castell.auditing.browser_device import browser_device
from castell.auditing.devices import Device, FrameDevice, PythonDevice
from castell.errors import OptionError

BY_NAME: dict[str, Callable[[], Device]] = {"frame": FrameDevice, "python": PythonDevice}
NAMES = (*BY_NAME, "browser")
# So many devices by default: a browser makes some thousands of reports a second.
PEOPLE = {"frame": 1_000_000, "python": 10_000}
FEWEST, IN_A_BROWSER = 400, 40_000


def is_address(text: object) -> bool:
    return isinstance(text, str) and text.startswith(("http://", "https://"))


def open_device(device: Device | str) -> AbstractContextManager[Device]:
    """A device by its name, by the address of a survey page, or as it is."""
    if not isinstance(device, str):
        return _as_it_is(device)
    if device in BY_NAME:
        return _as_it_is(BY_NAME[device]())
    if device == "browser" or is_address(device):
        return browser_device(None if device == "browser" else device)
    raise OptionError(
        f"there is no device {device!r}",
        f"give {', '.join(NAMES)}, the address of a survey page, or a device of your own",
    )


@contextmanager
def _as_it_is(device: Device) -> Iterator[Device]:
    yield device
