"""`python -m castell`: the command line."""

from castell.cli import main

if __name__ == "__main__":
    main()
