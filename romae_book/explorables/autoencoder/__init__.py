"""Patches, masks and the masked autoencoder, played with (chapter 02)."""
