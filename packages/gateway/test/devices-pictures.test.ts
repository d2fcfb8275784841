import assert from "node:assert/strict";
import { request } from "node:http";
import { describe, it, type TestContext } from "node:test";
import { until } from "../../../host-test/support/testing.js";
import { connectClient, type WireCall, WireDevice } from "../testing/gateway.js";
import { jpeg, PNG, startCamera, takePhoto, type Upload, upload, visionOf } from "../testing/pictures.js";

const text = (value: string) => ({ content: [{ type: "text", text: value }], isError: false });

/** Calls take_photo on a device which uploads this, and tells how the gateway answered the upload. */
async function photograph(t: TestContext, change: (vision: { url: string; token: string }) => Partial<Upload>) {
	const { client, device, answers } = await startUploading(t, change);
	const result = await takePhoto(client, "What is it?");
	return { result, answer: answers[0] as Awaited<ReturnType<typeof upload>>, device };
}

async function startUploading(t: TestContext, change: (vision: { url: string; token: string }) => Partial<Upload>) {
	const answers: Awaited<ReturnType<typeof upload>>[] = [];
	const onCall = (call: WireCall, device: WireDevice): undefined => {
		const vision = visionOf(device);
		void upload({ ...vision, question: "What is it?", file: jpeg(), ...change(vision) }).then((answer) => {
			answers.push(answer);
			device.answer(call.id, text(JSON.stringify(answer.body)));
		});
	};
	return { answers, ...(await startCamera(t, { onCall })) };
}

