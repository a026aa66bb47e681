#define SKEL_VOLUME_TARGET avx2
#define SKEL_VOLUME_NAME "avx2"
#include "kernel.inl"
