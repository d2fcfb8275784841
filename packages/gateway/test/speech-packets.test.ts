import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { whyNoOpus } from "../../../host-test/support/optional-program.js";
import { skipIf } from "../../../host-test/support/testing.js";
import { makeSpeech } from "../src/speech/speech.js";
import { encodeWav } from "../src/speech/wav.js";

const speech = makeSpeech(async (seconds) =>
	encodeWav({ sampleRate: 22_050, samples: Buffer.alloc(2 * 22_050 * Number(seconds), 1) }),
);
const say = (seconds: string) => speech.text(seconds, { principal: "local", signal: new AbortController().signal });

async function collect(packets: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
	const all: Uint8Array[] = [];
	for await (const packet of packets) {
		all.push(packet);
	}
	return all;
}

describe("packets of a text", { skip: skipIf(await whyNoOpus()) }, () => {
	it("are ready when the first is encoded: a long text begins before a short one has ended", async () => {
		const [long, short] = [say("60"), say("3")];
		const order: string[] = [];
		await Promise.all([
			long.packets().then(() => order.push("long")),
			short.packets().then(async (packets) => order.push(`short ${(await collect(packets)).length}`)),
		]);
		assert.deepEqual(order, ["long", "short 50"]);
		long.withdraw();
		short.withdraw();
	});

	it("are the same for all devices, also for one that begins late", async () => {
		const text = say("3");
		const packets = await text.packets();
		assert.equal(await text.packets(), packets);
		const [one, other] = await Promise.all([collect(packets), collect(packets)]);
		assert.equal(one.length, 50);
		const late = await collect(packets);
		assert.ok(one.every((packet, index) => packet === other[index] && packet === late[index]));
		text.withdraw();
	});

	it("of several texts are encoded one in a turn of the event loop: calls need not wait for all of them", async () => {
		let turn = 0;
		const next = (): void => {
			turn += 1;
			loop = setImmediate(next);
		};
		let loop = setImmediate(next);
		const turns = await Promise.all(
			Array.from({ length: 8 }, async () => {
				const text = say("3");
				const own: number[] = [];
				for await (const _packet of await text.packets()) {
					own.push(turn);
				}
				text.withdraw();
				return own.slice(1);
			}),
		);
		clearImmediate(loop);
		assert.equal(turns.flat().length, 8 * 49);
		assert.equal(new Set(turns.flat()).size, 8 * 49);
	});

	it("are not encoded any more when the text is withdrawn before the first is there", async () => {
		const text = say("60");
		const packets = text.packets();
		text.withdraw();
		assert.ok((await collect(await packets)).length <= 1);
	});

	it("are not encoded any more when the text is withdrawn", async () => {
		const text = say("60");
		const packets = await text.packets();
		text.withdraw();
		assert.equal((await collect(packets)).length, 1);
	});
});
