"""The shells around the engine: PettingZoo, Gymnasium, vector and Stable-Baselines3."""
