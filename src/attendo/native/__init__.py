"""The native kernels: a decoder in C++ behind a C interface, built at install time where a compiler is found."""
