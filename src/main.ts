import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";

const board = openBoard();
const features = findFeatures();

const log = (message: string): void => trace(`${message}\n`);

startFirmware({
	...features,
	...features.resources?.(board),
	board,
	built,
	openNetwork,
	tools: findTools(),
	timer: Timer,
	ticks: () => Time.ticks,
	log,
});
features.improv?.({ board, built, log });
