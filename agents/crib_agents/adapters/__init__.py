"""What makes an agent of something else.

- `nets`: a network in PyTorch, or in an ``.onnx`` file.
- `sb3`: a model trained with Stable-Baselines3.
- `scored`: anything that scores actions; the two above are made of it.
- `learned`: an observation and a network, read from a ``.safetensors`` file.
- `phased`: two agents; one discards, the other plays the cards.
- `plain`: a player in plain Python, who is asked about cards as text.
- `process`: an agent in a process of its own, which can be stopped.
- `timed`: an agent under a stop-watch.
"""
