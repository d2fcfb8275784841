import built from "mc/config";
import Preference from "preference";
import { openBoard } from "src/hardware/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Timer from "timer";
import { Application } from "../../src/core/application.js";
import askBrightness from "./brightness-tool.js";
import { beyondTools } from "./features.js";

const application = new Application({
	openBoard,
	store: Preference,
	built,
	openNetwork,
	findTools: (wanted) => [...findTools(wanted), askBrightness],
	timer: Timer,
	log: (message) => trace(`${message}\n`),
});
application.start([...findFeatures(), beyondTools]);
