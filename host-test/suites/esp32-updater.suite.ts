import { FIRMWARE } from "../../src/core/firmware.js";
import { esp32Updater } from "../../src/hardware/drivers/esp32-updater.js";
import type { ImageIdentity } from "../../src/hardware/drivers/image-identity.js";
import type { UpdaterParts } from "../../src/hardware/drivers/open-updater.js";
import { equal, failureOf, given, matches, suite, throws } from "../harness.js";

/** ESP-IDF's numbers of chips: esp_chip_model_t, and in an image. */
const ESP32 = { model: 1, chip: 0 };
const ESP32_C3 = { model: 5, chip: 5 };
const ESP32_S3 = { model: 9, chip: 9 };

/** Bytes of the images under test, and where they have their identity: behind ESP-IDF's header and description. */
const IMAGE_BYTES = 420;
const IDENTITY_AT = 24 + 8 + 256;

function image({ chip }: { chip: number }, identity: Partial<ImageIdentity> = {}): Uint8Array {
	const { name, version, board } = { ...FIRMWARE, version: "2.0.0", ...identity };
	const bytes = new Uint8Array(IMAGE_BYTES);
	bytes.set([0xe9, 5, 2, 0x20]);
	bytes[12] = chip;
	["xs-mcp/1", name, version, board].forEach((text, index) => {
		const at = IDENTITY_AT + (index === 0 ? 0 : 8 + 32 * (index - 1));
		bytes.set(new Uint8Array(ArrayBuffer.fromString(text)), at);
	});
	return bytes;
}

