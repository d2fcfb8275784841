/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * How XS is configured for the virtual device. Every XS source includes this file (through XSPLATFORM), so the whole
 * engine is compiled with one set of features: those of a microcontroller build, with its parser.
 */
#ifndef XS_MCP_HOST_PLATFORM_H
#define XS_MCP_HOST_PLATFORM_H

#if !defined(__BYTE_ORDER__) || (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
	#error "the XS host expects a little-endian machine"
#endif

#if defined(__APPLE__)
	#undef mxMacOSX
	#define mxMacOSX 1
#else
	#undef mxLinux
	#define mxLinux 1
#endif

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
	#include <sys/random.h>
#endif

/* What Math.random is made of: 0 to RAND_MAX. XS itself would call rand() and never seed it. */
int hostRandom(void);
#define c_rand hostRandom

/* What the engine contains. mxCESU8 stays undefined: strings are UTF-8, as on the chip. */
#define mxParse 1
#define mxRun 1
#define mxSloppy 1
#define mxMinusZero 1
#define mxBoundsCheck 1 /* check both stacks, as device builds do */
#define mxInstrument 1 /* record the peak of the stack */
#define mxNoConsole 1 /* standard output carries replies: XS must print nothing there */

/* What the engine takes from its own defaults. host.c has the rest. */
#define mxMachinePlatform
#define mxUseDefaultMachinePlatform 1
#define mxUseDefaultBuildKeys 1
#define mxUseDefaultFindModule 1
#define mxUseDefaultLoadModule 1
#define mxUseDefaultParseScript 1
#define mxUseDefaultSharedChunks 1
#define mxUseDefaultCStackLimit 0

#endif
