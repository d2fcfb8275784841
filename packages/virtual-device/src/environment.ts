import { createHash, createPublicKey, createVerify, type KeyObject } from "node:crypto";
import type { EventEmitter } from "node:events";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import {
	IDENTITY_BYTES,
	IDENTITY_MAGIC,
	IDENTITY_TEXT_BYTES,
	type ImageIdentity,
} from "xs-mcp-firmware/hardware/drivers/image-identity";
import type { ChipAddress, ChipValues } from "../platform/io/bus.js";
import type { OwnPart } from "./boards.js";
import type { EngineExit } from "./engine/engine.js";
import { Microphone } from "./services/codecs.js";
import type { ScreenPicture } from "./services/drawn-screen.js";
import { makeNetworkFaults, type TracedMessage } from "./services/network-faults.js";
import type { PinState } from "./services/pins.js";
import { makeService } from "./services/service.js";
import type { LightState, Surroundings } from "./services/simulated-board.js";
import type { PlayedSamples } from "./services/sounds.js";

/** The largest image in bytes: an app partition of a chip with 8 MB of flash. */
const CAPACITY = 3_932_160;

/**
 * Makes two firmware slots and a bootloader, like ESP-IDF's: an installed image is started once, on trial. Unless it is
 * confirmed, the next start rolls back.
 */
function makeFlash(running: string) {
	/** The previous firmware, while the running one is on trial. */
	let before: string | undefined;
	/** The image to start next, if one was installed. */
	let installed: string | undefined;
	let pieces: Buffer[] = [];

	/** SHA-256 of what was written. */
	const digest = (): Buffer => createHash("sha256").update(Buffer.concat(pieces)).digest();
	return {
		capacity: CAPACITY,
		/** The bootloader's work at each start. The firmware is on trial if an update installed it and it is not confirmed. */
		boot(): { readonly script: string; readonly isOnTrial: boolean } {
			if (installed !== undefined) {
				before = running;
				running = installed;
				installed = undefined;
				return { script: running, isOnTrial: true };
			}
			running = before ?? running;
			before = undefined;
			return { script: running, isOnTrial: false };
		},
		/** Overwrites both slots, as a cable does. */
		replace(script: string): void {
			running = script;
			before = undefined;
			installed = undefined;
		},
		begin(): void {
			pieces = [];
		},
		write(piece: Uint8Array): void {
			pieces.push(Buffer.from(piece));
		},
		digest,
		/**
		 * Whether the image is signed as this version: ECDSA over P-256 and SHA-256, of the image's digest and the version.
		 *
		 * @param key an uncompressed point
		 * @param signature r and s
		 */
		isSigned(key: Uint8Array, signature: Uint8Array, version: Uint8Array): boolean {
			const verifier = createVerify("sha256").update(digest()).update(version);
			return verifier.verify({ key: publicKey(key), dsaEncoding: "ieee-p1363" }, signature);
		},
		/** Makes the image start next. @throws Error if it is incomplete */
		finish(): void {
			const image = Buffer.concat(pieces);
			pieces = [];
			installed = decodeImage(image);
		},
		cancel(): void {
			pieces = [];
		},
		/** Confirms the running firmware. */
		confirm(): void {
			before = undefined;
		},
	};
}

function publicKey(point: Uint8Array): KeyObject {
	const coordinate = (from: number, to: number): string => Buffer.from(point.subarray(from, to)).toString("base64url");
	const key = { kty: "EC", crv: "P-256", x: coordinate(1, 33), y: coordinate(33, 65) };
	return createPublicKey({ key, format: "jwk" });
}

/**
 * The first bytes of an image, which src/hardware/boards/virtual/board.ts checks. Then come the script's length in 4 bytes, the
 * identity as in a chip's image (src/platform/firmware.c), the script, and the SHA-256 of all that.
 */
const MAGIC = Buffer.from("XSMCPVD2");
const HEADER_BYTES = MAGIC.byteLength + 4 + IDENTITY_BYTES;
const CHECKSUM_BYTES = 32;

function checksumOf(bytes: Buffer): Buffer {
	return createHash("sha256").update(bytes).digest();
}

/** Makes a firmware image for virtual devices from a bundled script, which reports this project and version. */
export function encodeImage(script: string, { name, version, board }: ImageIdentity = FIRMWARE): Buffer {
	const body = Buffer.from(script);
	const length = Buffer.alloc(4);
	length.writeUInt32LE(body.byteLength);
	const texts = [name, version, board].map((text) => Buffer.from(text.padEnd(IDENTITY_TEXT_BYTES, "\0")));
	const image = Buffer.concat([MAGIC, length, Buffer.from(IDENTITY_MAGIC), ...texts, body]);
	return Buffer.concat([image, checksumOf(image)]);
}

/**
 * The script of an image.
 *
 * @throws Error if it is not an image, or incomplete or damaged
 */
