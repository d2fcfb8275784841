import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findAddons, findTools } from "src/platform/build";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { startFirmware } from "../../src/app/start-firmware.js";
import { makeFeatures } from "./features.js";

const board = openBoard();

startFirmware({
	...findAddons(),
	board,
	built,
	openNetwork,
	tools: findTools(),
	timer: Timer,
	features: makeFeatures(board),
	log: (message) => trace(`${message}\n`),
});
