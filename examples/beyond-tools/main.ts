import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Timer from "timer";
import { startFirmware } from "../../src/app/start-firmware.js";
import { makeFeatures } from "./features.js";

const board = openBoard();

startFirmware({
	...findFeatures(),
	board,
	built,
	openNetwork,
	tools: findTools(),
	timer: Timer,
	features: makeFeatures(board),
	log: (message) => trace(`${message}\n`),
});