function decodeImage(image: Buffer): string {
	if (image.byteLength < HEADER_BYTES || !image.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
		throw new Error("not a firmware image of a virtual device");
	}
	const length = image.readUInt32LE(MAGIC.byteLength);
	const end = HEADER_BYTES + length;
	if (image.byteLength !== end + CHECKSUM_BYTES) {
		throw new Error(`image of ${image.byteLength} bytes, but its header says ${end + CHECKSUM_BYTES}`);
	}
	if (!checksumOf(image.subarray(0, end)).equals(image.subarray(end))) {
		throw new Error("image damaged: its checksum is wrong");
	}
	return image.toString("utf8", HEADER_BYTES, end);
}

type Value = string | number | boolean;
type Domains = Record<string, Record<string, Value>>;

/**
 * Stores the firmware's settings, by domain and key: in a file, or else in memory.
 *
 * @throws Error if the file exists and is not a JSON object of objects
 */
function openSettings(file?: string) {
	const domains = file !== undefined && existsSync(file) ? readDomains(file) : {};
	/** Writes a temporary file first, so that a crash leaves the old settings or the new ones. */
	const save = (): void => {
		if (file !== undefined) {
			mkdirSync(dirname(file), { recursive: true });
			const temporary = `${file}.${process.pid}`;
			writeFileSync(temporary, `${JSON.stringify(domains, null, "\t")}\n`);
			renameSync(temporary, file);
		}
	};
	const handlers = {
		set([domain, key, value]: [string, string, Value]) {
			domains[domain] = { ...domains[domain], [key]: value };
			save();
		},
		delete([domain, key]: [string, string]) {
			delete domains[domain]?.[key];
			save();
		},
	};
	return { ...makeService("settings", handlers), domains: domains as Readonly<Domains> };
}

function readDomains(file: string): Domains {
	const domains: unknown = JSON.parse(readFileSync(file, "utf8"));
	if (typeof domains !== "object" || domains === null || Array.isArray(domains)) {
		throw new Error(`${file}: expected a JSON object of settings by domain`);
	}
	return domains as Domains;
}

/** Events of a virtual device. */
export interface DeviceEvents {
	/** A line of the firmware's log. */
	trace: [line: string];
	/** The screen has changed; `changed` names the members of the face that were shown just now. */
	screen: [screen: ScreenPicture, changed: readonly string[]];
	light: [name: string, light: LightState];
	/** A servo of the board has moved, to this angle in degrees. */
	servo: [name: string, angle: number];
	/** A pin was opened, or its value has changed. */
	pin: [pin: PinState];
	/** The screen shows a picture, a JPEG or PNG file. */
	picture: [picture: Uint8Array];
	/** A message between the device and its backend. */
	message: [message: TracedMessage];
	/** The speaker plays. Silence between two sounds is not reported. */
	samples: [played: PlayedSamples];
	/** A sound has ended. */
	silence: [];
	/** Something that a user would notice. */
	note: [text: string];
	/** A port to serve at could not be opened. */
	listenFailed: [message: string];
	/** The engine ended, by itself or because the firmware asked for a restart. */
	exit: [exit: EngineExit];
	/** The device's surroundings have changed: a sensor's value, the battery, the network. */
	surrounded: [];
	/** The device has no power until it starts. */
	halted: [];
	/** The device is up again after a restart. */
	restarted: [];
}

/** dBm */
const GOOD_SIGNAL = -52;

/** State of a device and its surroundings that restarts do not change. */
export class Environment {
	readonly events: EventEmitter<DeviceEvents>;
	readonly settings: ReturnType<typeof openSettings>;
	readonly flash: ReturnType<typeof makeFlash>;
	readonly faults = makeNetworkFaults((message) => this.events.emit("message", message));
	/** Messages to the firmware, by sensors' names, "battery", "network" and "microphone". */
	readonly surroundings = new Map<string, Surroundings>();
	/** The levels of input pins, by number. */
	readonly levels = new Map<number, number | string>();
	/** Values of chips and sensors that were set, by address. */
	readonly measured = new Map<ChipAddress, ChipValues>();
	readonly microphone = new Microphone();
	/** Strength of the Wi-Fi's signal, dBm. */
	signal = GOOD_SIGNAL;
	/** The camera's picture, a JPEG file; undefined: the picture of a room. */
	photo: Uint8Array | undefined;
	/** Parts of a project, by name. */
	own: Readonly<Record<string, OwnPart>> = {};
	/** URL of a page that shows the device, for a link in its gateway's console. Takes effect at the next start. */
	pageUrl: string | undefined;

	/** @throws Error if the settings file exists and cannot be read */
	constructor(events: EventEmitter<DeviceEvents>, firmware: string, settingsFile: string | undefined) {
		this.events = events;
		this.settings = openSettings(settingsFile);
		this.flash = makeFlash(firmware);
	}
}
