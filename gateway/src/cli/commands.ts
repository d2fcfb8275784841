import type { Command } from "commander";
import { addBindingCommands } from "./binding-commands.js";
import { addClientCommands } from "./client-commands.js";
import { addClusterCommands } from "./cluster-commands.js";
import { addFirmwareCommands } from "./firmware-commands.js";
import { addServeCommands } from "./serve.js";
import { addServerCommands } from "./server-commands.js";
import { addTagCommands } from "./tag-commands.js";
import { addTokenCommands } from "./token-commands.js";

/** Adds every command. */
export function addCommands(program: Command): void {
	addServeCommands(program);
	const devices = addClientCommands(program);
	addBindingCommands(devices);
	addTagCommands(devices);
	addFirmwareCommands(program);
	addClusterCommands(program);
	addTokenCommands(program);
	addServerCommands(program);
}
