import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { Guard } from "./app/guard.js";
import { startFirmware } from "./app/start-firmware.js";

/** A function, because what the top of a module names stays in memory. */
const start = (): void => {
	const { improv, parts: openParts, resources: openResources, ...features } = findFeatures();
	const log = (message: string): void => trace(`${message}\n`);
	const ticks = (): number => Time.ticks;
	const guard = new Guard(log, ticks);
	const bare = { board: openBoard(), tools: findTools(), followers: [] };
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
		timer: Timer,
		ticks,
		log,
	});
	improv?.({ board, built, log });
	// Not before: a device that cannot start restarts.
	guard.install();
};

start();
