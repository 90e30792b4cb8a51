"""python -m romae_lite"""

import sys

from romae_book.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
