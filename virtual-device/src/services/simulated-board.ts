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

interface Answer {
	readonly value?: unknown;
	readonly bytes?: Uint8Array;
}

/** What of a board takes more than ECMAScript: pictures, restarting. */
export class SimulatedBoard implements Service {
	readonly prefix = "board";
	readonly #deliver: Deliver;
	readonly #events: SimulatedBoardEvents;
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
		} else {
			void this.#call(args[0] as number, args[1] as string, args[2], bytes);
		}
	}

	close(): void {
		this.#isClosed = true;
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
		if (!this.#isClosed) {
			this.#deliver({ header, ...(answer.bytes && { bytes: answer.bytes }) });
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
