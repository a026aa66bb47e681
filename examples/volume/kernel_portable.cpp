#define SKEL_VOLUME_TARGET portable
#define SKEL_VOLUME_NAME "portable"
#include "kernel.inl"
