import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { openNetwork } from "src/platform/network";
import Time from "time";
import Timer from "timer";
import { Application } from "./app/application.js";
import { readConfig } from "./app/config.js";
import { createTransport } from "./app/create-transport.js";
import { deviceUuid } from "./app/uuid.js";
import type { Hardware } from "./hardware/hardware.js";
import { isOffered } from "./hardware/needs.js";
import { Resources } from "./mcp_features/resources.js";
import { STATE_URI } from "./resources/device-state.js";
import { RESOURCES } from "./resources/index.js";

const board = openBoard();
const deviceId = board.system.macAddress;
const config = readConfig(built, board.settings, deviceId);
const uuid = deviceUuid(board.settings);
const network = openNetwork(built);
const log = (message: string): void => trace(`${message}\n`);
const resources = new Resources<Hardware>({
	resources: RESOURCES.filter((resource) => isOffered(resource, board)),
	maxBytes: config.chunkBytes / 8,
});

const application = new Application({
	board,
	backend: config.backend,
	transport: createTransport({ config, network, deviceId, uuid, log }),
	timer: Timer,
	features: resources,
	ticks: () => Time.ticks,
	onState: () => resources.updated(STATE_URI),
	log,
});
application.start();
