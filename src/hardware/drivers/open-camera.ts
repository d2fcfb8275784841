/// <reference path="../../types/camera.d.ts" />
import Camera from "embedded:io/image/in/camera";
import Timer from "timer";
import type { OpenMember } from "../board-data.js";
import { ImageCamera, type ImageCameraOptions } from "./image-camera.js";

/** Opens the camera of a target with the SDK's driver. */
export const openCamera = (options: Omit<ImageCameraOptions, "camera" | "timer">): ImageCamera =>
	new ImageCamera({ ...options, camera: { io: Camera }, timer: Timer });

/** Opens the camera of a board, which makes JPEG files. */
export default (({ data: { camera }, board }) => {
	const { width = 640, height = 480 } = camera ?? {};
	Object.assign(board, { camera: openCamera({ width, height }) });
}) satisfies OpenMember;
