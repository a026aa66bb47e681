#define SKEL_VOLUME_TARGET avx512
#define SKEL_VOLUME_NAME "avx512"
#include "kernel.inl"
