import { createHmac } from "node:crypto";
import { drawRoom, drawScreen, type ScreenPicture } from "./pictures.js";
import type { Deliver, Service } from "./service.js";
import { ShownPictures, TakenPictures } from "./transferred-pictures.js";

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
	readonly #photo: Uint8Array | undefined;
	readonly #taken = new TakenPictures();
	readonly #shown = new ShownPictures();
	#isClosed = false;

	/** @param photo what the camera sees, a JPEG file. Default: a drawn room. */
	constructor(deliver: Deliver, events: SimulatedBoardEvents, photo?: Uint8Array) {
		this.#deliver = deliver;
		this.#events = events;
		this.#photo = photo;
	}

	take(kind: string, args: readonly unknown[], bytes: Uint8Array | undefined): void {
		if (kind === "restart") {
			this.#events.onRestart(args[0] as number);
		} else if (kind === "screen") {
			this.#events.onScreen(args[0] as ScreenPicture);
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
				return { value: this.#taken.add(this.#photo ?? drawRoom()) };
			case "drawScreen":
				return { value: this.#taken.add(drawScreen(argument as ScreenPicture & { quality: number })) };
			case "readPicture":
				return { bytes: this.#taken.read(argument as { id: number; count: number }) };
			case "showPicture": {
				const { width, height } = this.#shown.finish(argument as number);
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
