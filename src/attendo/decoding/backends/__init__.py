"""Implementations of a decoder step: the native kernels, torch, and several models as one."""
