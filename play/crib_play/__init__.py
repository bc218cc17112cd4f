"""Tables at which people play and watch, and replays of games.

`crib_env.render` draws positions, and `crib_agents` chooses actions; nothing here trains.
"""
