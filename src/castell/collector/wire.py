"""What goes over the wire: the shapes of a report, decoded strictly, and nothing else.

The decoder is made for one study: a code that no report of it can hold, a field that has no
place, a number in quotes or an id that is not written the one canonical way never gets past it.
"""

from __future__ import annotations

import base64
import secrets
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from castell.channels import MAX_TOTAL
from castell.collector.store.packing import Packing
from castell.collector.store.store import Submission, report_key
from castell.errors import CastellError, StudyError
from castell.study.study import Study

# 16 bytes are 22 characters, the last of which carries two bits: one way to write each id.
ID_PATTERN = "^[A-Za-z0-9_-]{21}[AQgw]$"
DIGEST_PATTERN = "^[0-9a-f]{64}$"
INVITATION_PATTERN = "^[a-z2-7]{20}$"

# Exact length beside the pattern: "$" alone would let a line feed follow.
Id = Annotated[str, msgspec.Meta(pattern=ID_PATTERN, min_length=22, max_length=22)]
Digest = Annotated[str, msgspec.Meta(pattern=DIGEST_PATTERN, min_length=64, max_length=64)]
Invitation = Annotated[str, msgspec.Meta(pattern=INVITATION_PATTERN, min_length=20, max_length=20)]


# What a refusal is counted as, where its status says it all.
_REASONS = {
    400: "not_json",
    401: "token",
    403: "invitation",
    408: "body_too_slow",
    409: "conflict",
    413: "body_too_long",
    415: "content_type",
    422: "not_a_report",
    429: "rate",
    503: "store",
}


class RefusedError(CastellError):
    """A request that is answered with a 4xx, or a 503, and never stored.

    `seconds` say when to come back, `state` why no report is taken now, and `needs` whose token
    would do, where that is known.
    """

    seconds: int | None = None
    state: str | None = None
    needs: str | None = None

    def __init__(self, status: int, problem: str, remedy: str, reason: str = "") -> None:
        super().__init__(problem, remedy)
        self.status = status
        self.reason = reason or _REASONS.get(status, "other")


@dataclass(frozen=True)
class Wire:
    """The two kinds of body a study's collector takes, ready to decode."""

    study: Study
    packing: Packing
    one: msgspec.json.Decoder[Any]
    bulk: msgspec.json.Decoder[Any]
    most: int
    # Words may have been corrected: who has the page with those before sends a report all the same.
    digests: frozenset[str]

    def decode_one(self, body: bytes) -> Submission:
        report = _decode(self.one, body)
        invited = isinstance(report.invitation, str)
        _check_once(body, 7 if invited else 5)
        self._same_study(report.study)
        made = (self._key(report.id), self.packing.pack(report.codes))
        return Submission((made,), report.invitation or None)

    def decode_bulk(self, body: bytes) -> Submission:
        sent = _decode(self.bulk, body)
        _check_once(body, 3 + 3 * len(sent.reports))
        self._same_study(sent.study)
        pack = self.packing.pack
        return Submission(tuple((self._key(r.id), pack(r.codes)) for r in sent.reports))

    def _key(self, id: str) -> bytes:
        return report_key(self.study, id_bytes(id))

    def _same_study(self, digest: str) -> None:
        if digest not in self.digests:
            raise RefusedError(
                409,
                "study changed: the report belongs to another study than the one collected here",
                "take /study.json again and ask the respondent again",
                "another_study",
            )


def wire_of(study: Study, *, most: int = 1000) -> Wire:
    """The decoders of a study: every code's limits are part of the type."""
    if max(study.design.widths) > MAX_TOTAL:
        raise StudyError(
            "this study's reports are too large for a browser's numbers",
            "a design of Bloom filters is for comparisons; collect with another design",
        )
    one, bulk = structs_of(study, most=most)
    return Wire(
        study,
        Packing(study.design.widths),
        msgspec.json.Decoder(one),
        msgspec.json.Decoder(bulk),
        most,
        frozenset(study.digests),
    )


def structs_of(study: Study, *, most: int) -> tuple[Any, Any]:
    """The types of a report and of a bulk of them."""
    limits: Any = tuple(
        Annotated[int, msgspec.Meta(ge=0, le=width - 1)] for width in study.design.widths
    )
    codes: Any = tuple[limits]
    fields: list[Any] = [("id", Id), ("study", Digest), ("codes", codes)]
    # Whether one is needed is the store's to say: they may be made while the collector runs.
    fields.append(("invitation", Invitation | msgspec.UnsetType, msgspec.UNSET))
    # Without cycles there is nothing for the garbage collector to look at, a thousand at a time.
    options: dict[str, Any] = {"forbid_unknown_fields": True, "frozen": True, "gc": False}
    one = msgspec.defstruct("Report", fields, **options)
    item = msgspec.defstruct("BulkReport", [("id", Id), ("codes", codes)], **options)
    several: Any = Annotated[list[item], msgspec.Meta(min_length=1, max_length=most)]  # type: ignore[valid-type]
    bulk = msgspec.defstruct("Bulk", [("study", Digest), ("reports", several)], **options)
    return one, bulk


def _decode(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RefusedError(
            422, f"not a report of this study: {error}", "send what the client makes"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RefusedError(400, f"not JSON in UTF-8: {error}", "send a JSON object") from None


def _check_once(body: bytes, strings: int) -> None:
    """No field twice: readers of JSON do not agree on which of the two counts.

    What was decoded has so many names and strings, none of which can hold a quote: a field that
    is there twice brings quotes that have no place.
    """
    if body.count(b'"') != 2 * strings:
        raise RefusedError(422, "a field is there twice", "send what the client makes")


def new_id() -> str:
    """A random report id, as it is written on the wire.

    >>> len(new_id())
    22
    """
    return id_text(secrets.token_bytes(16))


def id_text(raw: bytes) -> str:
    """
    >>> id_text(bytes(16))
    'AAAAAAAAAAAAAAAAAAAAAA'
    """
    return base64.urlsafe_b64encode(raw)[:22].decode()


def id_bytes(text: str) -> bytes:
    """The 16 bytes of an id that the decoder let through."""
    return base64.urlsafe_b64decode(text + "==")
