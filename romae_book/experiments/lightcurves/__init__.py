"""Measured light curves: EROS-1, MALLORN, SPCC, ASAS and RR Lyrae of SDSS (chapter 10)."""
