"""The only package that draws: scenes, which are data, become pictures, films and windows."""


class MissingPackageError(ImportError):
    """A package of the extra `view` is not installed; the message names the command."""
