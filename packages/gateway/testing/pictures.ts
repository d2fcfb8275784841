import type { TestContext } from "node:test";
import type { Client } from "@modelcontextprotocol/client";
import { connectClient, type WireDevice, type WireDeviceOptions } from "./gateway.js";
import { type startProgram, startProgramWithDevice } from "./program.js";

const TAKE_PHOTO = {
	name: "self.camera.take_photo",
	description: "Take a photo.",
	inputSchema: { type: "object", properties: { question: { type: "string" } }, required: ["question"] },
};

const SNAPSHOT = {
	name: "self.screen.snapshot",
	description: "Upload the screen.",
	inputSchema: {
		type: "object",
		properties: { url: { type: "string" }, quality: { type: "integer" } },
		required: ["url"],
		additionalProperties: false,
	},
};

export function jpeg(bytes = 1_000): Buffer {
	return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(bytes, 7)]);
}

export const PNG = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(100, 9)]);

export async function startCamera(
	t: TestContext,
	options: WireDeviceOptions,
	flags: Parameters<typeof startProgram>[1] = {},
) {
	const tools = [TAKE_PHOTO, SNAPSHOT];
	const { started, device } = await startProgramWithDevice(t, { tools, ...options }, flags);
	const client = await connectClient(t, new URL(`${started.base}/mcp/lamp_000001`), "2025-11-25");
	return { started, device, client };
}

export function visionOf(device: WireDevice): { url: string; token: string } {
	return device.capabilities.vision as { url: string; token: string };
}

export interface Upload {
	readonly url: string;
	readonly token?: string;
	readonly question?: string;
	readonly file: Buffer;
	readonly headers?: Record<string, string>;
}

export async function upload({ url, token, question, file, headers = {} }: Upload) {
	const form = new FormData();
	if (question !== undefined) {
		form.set("question", question);
	}
	form.set("file", new Blob([new Uint8Array(file)], { type: "image/jpeg" }), "camera.jpg");
	const response = await fetch(url, {
		method: "POST",
		headers: { ...(token !== undefined && { Authorization: `Bearer ${token}` }), ...headers },
		body: form,
	});
	return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

export async function takePhoto(client: Client, question: string) {
	return await client.callTool({ name: "self_camera_take_photo", arguments: { question } });
}
