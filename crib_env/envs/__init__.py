"""The environments: PettingZoo, Gymnasium, vector and Stable-Baselines3, over the engine."""
