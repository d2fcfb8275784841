import { createHmac } from "node:crypto";
import type { Environment } from "../environment.js";
import { drawRoom, drawScreen, type ScreenPicture } from "./pictures.js";
import { hexOf } from "./pins.js";
import type { Deliver, Service } from "./service.js";
import { ShownPictures, TakenPictures } from "./transferred-pictures.js";

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
	| readonly ["codec.muted", isMuted: boolean];

interface Answer {
	readonly value?: unknown;
	readonly bytes?: Uint8Array;
}

/** The parts of a board that need more than ECMAScript: pictures, restarting, a user who presses its button. */
export class SimulatedBoard implements Service {
	readonly prefix = "board";
	readonly #deliver: Deliver;
	readonly #environment: Environment;
	readonly #onRestart: (delay: number) => void;
	/** The state of each light, by name. */
	readonly lights = new Map<string, LightState>();
	/** The content of the screen; undefined until the firmware has shown something. */
	screen: ScreenPicture | undefined;
	readonly #taken = new TakenPictures();
	readonly #shown = new ShownPictures();

	/** @param onRestart called if the firmware asks for a restart, after a delay in milliseconds */
	constructor(deliver: Deliver, environment: Environment, onRestart: (delay: number) => void) {
		this.#deliver = deliver;
		this.#environment = environment;
		this.#onRestart = onRestart;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array | undefined): void {
		if (kind === "restart") {
			this.#onRestart(args[0] as number);
		} else if (kind === "screen") {
			this.#showScreen(args[0] as ScreenPicture, args[1] as string[]);
		} else if (kind === "firmware") {
			this.#firmware(args[0] as "begin" | "write", bytes);
		} else if (kind === "light") {
			this.#showLight(args[0] as string, args[1] as LightState);
		} else if (kind === "chat") {
			this.#environment.events.emit("note", args[0] as string);
		} else if (kind === "pictureClosed") {
			this.#taken.close(args[0] as number);
		} else if (kind === "pictureBytes") {
			this.#shown.add(args[0] as number, bytes);
		} else if (kind === "pictureCancelled") {
			this.#shown.cancel(args[0] as number);
		} else {
			void this.#call(args[0] as number, args[1] as string, args[2], bytes);
		}
	}

	/** Tells the firmware what a user does, or what is around the device. */
	tell(header: readonly unknown[], bytes?: Uint8Array): void {
		this.#deliver({ header, ...(bytes && { bytes }) });
	}

	close(): void {}

	#firmware(
		action: "begin" | "write" | "cancel" | "confirm" | "rollBack",
		bytes: Uint8Array = new Uint8Array(0),
	): void {
		if (action === "rollBack") {
			// The bootloader does the rest.
			this.#onRestart(0);
		} else {
			this.#environment.flash[action](bytes);
		}
	}

	/** An alert is noticed, such as that an update failed and why. How far one has come is on the screen. */
	#showScreen(screen: ScreenPicture, changed: readonly string[]): void {
		const { events } = this.#environment;
		const { alert, state } = screen;
		this.screen = screen;
		events.emit("screen", screen, changed);
		const text = [alert.status, alert.message].filter((each) => each !== "").join(": ");
		if (changed.includes("alert") && text !== "" && state !== "upgrading") {
			events.emit("note", `the screen shows an alert: ${text}`);
		}
	}

	#showLight(name: string, light: LightState): void {
		const { events } = this.#environment;
		const before = lookOf(this.lights.get(name));
		this.lights.set(name, light);
		events.emit("light", name, light);
		if (lookOf(light) !== before) {
			events.emit("note", `the light ${name} is ${lookOf(light)}`);
		}
	}

	async #call(id: number, service: string, argument: unknown, bytes: Uint8Array | undefined): Promise<void> {
		let header: unknown[];
		let answer: Answer = {};
		try {
			answer = await this.#serve(service, argument, bytes);
			header = ["board.answer", id, answer.value ?? null];
		} catch (error) {
			header = ["board.answer", id, null, (error as Error).message];
		}
		this.tell(header, answer.bytes);
	}

	async #serve(service: string, argument: unknown, bytes: Uint8Array | undefined): Promise<Answer> {
		const { photo, events, flash } = this.#environment;
		switch (service) {
			case "hmacSha256":
				return {
					bytes: createHmac("sha256", Buffer.from(argument as string, "hex"))
						.update(bytes ?? "")
						.digest(),
				};
			case "capture":
				return { value: this.#taken.add(photo ?? drawRoom()) };
			case "drawScreen":
				return { value: this.#taken.add(drawScreen(argument as ScreenPicture & { quality: number })) };
			case "readPicture":
				return { bytes: this.#taken.read(argument as { id: number; count: number }) };
			case "showPicture": {
				const { picture, width, height } = this.#shown.finish(argument as number);
				events.emit("picture", picture);
				events.emit("note", `the screen shows a picture of ${width} x ${height} pixels`);
				return {};
			}
			case "firmwareDigest":
				return { bytes: flash.digest() };
			case "firmwareFinish":
				flash.finish();
				return {};
			case "isSigned": {
				const [signature = "", version = ""] = (argument as string).split(" ");
				const [signed, versionBytes] = [Buffer.from(signature, "hex"), Buffer.from(version, "hex")];
				return { value: flash.isSigned(bytes ?? new Uint8Array(0), signed, versionBytes) };
			}
			default:
				throw new Error(`the simulated board has no ${service}`);
		}
	}
}

/** A light that is off looks the same, whatever its colour. */
function lookOf(light: LightState | undefined): string {
	return light?.on ? `on: ${light.brightness} % of ${hexOf(light.color)}` : "off";
}
