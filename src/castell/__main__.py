"""`python -m castell`: the command line."""

from castell.cli.app import main

if __name__ == "__main__":
    main()
