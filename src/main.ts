import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { hmacSha256 } from "src/platform/hmac-sha256";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";

startFirmware({
	board: openBoard(),
	built,
	openNetwork,
	hmacSha256,
	timer: Timer,
	log: (message: string): void => trace(`${message}\n`),
});
