#define SKEL_RT_TARGET avx2
#define SKEL_RT_NAME "avx2"
#include "kernel.inl"
