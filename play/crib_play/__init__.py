"""Where people look and play: tables at which a person sits, and games to look at again.

What is shown is drawn in `crib_env.render` and decided by `crib_agents`; nothing here trains.
"""
