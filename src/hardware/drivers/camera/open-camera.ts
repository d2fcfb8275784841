/// <reference path="../../../types/camera.d.ts" />
import Camera from "embedded:io/image/in/camera";
import Timer from "timer";
import { ImageCamera, type ImageCameraOptions } from "./image-camera.js";

/** The camera of a target, by the SDK's driver. */
export const openCamera = (options: Omit<ImageCameraOptions, "camera" | "timer">): ImageCamera =>
	new ImageCamera({ ...options, camera: { io: Camera }, timer: Timer });