describe("pictures that devices upload", () => {
	for (const [name, file, mimeType] of [
		["a JPEG", jpeg(), "image/jpeg"],
		["a PNG", PNG, "image/png"],
	] as const) {
		it(`adds ${name} to the result of the call during which it was taken`, async (t) => {
			const { result, answer } = await photograph(t, () => ({ file }));
			assert.deepEqual([answer.status, answer.body.success], [200, true]);
			assert.deepEqual(result.content.slice(1), [{ type: "image", mimeType, data: file.toString("base64") }]);
			assert.match(JSON.stringify(result.content[0]), /The picture is in the result/);
		});
	}

	it("takes a picture of exactly maxPictureBytes", async (t) => {
		const { result, answer } = await photograph(t, () => ({ file: jpeg(2_097_148) }));
		assert.deepEqual([answer.status, result.content.length], [200, 2]);
	});

	const rejected: [string, number, RegExp, (vision: { url: string }) => Partial<Upload>][] = [
		["a file one byte too large", 413, /limit 2097152 bytes/, () => ({ file: jpeg(2_097_149) })],
		["a text file named .jpg", 415, /neither a JPEG nor a PNG/, () => ({ file: Buffer.from("hello, world") })],
		["an empty file", 415, /neither a JPEG nor a PNG/, () => ({ file: Buffer.alloc(0) })],
		["a wrong token", 401, /bearer token/, () => ({ token: "wrong" })],
		["the id of another device", 401, /another device/, () => ({ headers: { "Device-Id": "aa:bb:cc:00:00:99" } })],
		["the client id of another device", 401, /another device/, () => ({ headers: { "Client-Id": "someone" } })],
		["a picture for another question", 409, /no call in progress/, () => ({ question: "Where is it?" })],
		[
			"an upload with a wrong ticket",
			401,
			/unknown or expired upload/,
			({ url }) => ({ url: url.replace("explain", "upload/x") }),
		],
	];
	for (const [name, status, message, change] of rejected) {
		it(`rejects ${name}`, async (t) => {
			const { result, answer } = await photograph(t, change);
			assert.deepEqual([answer.status, answer.body.success], [status, false]);
			assert.match(String(answer.body.message), message);
			assert.equal(result.content.length, 1);
		});
	}

	it("says in the result of a failed call why the picture was rejected", async (t) => {
		const onCall = ({ id }: WireCall, device: WireDevice): undefined => {
			void upload({ ...visionOf(device), question: "?", file: Buffer.from("text") }).then(({ status }) =>
				device.answer(id, { ...text(`HTTP status ${status}`), isError: true }),
			);
		};
		const { client } = await startCamera(t, { onCall });
		const { content } = await takePhoto(client, "?");
		assert.deepEqual(content[1], {
			type: "text",
			text: "The gateway rejected the picture: the file is neither a JPEG nor a PNG",
		});
	});

	it("rejects the token of a session that has ended", async (t) => {
		const { device, started } = await startUploading(t, () => ({}));
		const { url, token } = visionOf(device);
		await device.unplug();
		const again = await WireDevice.connect(t, started);
		assert.notEqual(visionOf(again).token, token);
		assert.equal((await upload({ url, token, question: "", file: jpeg() })).status, 401);
	});

	it("gives each of two calls at the same time its own picture", async (t) => {
		const calls: WireCall[] = [];
		const onCall = (call: WireCall, device: WireDevice): undefined => {
			calls.push(call);
			if (calls.length === 2) {
				// The second one is faster.
				void [...calls].reverse().reduce(async (before, { id, arguments: args }) => {
					await before;
					const question = String(args.question);
					const file = question === "left" ? jpeg(10) : jpeg(20);
					await upload({ ...visionOf(device), question, file });
					device.answer(id, text(question));
				}, Promise.resolve());
			}
		};
		const { client } = await startCamera(t, { onCall });
		const results = await Promise.all(["left", "right"].map((question) => takePhoto(client, question)));
		const sizes = results.map(({ content }) => Buffer.from((content[1] as { data: string }).data, "base64").length);
		assert.deepEqual(sizes, [14, 24]);
	});

	/** Two calls with one question; each photo has the size of its request's id. */
	async function twoAlike(
		t: TestContext,
		namesRequests: boolean,
		onCalled: (calls: WireCall[], device: WireDevice) => void,
	) {
		const calls: WireCall[] = [];
		const onCall = (call: WireCall, device: WireDevice): undefined => {
			calls.push(call);
			onCalled(calls, device);
		};
		const { client, device } = await startCamera(t, { onCall });
		if (namesRequests) {
			await upload({ ...visionOf(device), file: jpeg(), headers: { "Mcp-Request-Id": "999" } });
		}
		const results = await Promise.all([1, 2].map(() => takePhoto(client, "what")));
		for (const { content } of results) {
			const id = Number((content[0] as { text: string }).text);
			const { length } = Buffer.from((content[1] as { data: string }).data, "base64");
			assert.equal(length, jpeg(id).length, "the photo of its own call");
		}
	}

	async function answer({ id }: WireCall, device: WireDevice, headers: Record<string, string>): Promise<void> {
		await upload({ ...visionOf(device), question: "what", file: jpeg(id), headers });
		device.answer(id, text(String(id)));
	}

	it("gives each of two calls with one question the picture that names its request", async (t) => {
		const headers = ({ id }: WireCall) => ({ "Mcp-Request-Id": String(id) });
		await twoAlike(t, true, ([first, second], device) => {
			if (first !== undefined && second !== undefined) {
				void answer(second, device, headers(second)).then(() => answer(first, device, headers(first)));
			}
		});
	});

	it("lets a call wait for one with the same question if the device does not name requests", async (t) => {
		let running = 0;
		await twoAlike(t, false, (calls, device) => {
			running += 1;
			assert.equal(running, 1);
			const call = calls.at(-1) as WireCall;
			void upload({ ...visionOf(device), question: "what", file: jpeg(call.id) }).then(() => {
				running -= 1;
				device.answer(call.id, text(String(call.id)));
			});
		});
	});

	it("rejects a late picture of a call that has ended, although the next one has its question", async (t) => {
		const { device, client } = await startCamera(t, { onCall: () => undefined });
		const first = takePhoto(client, "what");
		await until(() => device.calls.length === 1, "the first call");
		const [before] = device.calls as [WireCall];
		device.answer(before.id, text("failed"));
		await first;
		const second = takePhoto(client, "what");
		await until(() => device.calls.length === 2, "the second call");
		const headers = { "Mcp-Request-Id": String(before.id) };
		const late = await upload({ ...visionOf(device), question: "what", file: jpeg(), headers });
		device.answer(device.calls[1]?.id as number, text("done"));
		assert.deepEqual([late.status, (await second).content.length], [409, 1]);
	});

	it("asks no more of a device than it can do: five photos at a time are all answered", async (t) => {
		let running = 0;
		const onCall = (call: WireCall, device: WireDevice): undefined => {
			running += 1;
			if (running > 2) {
				device.answer(call.id, { ...text("too many HTTP requests in progress (limit 2)"), isError: true });
				return;
			}
			const question = String(call.arguments.question);
			void upload({ ...visionOf(device), question, file: jpeg(Number(question)) }).then(() => {
				running -= 1;
				device.answer(call.id, text(question));
			});
		};
		const { client } = await startCamera(t, { onCall });
		const results = await Promise.all([10, 20, 30, 40, 50].map((size) => takePhoto(client, String(size))));
		const sizes = results.map(({ content }) => Buffer.from((content[1] as { data: string }).data, "base64").length);
		assert.deepEqual(sizes, [14, 24, 34, 44, 54]);
	});

	it("takes few uploads of a device at a time, so that others get their turn", async (t) => {
		const { started, ...first } = await startCamera(t, { onCall: () => undefined });
		const stuck = takePhoto(first.client, "slow").catch(() => {});
		await until(() => first.device.calls.length === 1, "the first call");
		const { url, token } = visionOf(first.device);
		const rejected: (number | undefined)[] = [];
		const uploads = Array.from({ length: 40 }, () => {
			const headers = {
				authorization: `Bearer ${token}`,
				"content-type": "multipart/form-data; boundary=x",
				"transfer-encoding": "chunked",
			};
			const upload = request(url, { method: "POST", headers });
			upload.on("response", ({ statusCode }) => rejected.push(statusCode)).on("error", () => {});
			upload.write("--x");
			return upload;
		});
		t.after(() => {
			for (const upload of uploads) {
				upload.destroy();
			}
		});
		await until(() => rejected.length >= 38, "all but two are rejected");
		assert.deepEqual(new Set(rejected), new Set([503]));
		const onCall = (call: WireCall, device: WireDevice): undefined => {
			void upload({ ...visionOf(device), question: "fast", file: jpeg() }).then(({ status }) =>
				device.answer(call.id, text(String(status))),
			);
		};
		const id = "aa:bb:cc:00:00:02";
		await WireDevice.connect(t, started, { id, tools: first.device.tools, onCall });
		const other = await connectClient(t, new URL(`${started.base}/mcp/lamp_000002`), "2025-11-25");
		const { content } = await takePhoto(other, "fast");
		assert.deepEqual(content[0], { type: "text", text: "200" });
		first.device.answer(first.device.calls[0]?.id as number, text("done"));
		await stuck;
	});

	it("limits wrong tokens, but still takes pictures with the right one", async (t) => {
		const { device } = await startCamera(t, {}, { maxWrongTokensPerMinute: 2 });
		const { url, token } = visionOf(device);
		const statuses: number[] = [];
		for (const secret of ["one", "two", "three", token]) {
			statuses.push((await upload({ url, token: secret, question: "", file: jpeg() })).status);
		}
		assert.deepEqual(statuses, [401, 401, 429, 409]);
	});
});

