#!/usr/bin/env node
// The maker's program xs-mcp. Each command loads its modules when it runs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { Command, Option } from "commander";
import { ProgramError, readPort, runProgram } from "./build/program.js";
import { checkProject, findTypeErrors, openProject } from "./project.js";

const program = new Command("xs-mcp")
	.description("Runs, tests and flashes a project: a device of its own, with the firmware xs-mcp.")
	.exitOverride();

program
	.command("start")
	.description("run it on a virtual device, again after each change, with a page and a gateway")
	.option("--no-gateway", "start no gateway where none runs")
	.addOption(gatewayPort("--http-port <port>", "where the gateway serves MCP clients", 8766))
	.addOption(gatewayPort("--websocket-port <port>", "where the gateway serves devices", 8765))
	.option("--page <port>", "where the device's page is (default: 8768, or the next free one)", readPort)
	.option("--verbose", "show the device's log", false)
	.action(async (options) => {
		const { startProject } = await import("./start.js");
		await startProject(options);
	});

program
	.command("check")
	.description("check types, parts, pins and tools")
	.action(async () => await check());

program
	.command("test")
	.description("check it, and run the tests with node --test")
	.argument("[arguments...]", "of node --test")
	.allowUnknownOption()
	.action(async (rest: string[]) => {
		await check();
		const child = spawn(process.execPath, ["--test", ...rest], { stdio: "inherit" });
		const [status] = await once(child, "exit");
		process.exitCode = status ?? 1;
	});

program
	.command("mcp")
	.description("serve MCP over stdio, for an agent that builds the project")
	.argument("[folder]", "the project's folder (default: this one)")
	.action(async (folder: string | undefined) => {
		const { serveProject } = await import("./serve-project.js");
		await serveProject(folder);
	});

addProgram("flash", "build it for a board with Moddable's SDK, and put it there", async () =>
	ofProject((await import("./moddable/flash.js")).flashProgram),
);
addProgram("simulator", "run it in Moddable's simulator", async () =>
	ofProject((await import("./moddable/simulator.js")).simulatorProgram),
);
addProgram("firmware", "build images of it that others can flash", async () =>
	ofProject((await import("./moddable/firmware.js")).firmwareProgram),
);
addProgram("sign", "sign images, for devices that take only signed ones", async () =>
	(await import("./signing.js")).signProgram(),
);
addProgram("image", "build an image that virtual devices can update to", async () =>
	(await import("xs-mcp-virtual-device/make-image")).imageProgram(),
);
addProgram("boards", "list the boards, or measure the firmware on some", async () =>
	(await import("./moddable/boards.js")).boardsProgram(),
);
addProgram("doctor", "report what is missing to build, and how to get it", async () =>
	(await import("./moddable/doctor.js")).doctorProgram(),
);

if (process.channel) {
	const { endWithServer } = await import("./job.js");
	endWithServer();
}
await runProgram(program);

/** Adds a program with its own options as a command. */
function addProgram(name: string, description: string, load: () => Promise<Command>): void {
	program
		.command(name)
		.description(description)
		.helpOption(false)
		.argument("[arguments...]")
		.allowUnknownOption()
		.action(async (rest: string[]) => await runProgram(await load(), rest));
}

/** Makes a program of the project, whose types are checked before it runs: a build checks its parts. */
function ofProject(make: (folder: string) => Command): Command {
	return make(openProject().folder).hook("preAction", async () => {
		refuse(await findTypeErrors(openProject().folder));
	});
}

/** Checks a project before its tests. Rejects with ProgramError that has all problems. */
async function check(): Promise<void> {
	const { problems, warnings } = await checkProject(openProject());
	for (const warning of warnings) {
		console.error(`warning: ${warning}`);
	}
	refuse(problems);
}

/** @throws ProgramError if there are problems */
function refuse(problems: string): void {
	if (problems !== "") {
		throw new ProgramError(`Check failed:\n${problems}`);
	}
}

/** A setting of the gateway, with its environment variable. */
function gatewayPort(flag: string, description: string, port: number): Option {
	const variable = `XS_MCP_GATEWAY_${flag.split(" ")[0]?.slice(2).replaceAll("-", "_").toUpperCase()}`;
	return new Option(flag, description).env(variable).argParser(readPort).default(port);
}
