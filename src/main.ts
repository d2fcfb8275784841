import built from "mc/config";
import { openBoard } from "src/boards/board";
import { openNetwork } from "src/platform/network";
import Timer from "timer";
import { Application } from "./app/application.js";
import { readConfig } from "./app/config.js";
import { createProtocol } from "./app/connect.js";
import { deviceUuid } from "./app/uuid.js";

const board = openBoard();
const deviceId = board.system.macAddress;
const config = readConfig(built, board.settings, deviceId);
const uuid = deviceUuid(board.settings);
const network = openNetwork(built);
const log = (message: string): void => trace(`${message}\n`);

const application = new Application({
	board,
	backend: config.backend,
	protocol: (events) => createProtocol({ config, network, deviceId, uuid, timer: Timer, events, log }),
	log,
});
application.start();
