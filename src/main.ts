import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findAddons, findTools } from "src/platform/build";
import { openNetwork } from "src/platform/network";
import Time from "time";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";

const board = openBoard();
const addons = findAddons();

const log = (message: string): void => trace(`${message}\n`);

startFirmware({
	...addons,
	...addons.resources?.(board),
	board,
	built,
	openNetwork,
	tools: findTools(),
	timer: Timer,
	ticks: () => Time.ticks,
	log,
});
addons.improv?.({ board, built, log });
