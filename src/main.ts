import { openBoard } from "board";
import built from "mc/config";
import { network } from "platform/network";
import Timer from "timer";
import { Application } from "./app/application.js";
import { readConfig } from "./app/config.js";
import { createProtocol } from "./app/connect.js";
import { deviceUuid } from "./app/uuid.js";

const board = openBoard();
const deviceId = board.system.macAddress;
const config = readConfig(built, board.settings, deviceId);
const uuid = deviceUuid(board.settings);
const log = (message: string): void => trace(`${message}\n`);

const application = new Application({
	board,
	protocol: (events) => createProtocol({ config, network, deviceId, uuid, timer: Timer, events, log }),
	log,
});
application.start();
