"""What a report is called where people say or tick it: the words for each code of a block."""

from __future__ import annotations

from castell.channels.classic import NO_OR_YES
from castell.channels.protocol import Said
from castell.errors import StudyError
from castell.study.design import Block
from castell.study.schema import Attribute, Schema


def report_words(schema: Schema, block: Block) -> list[Said]:
    """For each attribute of a block the words of each of its reports, the usual one first."""
    channel = block.channel
    if channel.may_skip:
        attribute = schema[block.names[0]]
        answered = Attribute(attribute.name, attribute.values[:-1])
        inside = Block(block.names, (answered.size,), channel.if_answered)
        (words,) = report_words(Schema([answered]), inside)
        return [(*words, (attribute.values[-1],))]
    if channel.words_on_paper is not None:
        return [channel.words_on_paper or _names_of_reports(schema[block.names[0]])]
    if not block.reports_answers:
        raise StudyError(
            f"the reports of {' x '.join(block.names)} are no answers that could stand on paper",
            "give it a mechanism, or a matrix with as many columns as rows",
        )
    return [tuple((value,) for value in schema[name].values) for name in block.names]


def _names_of_reports(attribute: Attribute) -> Said:
    """Reports that are called as the values are; yes and no also as files write them."""
    if tuple(value.casefold() for value in attribute.values) == ("no", "yes"):
        return NO_OR_YES
    return tuple((value,) for value in attribute.values)
