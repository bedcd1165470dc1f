"""`python -m eds.cli`: the same as `eds`."""

from eds.cli import main

main()
