// Faults on demand, for main.ts.

#include "xsmc.h"

/** Writes where there is no memory: the chip panics. */
void xs_faulty_panic(xsMachine *the)
{
	*(volatile int *)0 = 0;
}
