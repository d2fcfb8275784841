/// <reference path="../../types/camera.d.ts" />
import Camera from "embedded:io/image/in/camera";
import Timer from "timer";
import { inBuild } from "../../platform/in-build.js";
import type { OpenMember } from "../board-data.js";
import type frameJpeg from "./frame-jpeg.js";
import { imageCamera } from "./image-camera.js";

/** Opens the camera of a board with the SDK's driver. Builds for a camera without JPEG output have the encoder. */
export default (({ data: { camera }, board }) => {
	const { width = 640, height = 480 } = camera ?? {};
	const jpeg = inBuild<typeof frameJpeg>("src/hardware/drivers/frame-jpeg");
	const options = { width, height, io: Camera, timer: Timer, ...jpeg };
	Object.assign(board, { camera: imageCamera(options) });
}) satisfies OpenMember;
