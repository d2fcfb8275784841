import type { Board } from "../hardware/hardware.js";
import type { ApplicationOptions } from "./application-options.js";

/** Features of `startFirmware`, which a build may leave out. */
export interface Addons {
	readonly bootstrap: typeof import("../backend/bootstrap/feature.js").default;
	readonly conversation: typeof import("../conversation/feature.js").default;
	readonly direct: typeof import("../direct/feature.js").default;
	readonly discovery: NonNullable<typeof import("../backend/discovery/feature.js").default>;
	readonly http: typeof import("../http/feature.js").default;
	readonly language: typeof import("../language/feature.js").default;
	readonly mods: typeof import("../mods/feature.js").default;
	readonly mqtt: typeof import("../mqtt/feature.js").default;
	readonly power: typeof import("../power/feature.js").default;
	readonly search: typeof import("../backend/search/feature.js").default;
	readonly setup: typeof import("../setup/feature.js").default;
	readonly update: typeof import("../update/feature.js").default;
	readonly voice: typeof import("../voice/feature.js").default;
}

/**
 * The features of a build. Each is the default export of `feature` in the folder of its name, and undefined if no
 * manifest of the build names that folder.
 */
export interface BuildAddons extends Partial<Addons> {
	readonly improv?: typeof import("../setup/improv/feature.js").default;
	readonly log?: typeof import("../log/feature.js").default;
	readonly resources?: typeof import("../resources/feature.js").default;
	readonly parts?: OpenParts;
}

/** Opens the parts of a device of one's own, beside those of the board: `src/parts`, which imports this room. */
export type OpenParts = <Own extends Board>(
	board: Own,
	options: Pick<ApplicationOptions, "tools" | "timer" | "log"> & { readonly ticks: () => number },
) => { readonly board: Own } & Required<Pick<ApplicationOptions, "tools" | "followers">>;
