import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { hmacSha256 } from "src/platform/hmac-sha256";
import { httpServer } from "src/platform/http-server";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { startFirmware } from "../../src/app/start-firmware.js";
import { openDirect } from "../../src/net/open-direct.js";
import { makeFeatures } from "./features.js";

const board = openBoard();

startFirmware({
	board,
	built,
	openNetwork,
	hmacSha256,
	direct: (options) => openDirect(httpServer, options),
	timer: Timer,
	features: makeFeatures(board),
	log: (message) => trace(`${message}\n`),
});
