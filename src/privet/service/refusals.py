"""A request that is refused: a status, a word that a page can translate, and one sentence."""


class Refusal(Exception):
    """What a server answers instead of doing what was asked."""

    def __init__(self, status: int, code: str, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.retry_after = status, code, message, retry_after
