import built from "mc/config";
import Preference from "preference";
import { openBoard } from "src/hardware/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { Application } from "./core/application.js";

/** Wrapped in a function: module-level bindings are never freed. */
const start = (): void => {
	const log = (message: string): void => trace(`${message}\n`);
	const ticks = (): number => Time.ticks;
	const host = { openBoard, built, store: Preference, openNetwork, findTools, timer: Timer, ticks, log };
	const application = new Application(host);
	application.start(findFeatures());
	// Not before: a device that cannot start restarts.
	application.guard.install();
};

start();
