#define SKEL_RT_TARGET portable
#define SKEL_RT_NAME "portable"
#include "kernel.inl"
