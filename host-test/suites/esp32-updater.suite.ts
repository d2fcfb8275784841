import { Esp32Updater } from "../../src/drivers/esp32-updater.js";
import { equal, matches, ok, suite, throws } from "../harness.js";

/** ESP-IDF's numbers of chips: esp_chip_model_t, and in an image. */
const ESP32 = { model: 1, chip: 0 };
const ESP32_C3 = { model: 5, chip: 5 };
const ESP32_S3 = { model: 9, chip: 9 };

/** An image's first bytes for a chip, and some more. */
function image({ chip }: { chip: number }): Uint8Array {
	const bytes = new Uint8Array(64);
	bytes.set([0xe9, 5, 2, 0x20]);
	bytes[12] = chip;
	return bytes;
}

/** An updater on the SDK's classes, which remember what was done to them. */
function updaterOf({ model }: { model: number }, fault = "") {
	const events: string[] = [];
	const stored: number[] = [];
	const hashed: number[] = [];
	const updater = new Esp32Updater({
		openPartition: () => ({ status: () => ({ size: 1_900_544 }), close: () => events.push("close partition") }),
		openUpdate: () => ({
			write: (piece) => stored.push(...new Uint8Array(piece)),
			complete() {
				if (fault !== "") {
					throw new Error(fault);
				}
				events.push("complete");
			},
			close: () => events.push("close update"),
		}),
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
		verify: (_key, digest) => new Uint8Array(digest)[0] === 6,
	});
	return { updater, events, stored, hashed };
}

export default suite("an ESP32's updater", {
	async "stores and hashes an image, whatever its pieces"() {
		for (const size of [1, 5, 23, 24, 25, 64]) {
			const { updater, events, stored, hashed } = updaterOf(ESP32_C3);
			const bytes = image(ESP32_C3);
			const sink = updater.begin();
			for (let at = 0; at < bytes.length; at += size) {
				sink.write(bytes.slice(at, at + size).buffer);
			}
			equal(await sink.digest(), Uint8Array.of(64).buffer);
			// The fake digest is the number of bytes: the one byte of the image's digest, and the five of the version.
			equal(await sink.isSigned(new ArrayBuffer(65), new ArrayBuffer(64), ArrayBuffer.fromString("1.2.0")), true);
			await sink.finish();
			const signed = [64, ...new Uint8Array(ArrayBuffer.fromString("1.2.0"))];
			equal([stored, hashed], [[...bytes], [...bytes, ...signed]], `pieces of ${size}`);
			equal(events, ["complete", "close update", "close partition"]);
		}
	},
	"takes images for its own chip only"() {
		for (const own of [ESP32, ESP32_C3, ESP32_S3]) {
			for (const other of [ESP32, ESP32_C3, ESP32_S3]) {
				const { updater, stored } = updaterOf(own);
				const sink = updater.begin();
				if (own === other) {
					sink.write(image(other).buffer as ArrayBuffer);
					equal(stored.length, 64);
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
			() => updater.begin().write(image({ chip: 77 }).buffer as ArrayBuffer),
			/is for chip 77, but this chip is an esp32$/,
		);
	},
	async "rejects what is no image, and what is shorter than a header"() {
		const { updater, stored } = updaterOf(ESP32);
		throws(
			() => updater.begin().write(ArrayBuffer.fromString("<!doctype html><html></html>")),
			/^not a firmware image: its first byte is 60, not 233$/,
		);
		const sink = updater.begin();
		sink.write(new ArrayBuffer(23));
		const problem = await sink.digest().then(String, (error: Error) => error.message);
		equal([problem, stored], ["image of 23 bytes is shorter than its header", []]);
	},
	async "says that the image is damaged if ESP-IDF finds it so, and lets go of it once it is cancelled"() {
		const { updater, events } = updaterOf(ESP32, "end failed");
		const sink = updater.begin();
		sink.write(image(ESP32).buffer as ArrayBuffer);
		const problem = await sink.finish().then(String, (error: Error) => error.message);
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
		const events: string[] = [];
		const { updater } = updaterOf(ESP32);
		ok(updater.capacity > 0);
		const broken = new Esp32Updater({
			openPartition: () => ({ status: () => ({ size: 1 }), close: () => events.push("close") }),
			openUpdate: () => {
				throw new Error("begin failed");
			},
			openDigest: () => ({ write() {}, close: () => new ArrayBuffer(0) }),
			bootloader: { isOnTrial: false, confirm() {}, rollBack() {} },
			model: 1,
			verify: () => false,
		});
		throws(() => broken.begin(), /begin failed/);
		equal(events, ["close"]);
	},
});
