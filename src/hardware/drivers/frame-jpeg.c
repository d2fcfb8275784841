// A camera's pixels as a JPEG file, for src/hardware/drivers/frame-jpeg.ts: by the encoder of esp32-camera, which the SDK's
// camera uses.

#include "xsmc.h"
#include "mc.xs.h"
#include "xsHost.h"

#include "img_converters.h"

static void fileDestructor(void *data)
{
	if (data)
		c_free(data);
}

// Pixels (RGB565, the high byte first), width, height, quality. The file is a host buffer outside the heap of XS.
void xs_framejpeg_encode(xsMachine *the)
{
	void *pixels;
	xsUnsignedValue byteLength;
	int width = xsmcToInteger(xsArg(1));
	int height = xsmcToInteger(xsArg(2));
	int quality = xsmcToInteger(xsArg(3));
	uint8_t *file = NULL;
	size_t fileLength = 0;

	xsmcVars(1);
	xsmcGetBufferReadable(xsArg(0), &pixels, &byteLength);
	if ((width <= 0) || (height <= 0) || (byteLength < (xsUnsignedValue)(width * height * 2)))
		xsRangeError("invalid size");
	if (!fmt2jpg(pixels, width * height * 2, width, height, PIXFORMAT_RGB565, quality, &file, &fileLength))
		xsUnknownError("the photo cannot be encoded: no memory");

	xsResult = xsNewHostObject(fileDestructor);
	xsmcSetHostBuffer(xsResult, file, fileLength);
	xsmcSetInteger(xsVar(0), fileLength);
	xsmcDefine(xsResult, xsID_byteLength, xsVar(0), xsDefault);
}
