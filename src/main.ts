import built from "mc/config";
import Preference from "preference";
import { openBoard } from "src/hardware/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { Application } from "./core/application.js";
import { preferFlashed } from "./core/known-networks.js";
import { needsSafeMode, SAFE_TOOLS } from "./core/safe-mode.js";
import { StoredSettings } from "./core/stored-settings.js";

/** Wrapped in a function: module-level bindings are never freed. */
const start = (): void => {
	const log = (message: string): void => trace(`${message}\n`);
	// Before a board reads its settings.
	preferFlashed({ built, settings: new StoredSettings(Preference, log) }, log);
	const board = openBoard();
	const isSafe = needsSafeMode(board, Timer);
	const tools = findTools(isSafe ? SAFE_TOOLS : undefined);
	const ticks = (): number => Time.ticks;
	const application = new Application({ board, built, openNetwork, tools, isSafe, timer: Timer, ticks, log });
	application.start(findFeatures());
	// Not before: a device that cannot start restarts.
	application.guard.install();
};

start();
