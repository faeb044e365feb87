"""What can go wrong, each kind with what to do about it.

Every error is a problem and a remedy, on one line, so that a program can show it to a person as
it is.
"""


class CastellError(ValueError):
    """The base of all errors this package raises on purpose.

    >>> str(CastellError("the cup is empty", "fill it"))
    'the cup is empty: fill it'
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem = problem
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.problem}: {self.remedy}"


class SchemaError(CastellError):
    """The attributes or their values cannot be asked like this."""


class StudyError(CastellError):
    """The study as written is not one: its file, its design or its budget."""


class StudyChangedError(StudyError):
    """Another study stands where one was seen before."""


class ChannelError(CastellError):
    """A randomisation matrix that gives no privacy or cannot be taken back out."""


class AnswerError(CastellError):
    """An answer that the study does not know."""


class ReportError(CastellError):
    """Reports that are not this study's, or not reports."""


class SendError(CastellError):
    """A report that a collector did not take. `final` if sending it again cannot help."""

    def __init__(self, problem: str, remedy: str, *, final: bool) -> None:
        super().__init__(problem, remedy)
        self.final = final


class QueryError(CastellError):
    """A question to a model that it cannot answer as put."""


class TableTooLargeError(QueryError):
    """A table that would not fit: refused before anything is allocated."""


class OptionError(CastellError):
    """An unknown method, option or setting."""


class MethodError(OptionError):
    """A method that cannot read the reports it is given."""


class PluginError(OptionError):
    """Something that an installed package adds does not work, or has a name that is taken."""


class MissingExtraError(CastellError, ImportError):
    """A feature whose optional dependency is not installed."""
