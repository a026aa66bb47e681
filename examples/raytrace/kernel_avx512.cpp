#define SKEL_RT_TARGET avx512
#define SKEL_RT_NAME "avx512"
#include "kernel.inl"
