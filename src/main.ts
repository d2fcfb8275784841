import built from "mc/config";
import { openBoard } from "src/boards/target/board";
import { findFeatures } from "src/platform/features";
import { openNetwork } from "src/platform/network";
import { findTools } from "src/platform/tools";
import Time from "time";
import Timer from "timer";
import { startFirmware } from "./app/start-firmware.js";

const features = findFeatures();
const log = (message: string): void => trace(`${message}\n`);
const ticks = (): number => Time.ticks;
const bare = { board: openBoard(), tools: findTools(), followers: [] };
const parts = features.parts?.(bare.board, { tools: bare.tools, timer: Timer, ticks, log }) ?? bare;
const { board } = parts;
const resources = features.resources?.(board);

startFirmware({
	...features,
	...resources,
	...parts,
	followers: [...parts.followers, ...(resources?.followers ?? [])],
	built,
	openNetwork,
	timer: Timer,
	ticks,
	log,
});
features.improv?.({ board, built, log });
