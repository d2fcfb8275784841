import { Esp32Updater } from "../../src/drivers/updater/esp32-updater.js";
import { failureOf } from "../doubles/promises.js";
import { equal, matches, suite, throws } from "../harness.js";

/** ESP-IDF's numbers of chips: esp_chip_model_t, and in an image. */
const ESP32 = { model: 1, chip: 0 };
const ESP32_C3 = { model: 5, chip: 5 };
const ESP32_S3 = { model: 9, chip: 9 };

/** The project of the firmware under test, as ESP-IDF's build names it. */
const PROJECT = "xs_esp32";

/** Bytes of the images under test, and where they name their project (esp_app_desc_t). */
const IMAGE_BYTES = 140;
const DESCRIPTION_AT = 32;
const PROJECT_AT = DESCRIPTION_AT + 48;

/** An image's first bytes for a chip, and some more. */
function image({ chip }: { chip: number }, project = PROJECT): Uint8Array {
	const bytes = new Uint8Array(IMAGE_BYTES);
	bytes.set([0xe9, 5, 2, 0x20]);
	bytes[12] = chip;
	bytes.set([0x32, 0x54, 0xcd, 0xab], DESCRIPTION_AT);
	bytes.set(new Uint8Array(ArrayBuffer.fromString(project)), PROJECT_AT);
	return bytes;
}

/** An updater on the SDK's classes, which remember what was done to them. */
function updaterOf({ model }: { model: number }, fault: { readonly begin?: string; readonly end?: string } = {}) {
	const events: string[] = [];
	const stored: number[] = [];
	const hashed: number[] = [];
	const updater = new Esp32Updater({
		openPartition: () => ({ status: () => ({ size: 1_900_544 }), close: () => events.push("close partition") }),
		openUpdate: () => {
			if (fault.begin !== undefined) {
				throw new Error(fault.begin);
			}
			return {
				write: (piece) => stored.push(...new Uint8Array(piece)),
				complete() {
					if (fault.end !== undefined) {
						throw new Error(fault.end);
					}
					events.push("complete");
				},
				close: () => events.push("close update"),
			};
		},
		openDigest: () => {
			let length = 0;
			return {
				write: (piece) => {
					length += piece.byteLength;
					hashed.push(...new Uint8Array(piece));
				},
				close: () => Uint8Array.of(length).buffer,
			};
		},
		bootloader: { isOnTrial: true, confirm: () => events.push("confirm"), rollBack: () => events.push("rollBack") },
		model,
		project: PROJECT,
		verify: (_key, digest) => new Uint8Array(digest)[0] === 6,
	});
	return { updater, events, stored, hashed };
}

export default suite("an ESP32's updater", {
	async "stores and hashes an image, whatever its pieces"() {
		for (const size of [1, 23, 24, 111, 112, 113, 140]) {
			const { updater, events, stored, hashed } = updaterOf(ESP32_C3);
			const bytes = image(ESP32_C3);
			const sink = updater.begin(false);
			for (let at = 0; at < bytes.length; at += size) {
				sink.write(bytes.slice(at, at + size).buffer);
			}
			equal(await sink.digest(), Uint8Array.of(IMAGE_BYTES).buffer);
			// The fake digest is the number of bytes: the one byte of the image's digest, and the five of the version.
			equal(await sink.isSigned(new ArrayBuffer(65), new ArrayBuffer(64), ArrayBuffer.fromString("1.2.0")), true);
			await sink.finish();
			const signed = [IMAGE_BYTES, ...new Uint8Array(ArrayBuffer.fromString("1.2.0"))];
			equal([stored, hashed], [[...bytes], [...bytes, ...signed]], `pieces of ${size}`);
			equal(events, ["complete", "close update", "close partition"]);
		}
	},
	"takes images for its own chip only"() {
		for (const own of [ESP32, ESP32_C3, ESP32_S3]) {
			for (const other of [ESP32, ESP32_C3, ESP32_S3]) {
				const { updater, stored } = updaterOf(own);
				const sink = updater.begin(false);
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
			() => updater.begin(false).write(image({ chip: 77 }).buffer as ArrayBuffer),
			/is for chip 77, but this chip is an esp32$/,
		);
	},
	"takes images of its own project only, unless any project is allowed"() {
		const other = image(ESP32, "xiaozhi");
		const none = image(ESP32);
		none.fill(0, DESCRIPTION_AT, PROJECT_AT + 32);
		for (const [foreign, problem] of [
			[other, /^the image is firmware of the project "xiaozhi", not of "xs_esp32": only a person/],
			[none, /^the image names no project, expected "xs_esp32": only a person/],
			[image(ESP32, "xs_esp32s"), /^the image is firmware of the project "xs_esp32s", not/],
			[image(ESP32, "p".repeat(60)), /^the image is firmware of the project "p{32}", not/],
		] as const) {
			const { updater, stored } = updaterOf(ESP32);
			throws(() => updater.begin(false).write(foreign.buffer as ArrayBuffer), problem);
			equal(stored, []);
			updater.begin(true).write(foreign.buffer as ArrayBuffer);
			equal(stored.length, IMAGE_BYTES);
		}
		const { updater } = updaterOf(ESP32);
		throws(() => updater.begin(true).write(image(ESP32_C3, "xiaozhi").buffer as ArrayBuffer), /is for esp32c3/);
	},
	async "rejects what is no image, and what is shorter than a header"() {
		const { updater, stored } = updaterOf(ESP32);
		throws(
			() => updater.begin(false).write(ArrayBuffer.fromString(`<!doctype html><html>${" ".repeat(200)}</html>`)),
			/^not a firmware image: its first byte is 60, not 233$/,
		);
		const sink = updater.begin(false);
		sink.write(new ArrayBuffer(111));
		const problem = await failureOf(sink.digest());
		equal([problem, stored], ["image of 111 bytes is shorter than its header", []]);
	},
	async "says that the image is damaged if ESP-IDF finds it so, and lets go of it once it is cancelled"() {
		const { updater, events } = updaterOf(ESP32, { end: "end failed" });
		const sink = updater.begin(false);
		sink.write(image(ESP32).buffer as ArrayBuffer);
		const problem = await failureOf(sink.finish());
		matches(problem, /^image damaged or truncated: end failed$/);
		sink.cancel();
		equal(events, ["close update", "close partition"]);
	},
	"knows its capacity, and hands the trial to the bootloader"() {
		const { updater, events } = updaterOf(ESP32);
		equal([updater.capacity, updater.isOnTrial], [1_900_544, true]);
		updater.confirm();
		updater.rollBack();
		equal(events, ["close partition", "confirm", "rollBack"]);
	},
	"lets go of the partition if the image cannot be begun"() {
		const { updater, events } = updaterOf(ESP32, { begin: "begin failed" });
		throws(() => updater.begin(false), /begin failed/);
		equal(events, ["close partition"]);
	},
});
