import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";

startFirmware({
	board: openBoard(),
	built,
	openNetwork,
	timer: Timer,
	log: (message: string): void => trace(`${message}\n`),
});
