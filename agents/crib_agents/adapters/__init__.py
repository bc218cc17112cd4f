"""Adapters that turn other things into agents.

- `nets`: a network in PyTorch, or in an ``.onnx`` file.
- `sb3`: a model trained with Stable-Baselines3.
- `scored`: anything that scores actions; the base of the two above.
- `learned`: an observation and a network, read from a ``.safetensors`` file.
- `phased`: two agents; one discards, the other pegs.
- `plain`: a player in plain Python, which sees cards as text.
- `process`: an agent in its own process, which can be stopped.
- `timed`: an agent with a stop-watch.
"""