describe("self.screen.snapshot", () => {
	it("gets an upload URL of the gateway if the client names none, and its picture is in the result", async (t) => {
		const onCall = ({ id, arguments: args }: WireCall, device: WireDevice): undefined => {
			void upload({ url: String(args.url), file: jpeg() }).then(() => device.answer(id, text("true")));
		};
		const { started, client, device } = await startCamera(t, { onCall }, { userTools: ["*"] });
		const { tools } = await client.listTools();
		const snapshot = tools.find(({ name }) => name === "self_screen_snapshot");
		assert.deepEqual(snapshot?.inputSchema.required, []);
		const { content } = await client.callTool({ name: "self_screen_snapshot", arguments: { quality: 50 } });
		assert.deepEqual(content[1], { type: "image", mimeType: "image/jpeg", data: jpeg().toString("base64") });
		const { url, quality } = (device.calls[0] as WireCall).arguments as { url: string; quality: number };
		assert.equal(quality, 50);
		const late = await upload({ url, file: jpeg() });
		assert.equal(late.status, 401, "the URL is good for that call only");
		assert.doesNotMatch(started.log(), new RegExp(url.split("/").pop() as string), "no ticket in the log");
	});

	it("uploads to the URL that the client names", async (t) => {
		const { client, device } = await startCamera(t, {}, { userTools: ["*"], fetchHosts: ["192.0.2.1"] });
		const url = "http://192.0.2.1/upload";
		const { content } = await client.callTool({ name: "self_screen_snapshot", arguments: { url } });
		assert.deepEqual([device.calls[0]?.arguments.url, content.length], [url, 1]);
	});
});
