import type bootstrap from "../backend/bootstrap/feature.js";
import type discovery from "../backend/discovery/feature.js";
import type search from "../backend/search/feature.js";
import type conversation from "../conversation/feature.js";
import type direct from "../direct/feature.js";
import type { Board } from "../hardware/hardware.js";
import type http from "../http/feature.js";
import type language from "../language/feature.js";
import type log from "../log/feature.js";
import type mods from "../mods/feature.js";
import type mqtt from "../mqtt/feature.js";
import type { openPower } from "../power/feature.js";
import type resources from "../resources/feature.js";
import type setup from "../setup/feature.js";
import type { openImprov } from "../setup/improv/feature.js";
import type update from "../update/feature.js";
import type voice from "../voice/feature.js";
import type { ApplicationOptions } from "./application-options.js";

/** Features of `startFirmware`, which a build may leave out. */
export interface Addons {
	readonly bootstrap: typeof bootstrap;
	readonly conversation: typeof conversation;
	readonly direct: typeof direct;
	readonly discovery: NonNullable<typeof discovery>;
	readonly http: typeof http;
	readonly language: typeof language;
	readonly mods: typeof mods;
	readonly mqtt: typeof mqtt;
	readonly power: typeof openPower;
	readonly search: typeof search;
	readonly setup: typeof setup;
	readonly update: typeof update;
	readonly voice: typeof voice;
}

/**
 * The features of a build. Each is the default export of `feature` in the folder of its name, and undefined if no
 * manifest of the build names that folder.
 */
export interface BuildAddons extends Partial<Addons> {
	readonly improv?: typeof openImprov;
	readonly log?: typeof log;
	readonly resources?: typeof resources;
	readonly parts?: OpenParts;
}

/** Opens the parts of a device of one's own, beside those of the board: `src/parts`, which imports this room. */
export type OpenParts = <Own extends Board>(
	board: Own,
	options: Pick<ApplicationOptions, "tools" | "timer" | "log"> & { readonly ticks: () => number },
) => { readonly board: Own } & Required<Pick<ApplicationOptions, "tools" | "followers">>;
