"""The pendulum in noisy pictures (chapter 08)."""
