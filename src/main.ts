import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { openDnsSd } from "src/platform/dns-sd";
import { hmacSha256 } from "src/platform/hmac-sha256";
import { httpServer } from "src/platform/http-server";
import { findMod } from "src/platform/mods";
import { openNetwork } from "src/platform/network";
import Time from "time";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";
import { openImprov } from "./connect/open-improv.js";
import { openSetup } from "./connect/open-setup.js";
import type { Hardware } from "./hardware/hardware.js";
import { isOffered } from "./hardware/needs.js";
import { FeatureSet } from "./mcp_server/features/feature-set.js";
import { Resources } from "./mcp_server/features/resources.js";
import { openDirect } from "./net/open-direct.js";
import { STATE_URI } from "./resources/device-state.js";
import { RESOURCES } from "./resources/index.js";

const board = openBoard();
const resources = new Resources<Hardware>({ resources: RESOURCES.filter((resource) => isOffered(resource, board)) });

const log = (message: string): void => trace(`${message}\n`);

startFirmware({
	board,
	built,
	openNetwork,
	openDnsSd,
	hmacSha256,
	direct: (options) => openDirect(httpServer, options),
	setup: (options) => openSetup(httpServer, options),
	timer: Timer,
	features: new FeatureSet<Hardware>([resources]),
	ticks: () => Time.ticks,
	onState: () => resources.updated(STATE_URI),
	mod: findMod(),
	log,
});
openImprov({ board, built, log });