function updaterOf({ model }: { model: number }, fault: { readonly begin?: string; readonly end?: string } = {}) {
	const events: string[] = [];
	const stored: number[] = [];
	const hashed: number[] = [];
	class FakeDigest {
		#length = 0;

		write(piece: ArrayBuffer): void {
			this.#length += piece.byteLength;
			hashed.push(...new Uint8Array(piece));
		}

		close(): ArrayBuffer {
			return Uint8Array.of(this.#length).buffer;
		}
	}
	const flash = {
		open: () => ({ status: () => ({ size: 1_900_544 }), close: () => events.push("close partition") }),
	};
	const update = {
		open() {
			if (fault.begin !== undefined) {
				throw new Error(fault.begin);
			}
			return {
				write: (piece: ArrayBuffer) => stored.push(...new Uint8Array(piece)),
				complete() {
					if (fault.end !== undefined) {
						throw new Error(fault.end);
					}
					events.push("complete");
				},
				close: () => events.push("close update"),
			};
		},
	};
	const parts = {
		flash,
		update,
		Digest: FakeDigest,
		chip: {
			isOnTrial: true,
			confirm: () => events.push("confirm"),
			rollBack: () => events.push("rollBack"),
			numbers: { model },
		},
		verify: (_key: ArrayBuffer, digest: ArrayBuffer) => new Uint8Array(digest)[0] === 6,
	};
	const updater = esp32Updater(parts as object as UpdaterParts);
	return { updater, events, stored, hashed };
}

const updater = () => updaterOf(ESP32);

export default suite("an ESP32's updater", {
	async "stores and hashes an image, whatever its pieces"() {
		for (const size of [1, 24, 288, 391, 392, 393, IMAGE_BYTES]) {
			const { updater, events, stored, hashed } = updaterOf(ESP32_C3);
			const bytes = image(ESP32_C3);
			const sink = updater.begin({});
			for (let at = 0; at < bytes.length; at += size) {
				sink.write(bytes.slice(at, at + size).buffer);
			}
			equal(await sink.digest(), Uint8Array.of(IMAGE_BYTES).buffer);
			// The fake digest is the number of bytes: the one byte of the image's digest, and the five of the version.
			equal(await sink.isSigned(new ArrayBuffer(65), new ArrayBuffer(64), ArrayBuffer.fromString("1.2.0")), true);
			await sink.finish();
			const signed = [IMAGE_BYTES & 0xff, ...new Uint8Array(ArrayBuffer.fromString("1.2.0"))];
			equal([stored, hashed], [[...bytes], [...bytes, ...signed]], `pieces of ${size}`);
			equal(events, ["complete", "close update", "close partition"]);
		}
	},
	"takes images for its own chip only"() {
		for (const own of [ESP32, ESP32_C3, ESP32_S3]) {
			for (const other of [ESP32, ESP32_C3, ESP32_S3]) {
				const { updater, stored } = updaterOf(own);
				const sink = updater.begin({});
				if (own === other) {
					sink.write(image(other).buffer as ArrayBuffer);
					equal(stored.length, IMAGE_BYTES);
				} else {
					throws(
						() => sink.write(image(other).buffer as ArrayBuffer),
						/^the image is for esp32.*, but this chip is an esp32/,
					);
					equal(stored, []);
				}
			}
		}
		const { updater } = updaterOf(ESP32);
		throws(
			() => updater.begin({}).write(image({ chip: 77 }).buffer as ArrayBuffer),
			/is for chip 77, but this chip is an esp32$/,
		);
	},
	"takes only images of its project, unless any project is allowed"() {
		const none = image(ESP32);
		none.fill(0, IDENTITY_AT, IDENTITY_AT + 8);
		for (const [foreign, problem] of [
			[image(ESP32, { name: "pump" }), /^the image is firmware of the project "pump", not of "xs-mcp": only a person/],
			[none, /^the image names no project, expected "xs-mcp": only a person/],
			[image(ESP32, { name: "xs-mcp2" }), /^the image is firmware of the project "xs-mcp2", not/],
			[image(ESP32, { name: "p".repeat(32) }), /^the image is firmware of the project "p{32}", not/],
		] as const) {
			const { updater, stored } = updaterOf(ESP32);
			throws(() => updater.begin({}).write(foreign.buffer as ArrayBuffer), problem);
			equal(stored, []);
			updater.begin({ anyProject: true }).write(foreign.buffer as ArrayBuffer);
			equal(stored.length, IMAGE_BYTES);
		}
		const { updater } = updaterOf(ESP32);
		const other = image(ESP32_C3, { name: "pump" }).buffer as ArrayBuffer;
		throws(() => updater.begin({ anyProject: true }).write(other), /is for esp32c3/);
	},
	"takes images for its own board only"() {
		for (const anyProject of [false, true]) {
			const { updater, stored } = updaterOf(ESP32);
			const other = image(ESP32, { board: "m5stack" }).buffer as ArrayBuffer;
			throws(
				() => updater.begin({ anyProject }).write(other),
				/^the image is for the board m5stack, but this is virtual$/,
			);
			equal(stored, []);
		}
	},
	"takes images of the version alone that they were offered as": given(updater, ({ updater, stored }) => {
		const old = image(ESP32, { version: "0.2.0" }).buffer as ArrayBuffer;
		const problem = /^the image is version 0\.2\.0, but was offered as "1\.1\.0"$/;
		throws(() => updater.begin({ version: "1.1.0" }).write(old), problem);
		equal(stored, []);
		updater.begin({ version: "0.2.0" }).write(old);
		equal(stored.length, IMAGE_BYTES);
	}),
	"does not install the running version again": given(updater, ({ updater, stored }) => {
		const { version } = FIRMWARE;
		const same = image(ESP32, { version }).buffer as ArrayBuffer;
		throws(() => updater.begin({ version }).write(same), /^the image is version [0-9.]+, which runs already$/);
		equal(stored, []);
	}),
	"rejects what is no image, and what is shorter than a header": given(updater, async ({ updater, stored }) => {
		throws(
			() => updater.begin({}).write(ArrayBuffer.fromString(`<!doctype html><html>${" ".repeat(500)}</html>`)),
			/^not a firmware image: its first byte is 60, not 233$/,
		);
		const sink = updater.begin({});
		sink.write(new ArrayBuffer(111));
		const problem = await failureOf(sink.digest());
		equal([problem, stored], ["image of 111 bytes is shorter than its header", []]);
	}),
	async "says that the image is damaged if ESP-IDF finds it so, and lets go of it once it is cancelled"() {
		const { updater, events } = updaterOf(ESP32, { end: "end failed" });
		const sink = updater.begin({});
		sink.write(image(ESP32).buffer as ArrayBuffer);
		const problem = await failureOf(sink.finish());
		matches(problem, /^image damaged or truncated: end failed$/);
		sink.cancel();
		equal(events, ["close update", "close partition"]);
	},
	"knows its capacity, and hands the trial to the bootloader": given(updater, ({ updater, events }) => {
		equal([updater.capacity, updater.isOnTrial], [1_900_544, true]);
		updater.confirm();
		updater.rollBack();
		equal(events, ["close partition", "confirm", "rollBack"]);
	}),
	"lets go of the partition if the image cannot be begun"() {
		const { updater, events } = updaterOf(ESP32, { begin: "begin failed" });
		throws(() => updater.begin({}), /begin failed/);
		equal(events, ["close partition"]);
	},
});
