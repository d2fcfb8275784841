import assert from "node:assert/strict";
import { createServer } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { deflateSync } from "node:zlib";
import jpeg from "jpeg-js";
import { ROOT } from "xs-mcp/root";
import { connectClient } from "xs-mcp-gateway/testing/gateway";
import { makePng } from "../doubles/made-png.js";
import { largeJpeg } from "../support/large-jpeg.js";
import { noSdk } from "../support/sdk.js";
import { listen } from "../support/testing.js";
import { startSimulatorOnline } from "./start-simulator.js";

/** 600 x 400 pixels, most of them noise. */
const PNG = Buffer.from(
	makePng(
		{
			width: 600,
			height: 400,
			rows: Array.from({ length: 400 }, (_, y) =>
				Array.from({ length: 1_800 }, (_, at) => (at % 3 === 2 ? (at * y * 31) % 251 : (at + y) & 255)),
			),
		},
		deflateSync,
		8_192,
	),
);

/** A gateway, the firmware in the simulator behind it, and a client of it. */
async function connect(t: TestContext) {
	const { server, base, log, lines } = await startSimulatorOnline(t, ROOT);
	const client = await connectClient(t, new URL(`${base}/mcp/${server.alias}`), "2025-11-25");
	/** The device's answer and the gateway's log, which show which of the two gave up. */
	const why = (text: string): string =>
		[
			text,
			...log()
				.split("\n")
				.filter((line) => /"level":"(warn|error)"/.test(line)),
		].join("\n");
	return { client, lines, why };
}

async function serve(t: TestContext, file: Buffer): Promise<string> {
	const server = createServer((_request, response) => response.end(file));
	return `http://127.0.0.1:${await listen(t, server)}/`;
}

describe("pictures in the simulator", { skip: noSdk }, () => {
	it("are taken by the camera, and are an image in the result", async (t) => {
		const { client, why } = await connect(t);
		const call = { name: "self_camera_take_photo", arguments: { question: "what?" } };
		for (const _ of [1, 2]) {
			const { content, isError } = await client.callTool(call);
			const [text, image] = content as [{ text: string }, { type: string; mimeType: string; data: string }];
			assert.ok(image, why(JSON.stringify(content)));
			assert.deepEqual([isError, image.type, image.mimeType], [false, "image", "image/jpeg"], why(text.text));
			const { width, height } = jpeg.decode(Buffer.from(image.data, "base64"));
			assert.ok(width >= 320 && height >= 240, `${width} x ${height} pixels`);
		}
	});

	it("are shown, however large, or rejected with the reason", async (t) => {
		const { client, lines } = await connect(t);
		const show = async (file: Buffer): Promise<string> => {
			const call = { name: "self_screen_preview_image", arguments: { url: await serve(t, file) } };
			const { content } = await client.callTool(call);
			return (content as { text: string }[])[0]?.text as string;
		};
		const picture = largeJpeg();
		assert.equal(await show(picture), "true");
		const progressive = Buffer.from(picture.subarray(0, 4_000));
		progressive[progressive.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc2;
		assert.match(await show(progressive), /progressive JPEG is not supported/);
		assert.match(await show(picture.subarray(0, 500_000)), /JPEG damaged or truncated/);
		assert.match(await show(Buffer.from("no picture")), /neither a JPEG nor a PNG/);
		assert.equal(await show(largeJpeg(64, 48)), "true");
		assert.equal(await show(PNG), "true");
		assert.match(await show(PNG.subarray(0, 30_000)), /PNG damaged or truncated/);
		const broken = Buffer.from(PNG);
		broken.fill(0, 5_000, 6_000);
		assert.match(await show(broken), /bad zlib data|PNG damaged/);
		assert.ok(!lines.some((line) => line.startsWith("it ended")), lines.join("\n"));
	});
});
