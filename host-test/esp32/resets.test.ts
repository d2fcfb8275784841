// Connections that a peer resets at the worst moment: an ESP32 handles them in another task than the one that reads and writes,
// on the other core if it has two. Run by npm test -- --esp32.
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { it, type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { MAX_HEADERS } from "../../src/protocols/http-server.js";
import { makeRandom } from "../node/hostile-messages.js";
import { freePort, until } from "../support/testing.js";
import { describeChips } from "./chips.js";
import { startChip } from "./device.js";
import { RESETS } from "./lengths.js";
import type { QemuImage } from "./qemu.js";

const PORT = 80;
/** Connections at a time: more than the chip serves. */
const AT_A_TIME = 6;
/** After so many resets it must answer. */
const BATCH = 60;
const SEED = 20_261_126;
/** Most milliseconds between two steps of a peer. */
const MAX_PAUSE = 8;
/** Characters of the console that contain the reason of a restart. */
const CONSOLE_SHOWN = 8_000;

const TOKEN = "a-secret-of-the-test";
const BODY = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const HEAD = [
	"POST /mcp HTTP/1.1",
	"Host: 127.0.0.1",
	`Authorization: Bearer ${TOKEN}`,
	"Content-Type: application/json",
	"Accept: application/json, text/event-stream",
	`Content-Length: ${BODY.length}`,
];
/** A usual request, and one with as many headers as may be: each takes a part of the heap. */
const REQUESTS = [0, MAX_HEADERS - HEAD.length + 1].map((count) =>
	[...HEAD, ...Array.from({ length: count }, (_, at) => `x${at}: 1`), "", BODY].join("\r\n"),
) as [string, string];

/** A peer that connects, may ask, may end its side, and resets the connection, each after a while or at once. */
async function resetOnce(port: number, random: () => number): Promise<void> {
	const peer: Socket = connect(port, "127.0.0.1").on("error", () => {});
	const pause = () => setTimeout(Math.floor(random() * MAX_PAUSE));
	await once(peer, "connect").catch(() => {});
	const [asks, ends] = [random() < 0.8, random() < 0.3];
	if (asks) {
		const request = REQUESTS[random() < 0.5 ? 0 : 1];
		peer.write(request.slice(0, random() < 0.7 ? undefined : Math.floor(random() * request.length)));
		await pause();
	}
	if (ends) {
		// Node would not close a socket that it shuts down at the same time: its process would never end.
		await new Promise<void>((resolve) => peer.end(resolve));
		await pause();
	}
	peer.resetAndDestroy();
}

async function resetOften(t: TestContext, image: QemuImage): Promise<void> {
	const port = await freePort();
	const url = `http://127.0.0.1:${port}/mcp`;
	const chip = startChip(t, {
		image,
		settings: { http: String(PORT), httpToken: TOKEN },
		network: `hostfwd=tcp:127.0.0.1:${port}-:${PORT}`,
	});
	const answers = async () => {
		const response = await fetch(url, {
			method: "POST",
			headers: {
				authorization: `Bearer ${TOKEN}`,
				"content-type": "application/json",
				accept: "application/json, text/event-stream",
			},
			body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
		}).catch(() => undefined);
		return response?.status === 200 && (await response.text()) !== "";
	};
	await until(answers, "the chip serves MCP");
	const random = makeRandom(SEED);
	const boots = () => chip.console().split("entry 0x").length;
	const before = boots();
	for (let count = BATCH; count <= RESETS; count += BATCH) {
		const turns = Array.from({ length: AT_A_TIME }, async () => {
			for (let turn = 0; turn < BATCH / AT_A_TIME; turn += 1) {
				await resetOnce(port, random);
			}
		});
		await Promise.all(turns);
		await until(answers, `the chip answers after ${count} resets`);
		assert.equal(
			boots(),
			before,
			`the chip restarted within ${count} resets:\n${chip.console().slice(-CONSOLE_SHOWN)}`,
		);
	}
}

describeChips({ topic: "resets" }, (build) => {
	it(`serves on after ${RESETS} connections that their peers reset`, async (t) => resetOften(t, await build()));
});
