"""Runs CUDA kernels without a GPU and reads what they did to the memory hierarchy."""
from .api import Error, Finding, Kernel, Line, Profile, read, run_program, run_ptx

__all__ = ["Error", "Finding", "Kernel", "Line", "Profile", "read", "run_program", "run_ptx"]
