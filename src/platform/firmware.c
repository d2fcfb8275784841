// Identity of the firmware in its image, for src/platform/firmware.ts. The manifests define its parts.

#include "xsmc.h"
#include "xsHost.h"
#include "mc.xs.h"
#include "mc.defines.h"

// ESP-IDF's linker puts this section behind its own description of the image: src/hardware/drivers/image-identity.ts reads it
// there before an update is stored. The functions below refer to it, or the linker would drop it.
#if ESP32
	#define IN_IMAGE __attribute__((section(".rodata_custom_desc"), aligned(4), used))
#else
	#define IN_IMAGE
#endif

static const struct {
	char magic[8];
	char project[32];
	char version[32];
	char board[32];
} image IN_IMAGE = { "xs-mcp/1", MODDEF_FIRMWARE_PROJECT, MODDEF_FIRMWARE_VERSION, MODDEF_FIRMWARE_BOARD };

void xs_image_project(xsMachine *the)
{
	xsmcSetString(xsResult, (char *)image.project);
}

void xs_image_version(xsMachine *the)
{
	xsmcSetString(xsResult, (char *)image.version);
}

void xs_image_board(xsMachine *the)
{
	xsmcSetString(xsResult, (char *)image.board);
}
