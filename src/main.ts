import { openBoard } from "board";
import built from "mc/config";
import { network } from "platform/network";
import Timer from "timer";
import { Application } from "./app/application.js";
import { clientId } from "./app/client-id.js";
import { readConfig } from "./app/config.js";
import { WebSocketProtocol } from "./protocols/websocket_protocol.js";

const board = openBoard();
const config = readConfig(built, board.settings);
const log = (message: string): void => trace(`${message}\n`);

const application = new Application({
	board,
	protocol: (events) =>
		new WebSocketProtocol({
			url: config.backend,
			token: config.token,
			protocolVersion: config.protocolVersion,
			deviceId: board.system.macAddress,
			clientId: clientId(board.settings),
			network,
			timer: Timer,
			events,
			log,
		}),
	log,
});
application.start();
