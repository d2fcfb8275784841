import built from "mc/config";
import Preference from "preference";
import { openBoard } from "src/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { needsSafeMode, SAFE_FEATURES, SAFE_TOOLS } from "./app/safe-mode.js";
import { startFirmware } from "./app/start-firmware.js";
import { Guard } from "./hardware/guard.js";
import { preferFlashed } from "./settings/known-networks.js";
import { StoredSettings } from "./settings/stored-settings.js";

/** A function, because what the top of a module names stays in memory. */
const start = (): void => {
	const ticks = (): number => Time.ticks;
	const recent = findFeatures(["log"]).log?.(ticks, Timer);
	const log = (message: string): void => {
		trace(`${message}\n`);
		recent?.add(message);
	};
	// Before a board reads its settings.
	preferFlashed({ built, settings: new StoredSettings(Preference, log) }, log);
	const guard = new Guard(log, ticks);
	const opened = Object.assign(openBoard(), recent && { log: recent });
	const isSafe = needsSafeMode(opened, Timer);
	const found = findFeatures(isSafe ? SAFE_FEATURES : undefined);
	const { improv, parts: openParts, resources: openResources, ...features } = found;
	const bare = { board: opened, tools: findTools(isSafe ? SAFE_TOOLS : undefined), followers: [] };
	const parts = openParts?.(bare.board, { tools: bare.tools, timer: Timer, ticks, log }) ?? bare;
	const { board } = parts;
	const resources = openResources?.(board);
	startFirmware({
		...features,
		...resources,
		...parts,
		followers: [...parts.followers, ...(resources?.followers ?? [])],
		built,
		openNetwork,
		guard,
		isSafe,
		timer: Timer,
		ticks,
		log,
	});
	improv?.({ board, built, log });
	// Not before: a device that cannot start restarts.
	guard.install();
};

start();
