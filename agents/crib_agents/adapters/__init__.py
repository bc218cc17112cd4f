"""Adapters that turn models, functions and programs into agents.

- `models`: a network in PyTorch, or a model trained with Stable-Baselines3.
- `onnx`: a network in an ``.onnx`` file, read and written.
- `plain`: a player in plain Python, which sees cards as text.
- `agent_wrappers`: one agent for each phase; one that sees canonical cards; one with a timer.
"""
