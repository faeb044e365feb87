"""What goes over the wire: the shapes of a report, decoded strictly, and nothing else.

The decoder is made for one study: a code that no report of it can hold, a field that has no
place, a number in quotes or an id that is not written the one canonical way never gets past it.
"""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

from castell.channels import MAX_TOTAL
from castell.collector.store.stage_rows import StageRows
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
class StageWire:
    """The two kinds of body that reports of one stage come in, ready to decode."""

    study: Study
    place: int
    one: msgspec.json.Decoder[Any]
    bulk: msgspec.json.Decoder[Any]


class _Named(msgspec.Struct):
    """As much of a body as says which stage it is of."""

    study: str


@dataclass(frozen=True)
class Wire:
    """What a study's collector takes: reports of its present stage, and of those before it.

    Who has the page of an earlier stage, or with words before a correction, sends a report all the
    same.
    """

    stages: tuple[StageWire, ...]
    rows: StageRows
    most: int
    by_digest: Mapping[str, StageWire]

    @property
    def study(self) -> Study:
        """The present stage."""
        return self.stages[-1].study

    @property
    def digits(self) -> int:
        """How many characters the codes of one report take at most."""
        widths = [stage.study.design.widths for stage in self.stages]
        return max(sum(len(str(width)) + 2 for width in each) for each in widths)

    def decode_one(self, body: bytes) -> Submission:
        stage = self._stage_of(body)
        report = _decode(stage.one, body)
        invited = isinstance(report.invitation, str)
        _check_once(body, 7 if invited else 5)
        self._check_study(report.study, stage)
        made = (self._key(report.id), self.rows.pack(report.codes, stage.place))
        return Submission((made,), report.invitation or None)

    def decode_bulk(self, body: bytes) -> Submission:
        stage = self._stage_of(body)
        sent = _decode(stage.bulk, body)
        _check_once(body, 3 + 3 * len(sent.reports))
        self._check_study(sent.study, stage)
        pack, place = self.rows.pack, stage.place
        return Submission(tuple((self._key(r.id), pack(r.codes, place)) for r in sent.reports))

    def _stage_of(self, body: bytes) -> StageWire:
        """Whose decoder is for a body; the present one's says what is wrong with any other."""
        if len(self.stages) == 1:
            return self.stages[0]
        try:
            named = _NAMED.decode(body).study
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            named = ""
        return self.by_digest.get(named, self.stages[-1])

    def _key(self, id: str) -> bytes:
        return report_key(self.study, id_bytes(id))

    def _check_study(self, digest: str, stage: StageWire) -> None:
        if self.by_digest.get(digest) is not stage:
            raise RefusedError(
                409,
                "study changed: the report belongs to another study than the one collected here",
                "take /study.json again and ask the respondent again",
                "another_study",
            )


_NAMED = msgspec.json.Decoder(_Named)


def wire_of(*stages: Study, most: int = 1000) -> Wire:
    """The decoders of a study's stages: every code's limits are part of the type."""
    found = []
    for place, study in enumerate(stages):
        if max(study.design.widths) > MAX_TOTAL:
            raise StudyError(
                "this study's reports are too large for a browser's numbers",
                "a design of Bloom filters is for comparisons; collect with another design",
            )
        one, bulk = (msgspec.json.Decoder(kind) for kind in structs_of(study, most=most))
        found.append(StageWire(study, place, one, bulk))
    by_digest = {digest: stage for stage in found for digest in stage.study.digests}
    return Wire(tuple(found), StageRows(stages), most, by_digest)


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
