import { createHmac } from "node:crypto";
import { drawRoom, drawScreen, measurePicture, type ScreenPicture } from "./pictures.js";
import type { Deliver, Service } from "./service.js";

/** What the simulated board tells whoever runs the virtual device. */
export interface SimulatedBoardEvents {
	/** The firmware asks to be restarted, in `delay` milliseconds. */
	onRestart(delay: number): void;
	/** The screen shows something else. */
	onScreen(screen: ScreenPicture): void;
	/** Something a person would see or hear. */
	onNote(text: string): void;
}

/** What a light does. */
interface LightState {
	readonly on: boolean;
	/** Percent. */
	readonly brightness: number;
	/** 0xRRGGBB */
	readonly color: number;
}

interface Answer {
	readonly value?: unknown;
	readonly bytes?: Uint8Array;
}

/** What of a board takes more than ECMAScript: pictures, restarting, a person who presses its button. */
export class SimulatedBoard implements Service {
	readonly prefix = "board";
	readonly #deliver: Deliver;
	readonly #events: SimulatedBoardEvents;
	/** What is seen of each light. */
	readonly #lights = new Map<string, string>();
	#isClosed = false;

	constructor(deliver: Deliver, events: SimulatedBoardEvents) {
		this.#deliver = deliver;
		this.#events = events;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array | undefined): void {
		if (kind === "restart") {
			this.#events.onRestart(args[0] as number);
		} else if (kind === "screen") {
			this.#events.onScreen(args[0] as ScreenPicture);
		} else if (kind === "light") {
			this.#showLight(args[0] as string, args[1] as LightState);
		} else {
			void this.#call(args[0] as number, args[1] as string, args[2], bytes);
		}
	}

	/** Presses the button, or lets go of it. */
	holdButton(isDown: boolean): void {
		this.#tell(["board.button", isDown]);
	}

	/** Says what a sensor measures from now on. */
	setReading(sensor: string, reading: number | Readonly<Record<string, number>>): void {
		this.#tell(["board.reading", sensor, reading]);
	}

	close(): void {
		this.#isClosed = true;
	}

	/** A light that is off looks the same, whatever its colour. */
	#showLight(name: string, { on, brightness, color }: LightState): void {
		const look = on ? `on: ${brightness} % of #${color.toString(16).padStart(6, "0")}` : "off";
		if (look !== (this.#lights.get(name) ?? "off")) {
			this.#events.onNote(`the light ${name} is ${look}`);
		}
		this.#lights.set(name, look);
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
		this.#tell(header, answer.bytes);
	}

	#tell(header: readonly unknown[], bytes?: Uint8Array): void {
		if (!this.#isClosed) {
			this.#deliver({ header, ...(bytes && { bytes }) });
		}
	}

	async #serve(service: string, argument: unknown, bytes: Uint8Array | undefined): Promise<Answer> {
		switch (service) {
			case "hmacSha256":
				return {
					bytes: createHmac("sha256", Buffer.from(argument as string, "hex"))
						.update(bytes ?? "")
						.digest(),
				};
			case "capture":
				return { bytes: drawRoom() };
			case "drawScreen":
				return { bytes: drawScreen(argument as ScreenPicture & { quality: number }) };
			case "showPicture": {
				const { width, height } = measurePicture(bytes ?? new Uint8Array(0));
				this.#events.onNote(`the screen shows a picture of ${width} x ${height} pixels`);
				return {};
			}
			case "upgrade":
				throw new Error("a virtual device cannot install firmware");
			default:
				throw new Error(`the simulated board has no ${service}`);
		}
	}
}
