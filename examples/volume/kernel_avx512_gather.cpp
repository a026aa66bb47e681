#define SKEL_VOLUME_TARGET avx512_gather
#define SKEL_VOLUME_NAME "avx512-gather"
#define SKEL_VOLUME_GATHERS
#include "kernel.inl"
