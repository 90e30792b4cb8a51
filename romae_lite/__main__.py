"""python -m romae_lite: the book's command line, which lies beside the library."""

import sys

try:
    from romae_book.cli.commands import main
except ModuleNotFoundError as error:
    if error.name != "romae_book":
        raise
    sys.exit(
        "romae_lite: experiments, records and the book need a clone of the repository; "
        "this is the library alone"
    )

if __name__ == "__main__":
    sys.exit(main())
