"""What computes a step: the native kernels, torch, or several models as one."""
