import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { describe, it } from "node:test";
import { makeDestination, makeLog, makePrettyFormat } from "../src/log.js";
import { limitLog } from "../src/log-limiter.js";

function logged(format?: (line: string) => string) {
	let text = "";
	const output = new Writable({
		write(chunk, _, done) {
			text += chunk;
			done();
		},
	});
	return { log: makeLog("info", makeDestination(output, format)), text: () => text };
}

describe("the log", () => {
	it("is a JSON object a line, without secrets", () => {
		const { log, text } = logged();
		log.info({ device: "lamp", token: "xsmcp_secret" }, "device connected");
		const { time, ...line } = JSON.parse(text());
		assert.match(time, /^2[0-9]{3}-/);
		assert.deepEqual(line, { level: "info", device: "lamp", token: "***", msg: "device connected" });
	});

	it("sums up what strangers cause, instead of a line each", (t) => {
		t.mock.timers.enable({ apis: ["setTimeout"] });
		const { log, text } = logged();
		const limiter = limitLog(log);
		for (let count = 0; count < 60; count += 1) {
			limiter.warn("token", {}, "rejected: wrong token");
		}
		t.mock.timers.tick(10_000);
		const lines = text().trim().split("\n");
		assert.equal(lines.length, 11);
		assert.match(lines[10] ?? "", /"count":50,.*50 more/);
	});

	it("has no characters that a terminal would obey, and is read as the same text", () => {
		const { log, text } = logged();
		const device = "lamp\u202etxt.exe\u2066\u009b31m";
		log.warn({ device }, "device connected");
		const line = text();
		assert.doesNotMatch(line, /[\u202e\u2066\u009b]/);
		assert.equal(JSON.parse(line).device, device);
	});

	it("is a plain sentence with details for people", async () => {
		const { log, text } = logged(await makePrettyFormat(false));
		log.warn({ device: "lamp", count: 3 }, "device connected");
		assert.match(text(), /^\[[0-9:]{8}\] WARN: device connected device=lamp count=3\n$/);
	});

	it("never sends a device's control characters to a terminal", async () => {
		const { log, text } = logged(await makePrettyFormat(false));
		log.info({ device: "a\u001b[2Jb\u009b31m", params: { text: "\u202e\n" } }, "x\u0007\r\ny");
		assert.match(text(), / x\\u0007\\u000d\\ny device=a\\u001b\[2Jb\\u009b31m params=\{"text":"\\u202e\\n"\}\n$/);
	});
});
