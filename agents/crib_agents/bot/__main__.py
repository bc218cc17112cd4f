"""Serve an agent over the bot protocol: ``python -m crib_agents.bot NAME``."""

import os
import sys

from crib_agents.bot.serve import main

if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m crib_agents.bot NAME")
    main(sys.argv[1], leads=os.getpgrp() == os.getpid())
