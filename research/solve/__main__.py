"""The command ``python -m research.solve``."""

from crib_training.command_line import start

from research.solve.run import Settings, run

if __name__ == "__main__":
    start(Settings, run)
