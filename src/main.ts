import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { Application } from "./app/application.js";
import { readConfig } from "./app/config.js";
import { createTransport } from "./app/create-transport.js";
import { deviceUuid } from "./app/uuid.js";
import { EcmaHttp } from "./http/ecma-http.js";

const board = openBoard();
const deviceId = board.system.macAddress;
const config = readConfig(built, board.settings, deviceId);
const uuid = deviceUuid(board.settings);
const network = openNetwork(built);
const http = new EcmaHttp({ network, timer: Timer, maxBytes: Math.floor(config.chunkBytes / 4) });
const log = (message: string): void => trace(`${message}\n`);

const application = new Application({
	board: { ...board, http },
	backend: config.backend,
	transport: createTransport({ config, network, deviceId, uuid, log }),
	timer: Timer,
	log,
});
application.start();
