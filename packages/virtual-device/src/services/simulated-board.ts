import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { ROOT } from "xs-mcp/root";
import type { Environment } from "../environment.js";
import { drawScreen, measurePicture, type ScreenPicture } from "./drawn-screen.js";
import { hexOf } from "./pins.js";
import { type Deliver, makeService } from "./service.js";

/** The state of a light. */
export interface LightState {
	readonly on: boolean;
	/** Percent. */
	readonly brightness: number;
	/** 0xRRGGBB */
	readonly color: number;
}

/** Messages to the firmware about a device's surroundings. */
export type Surroundings =
	| readonly ["board.reading", sensor: string, reading: number | Readonly<Record<string, number>>]
	| readonly ["board.battery", level: number, charging: boolean]
	| readonly ["board.network", online: boolean, rssi: number]
	| readonly ["board.muted", isMuted: boolean];

interface Answer {
	readonly value?: unknown;
	readonly bytes?: Uint8Array;
}

/** The camera's picture: a window's light falling on a wall. */
const ROOM = `${ROOT}src/hardware/boards/simulator/room.jpg`;

/** The largest picture for the simulated screen, in bytes. */
const MAX_PICTURE = 16 * 1024 * 1024;

/**
 * Opens the parts of a board that need more than ECMAScript: pictures, restarting, a user who presses its button.
 *
 * @param onRestart called if the firmware asks for a restart, after a delay in milliseconds
 */
export function openBoard(deliver: Deliver, environment: Environment, onRestart: (delay: number) => void) {
	const { events, flash } = environment;
	const lights = new Map<string, LightState>();
	const servos = new Map<string, number>();
	let screen: ScreenPicture | undefined;
	/** Pictures that were taken, which the firmware reads piece by piece: they may be larger than its heap. */
	const taken = new Map<number, { readonly picture: Uint8Array; at: number }>();
	let lastTaken = 0;
	/** Pictures for the screen, which the firmware sends piece by piece. */
	const shown = new Map<number, { readonly pieces: Uint8Array[]; bytes: number }>();

	const tell = (header: readonly unknown[], bytes?: Uint8Array): void => deliver({ header, ...(bytes && { bytes }) });

	const take = (picture: Uint8Array): Answer => {
		lastTaken += 1;
		taken.set(lastTaken, { picture, at: 0 });
		return { value: { id: lastTaken, byteLength: picture.byteLength } };
	};

	const services: Readonly<Record<string, (argument: never, bytes: Uint8Array) => Answer>> = {
		hmacSha256: (key: string, bytes) => ({
			bytes: createHmac("sha256", Buffer.from(key, "hex")).update(bytes).digest(),
		}),
		capture: () => take(environment.photo ?? readFileSync(ROOM)),
		drawScreen: (picture: ScreenPicture & { readonly quality: number }) => take(drawScreen(picture)),
		readPicture({ id, count }: { readonly id: number; readonly count: number }) {
			const found = taken.get(id);
			if (found === undefined) {
				throw new Error("the picture is closed");
			}
			found.at += count;
			return { bytes: found.picture.subarray(found.at - count, found.at) };
		},
		showPicture(id: number) {
			const { pieces = [], bytes = 0 } = shown.get(id) ?? {};
			shown.delete(id);
			if (bytes > MAX_PICTURE) {
				throw new Error(`picture of ${bytes} bytes (limit ${MAX_PICTURE})`);
			}
			const picture = Buffer.concat(pieces);
			const { width, height } = measurePicture(picture);
			events.emit("picture", picture);
			events.emit("note", `the screen shows a picture of ${width} x ${height} pixels`);
			return {};
		},
		firmwareDigest: () => ({ bytes: flash.digest() }),
		firmwareFinish() {
			flash.finish();
			return {};
		},
		isSigned(argument: string, bytes) {
			const [signature = "", version = ""] = argument.split(" ");
			return { value: flash.isSigned(bytes, Buffer.from(signature, "hex"), Buffer.from(version, "hex")) };
		},
	};

	const handlers = {
		restart: ([delay]: [number]) => onRestart(delay),
		/** Notes alerts, such as the reason of a failed update. The progress of an update is only on the screen. */
		screen([next, changed]: [ScreenPicture, readonly string[]]) {
			const { alert, state } = next;
			screen = next;
			events.emit("screen", next, changed);
			const text = [alert.status, alert.message].filter((each) => each !== "").join(": ");
			if (changed.includes("alert") && text !== "" && state !== "upgrading") {
				events.emit("note", `the screen shows an alert: ${text}`);
			}
		},
		firmware([action]: ["begin" | "write" | "cancel" | "confirm" | "rollBack"], bytes: Uint8Array) {
			if (action === "rollBack") {
				// The bootloader does the rest.
				onRestart(0);
			} else {
				flash[action](bytes);
			}
		},
		light([name, light]: [string, LightState]) {
			const before = describeLight(lights.get(name));
			lights.set(name, light);
			events.emit("light", name, light);
			if (describeLight(light) !== before) {
				events.emit("note", `the light ${name} is ${describeLight(light)}`);
			}
		},
		servo([name, angle]: [string, number]) {
			servos.set(name, angle);
			events.emit("servo", name, angle);
			events.emit("note", `the servo ${name} is at ${angle}°`);
		},
		chat: ([text]: [string]) => events.emit("note", text),
		pictureClosed: ([id]: [number]) => taken.delete(id),
		pictureBytes([id]: [number], piece: Uint8Array) {
			const picture = shown.get(id) ?? { pieces: [], bytes: 0 };
			picture.bytes += piece.byteLength;
			if (picture.bytes <= MAX_PICTURE) {
				picture.pieces.push(Uint8Array.from(piece));
			}
			shown.set(id, picture);
		},
		pictureCancelled: ([id]: [number]) => shown.delete(id),
		call([id, service, argument]: [number, string, unknown], bytes: Uint8Array) {
			try {
				const serve = services[service];
				if (serve === undefined) {
					throw new Error(`the simulated board has no ${service}`);
				}
				const answer = serve(argument as never, bytes);
				tell(["board.answer", id, answer.value ?? null, null], answer.bytes);
			} catch (error) {
				tell(["board.answer", id, null, (error as Error).message]);
			}
		},
	};
	return {
		...makeService("board", handlers),
		/** The state of each light, by name. */
		lights: lights as ReadonlyMap<string, LightState>,
		/** The angle of each servo that has moved, in degrees, by name. */
		servos: servos as ReadonlyMap<string, number>,
		/** The content of the screen; undefined until the firmware has shown something. */
		get screen(): ScreenPicture | undefined {
			return screen;
		},
		/** Tells the firmware what a user does, or what is around the device. */
		tell,
	};
}

/** A light that is off looks the same, whatever its colour. */
function describeLight(light: LightState | undefined): string {
	return light?.on ? `on: ${light.brightness} % of ${hexOf(light.color)}` : "off";
}
