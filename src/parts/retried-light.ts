import type { DimmedLight } from "../drivers/light-state.js";
import type { Light } from "../hardware/light.js";
import type { PartIo } from "./part.js";
import { Retried } from "./retried.js";

type Opened = DimmedLight & { close(): void };

/** A light whose pin may not be there at once. Until then it is off, and cannot be changed. */
export class RetriedLight<Kind extends Opened = Opened> implements Light {
	readonly title: string | undefined;
	protected readonly light: Retried<Kind>;

	constructor(io: PartIo, title: string | undefined, open: () => Kind) {
		this.title = title;
		this.light = new Retried(io, open);
	}

	get error(): string | undefined {
		return this.light.error;
	}

	get on(): boolean {
		return this.error === undefined && this.light.value.on;
	}

	set on(on: boolean) {
		this.light.value.on = on;
	}

	get brightness(): number {
		return this.error === undefined ? this.light.value.brightness : 0;
	}

	set brightness(brightness: number) {
		this.light.value.brightness = brightness;
	}

	close(): void {
		this.light.close();
	}
}
