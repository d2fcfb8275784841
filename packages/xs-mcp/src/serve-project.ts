import { Console } from "node:console";
import { once } from "node:events";
import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, extname, relative, resolve, sep } from "node:path";
import { Writable } from "node:stream";
import { McpServer, type ToolAnnotations } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { FIRMWARE } from "xs-mcp-firmware/core/firmware";
import { ACTS, READS, SETS } from "xs-mcp-firmware/tools/define-tool";
import { ACTION_NAMES } from "xs-mcp-virtual-device/actions";
import * as z from "zod";
import { TARGETS } from "./build/check-board.js";
import { fromProject, isElsewhere } from "./build/manifests.js";
import { ProgramError, readJson, signalled } from "./build/program.js";
import { readDevice } from "./build/read-device.js";
import { describeBoard, describePart, listParts } from "./describe-parts.js";
import { DeviceBench } from "./device-bench.js";
import { JobRunner } from "./job.js";
import { listPorts } from "./moddable/ports.js";
import { checkProject, openProject, type Project } from "./project.js";

/** Longest result, in characters. */
const MAX_RESULT = 30_000;

/** Largest message of a client, in bytes. */
const MAX_MESSAGE = 1024 * 1024;

/** Limits of jobs, in seconds. The first build for a chip takes minutes. */
const TEST_LIMIT = 300;
const BUILD_LIMIT = 1_800;

const INSTRUCTIONS = `Builds a device of one's own: firmware for an ESP32 that serves MCP tools. The project has device.ts (board and parts),
tools/NAME.ts (a tool a file), test/*.test.js and manifest.json. Edit its files with your own tools, or with write_project_file.
1. list_parts and list_boards give the functions for device.ts, their options and the free pins.
   device.ts and tools are preloaded into flash: no let, regular expression, Map or Set at the top level of a file.
2. After each change: check_project gives types, parts and pins with file and line.
3. start_device runs the files as they are now on a virtual device. simulate sets its inputs, call_device_tool calls its tools,
   read_device shows its pins, read_log its log. Start it again after a change.
4. Write a test and run_tests.
5. build and flash are for a real board, and need Moddable's SDK. Ask the person before flash.
run_tests, build and flash return state "runs" after 50 s: job then waits for the end.`;

/** Text of a tool's input that names a board. */
const target = z
	.string()
	.regex(/^[\w/]+$/)
	.optional()
	.describe("mcconfig's name, such as \"esp32/esp32s3\". Default: the project's board");

/** Input of an action on a device. Some clients send a value without a type as a string. */
const actionValue = z
	.union([z.record(z.string(), z.unknown()), z.string(), z.number(), z.boolean(), z.null()])
	.default(null);

/**
 * Serves MCP over stdio for an agent that builds a project, until the client closes its end or a signal ends the process.
 * Standard output carries messages of MCP only.
 */
export async function serveProject(folder: string | undefined): Promise<void> {
	// Paths in errors and jobs are relative to the project.
	process.chdir(openProject(folder).folder);
	const bench = new DeviceBench();
	const jobs = new JobRunner();
	process.once("exit", () => {
		bench.halt();
		jobs.stop();
	});
	// The project's device.ts runs in this process, and may leave a timer or a promise that fails.
	process.on("uncaughtException", (error) => console.error(error));
	const transport = new StdioServerTransport(process.stdin, takeStdout(), { maxBufferSize: MAX_MESSAGE });
	const gone = once(process.stdin, "close").catch(() => {});
	serveStdio(() => makeServer(openProject(), bench, jobs), {
		transport,
		onerror: ({ message }) => console.error(message),
	});
	await Promise.race([signalled(), gone]);
	process.exit();
}

/** Reserves the standard output for messages. Other output, as of the project's device.ts, goes to the standard error. */
function takeStdout(): Writable {
	const write = process.stdout.write.bind(process.stdout);
	process.stdout.write = process.stderr.write.bind(process.stderr) as typeof process.stdout.write;
	globalThis.console = new Console(process.stderr);
	return new Writable({ write: (chunk, _, done) => void write(chunk, done) });
}

function makeServer(project: Project, bench: DeviceBench, jobs: JobRunner): McpServer {
	const server = new McpServer({ name: "xs-mcp", version: FIRMWARE.version }, { instructions: INSTRUCTIONS });
	// Results are texts or objects: Gemini CLI 0.61 rejects a list.
	const add = <Shape extends z.ZodRawShape>(
		name: string,
		annotations: ToolAnnotations,
		description: string,
		shape: Shape,
		run: (input: z.infer<z.ZodObject<Shape>>) => unknown,
	): void => {
		const config = { description, annotations, inputSchema: z.strictObject(shape) };
		server.registerTool(name, config, async (input) => {
			const result = await run(input as z.infer<z.ZodObject<Shape>>);
			const text = typeof result === "string" ? result : JSON.stringify(result);
			const isLong = text.length > MAX_RESULT;
			return { content: [{ type: "text", text: isLong ? `${text.slice(0, MAX_RESULT)}\n… cut` : text }] };
		});
	};

	add(
		"list_parts",
		READS,
		"List the functions that make parts for device.ts, with their options. With `part`, its declaration with units, ranges and defaults.",
		{ part: z.string().optional().describe('Name of a function: "relay"') },
		({ part }) => (part === undefined ? { parts: listParts() } : describePart(part)),
	);
	add(
		"list_boards",
		READS,
		"Describe a board (default: the project's): chip, built-in parts, used pins, free pins by use, and pins to avoid. Also lists all boards.",
		{ board: target },
		async ({ board }) => {
			const own =
				board === undefined ? await readDevice(fromProject(project.manifest), "virtual") : { board, parts: {} };
			return { ...describeBoard(own?.board, own?.parts), boards: TARGETS };
		},
	);
	add(
		"check_project",
		READS,
		"Check types, parts, pins and manifest. Names file, line and the accepted names.",
		{},
		() => checkProject(project),
	);
	add(
		"write_project_file",
		{ ...SETS, destructiveHint: true },
		"Write a file of the project, such as device.ts or tools/water.ts, and check the project. A new tool is added to the manifest's preload.",
		{
			path: z.string().describe("From the project's folder"),
			text: z.string(),
			overwrite: z.boolean().default(false).describe("Whether to replace a file that exists"),
		},
		async ({ path, text, overwrite }) => {
			const done = writeProjectFile(project, path, text, overwrite);
			return { done, ...(await checkProject(project)) };
		},
	);
	add(
		"start_device",
		ACTS,
		"Start the project as its files are now on a virtual device, on XS where a C compiler is. Replaces one that runs.",
		{},
		async () => {
			const warnings = await bench.start(project);
			const tools = (await bench.listTools()).map(({ name }) => name);
			return { ...bench.state, tools, warnings };
		},
	);
	add("stop_device", SETS, "Stop the virtual device.", {}, async () => {
		await bench.stop();
		return "stopped";
	});
	add(
		"simulate",
		ACTS,
		'Do something to the virtual device. Values by action: set {"soil": 2900, "door": "on", "air": {"temperature": 30}} (parts by name: raw level of a pin, readings of a sensor); press {"button": "a", "milliseconds": 100}; network "lost" or "good"; measure, battery, signal as at its page; restart null.',
		{ action: z.enum(ACTION_NAMES as [string, ...string[]]), value: actionValue },
		async ({ action, value }) => {
			await bench.act(action, value);
			return bench.state;
		},
	);
	add(
		"read_device",
		READS,
		"Read the pins of the virtual device by part, its sensors, and its page's URL.",
		{},
		() => bench.state,
	);
	add("list_device_tools", READS, "List the tools of the virtual device with their arguments.", {}, async () => ({
		tools: await bench.listTools(),
	}));
	add(
		"call_device_tool",
		ACTS,
		"Call a tool of the virtual device, as its clients do.",
		{ name: z.string(), arguments: z.record(z.string(), z.unknown()).default({}) },
		({ name, arguments: args }) => bench.call(name, args),
	);
	add(
		"read_log",
		READS,
		"Read the last lines of the virtual device's log. They stay when it has ended, until the next start.",
		{ lines: z.int().min(1).max(500).default(50) },
		({ lines }) => bench.log.slice(-lines).join("\n").slice(-MAX_RESULT),
	);
	add(
		"run_tests",
		ACTS,
		"Check the project and run its tests with node --test.",
		{ file: z.string().regex(/^[^-]/).optional().describe("One test file, from the project's folder") },
		({ file }) => jobs.run(["test", ...(file === undefined ? [] : [file])], TEST_LIMIT),
	);
	const targetFlag = (name: string | undefined): string[] => (name === undefined ? [] : ["--target", name]);
	add(
		"build",
		ACTS,
		"Build the firmware for the board with Moddable's SDK ($MODDABLE). `link` only compiles and links the TypeScript, which needs no ESP-IDF.",
		{ target, link: z.boolean().default(false) },
		({ target, link }) =>
			jobs.run(["flash", link ? "--link-only" : "--build-only", ...targetFlag(target)], BUILD_LIMIT),
	);
	add("list_serial_ports", READS, "List the serial ports that a board may be connected to.", {}, () => ({
		ports: listPorts(),
	}));
	add(
		"flash",
		{ ...ACTS, destructiveHint: true },
		"Build the firmware and write it to the connected board, in place of what it has. With `log`, its log follows: read it with job, and stop it.",
		{
			target,
			port: z.string().regex(/^[^-]/).optional().describe("Serial port. Default: the only one"),
			log: z.boolean().default(false),
		},
		({ target, port, log }) =>
			jobs.run(
				["flash", ...(log ? ["--log"] : []), ...targetFlag(target), ...(port === undefined ? [] : ["--port", port])],
				BUILD_LIMIT,
			),
	);
	add(
		"job",
		ACTS,
		"Wait up to 50 s for the end of run_tests, build or flash, and read the end of its output; or stop it.",
		{ stop: z.boolean().default(false) },
		({ stop }) => {
			if (stop) {
				jobs.stop();
			}
			return jobs.wait();
		},
	);
	return server;
}

/** Largest file, in characters. */
const MAX_LENGTH = 100_000;

/** Files that a project has. */
const EXTENSIONS = [".ts", ".js", ".mjs", ".json", ".md"];

/** Folders of installed and generated files. Hidden ones have settings of other programs. */
const CLOSED = /^(\..*|node_modules|build|dist)$/;

/** A tool that has a module of its own. */
const TOOL = /^tools\/[^/]+(?=\.ts$)/;

/**
 * Writes a file of a project. A new tool is also named in the manifest's `preload`, so that it lies in flash.
 *
 * @param path from the project's folder
 * @returns a report for the agent
 * @throws ProgramError if the path is not one of the project, or the file exists and is not to be overwritten
 */
function writeProjectFile(project: Project, path: string, text: string, overwrite: boolean): string {
	const file = resolveFile(project, path);
	if (text.length > MAX_LENGTH) {
		throw new ProgramError(`text: expected at most ${MAX_LENGTH} characters, got ${text.length}`);
	}
	const exists = existsSync(file);
	if (exists && !overwrite) {
		throw new ProgramError(`${path} exists: read it, and set overwrite to true to replace it`);
	}
	mkdirSync(dirname(file), { recursive: true });
	writeFileSync(file, text, { flag: exists ? "w" : "wx" });
	const [module] = TOOL.exec(relative(project.folder, file).replaceAll("\\", "/")) ?? [];
	const isAdded = module !== undefined && preload(project, module);
	return `${exists ? "replaced" : "wrote"} ${path}${isAdded ? `; added ${module} to preload in manifest.json` : ""}`;
}

/** @throws ProgramError */
function resolveFile({ folder }: Project, path: string): string {
	const file = resolve(folder, path);
	const inside = relative(folder, file);
	if (isElsewhere(inside) || inside.split(sep).some((step) => CLOSED.test(step))) {
		throw new ProgramError(
			`path: expected a file of the project, not in a hidden folder, node_modules or build, got ${JSON.stringify(path)}`,
		);
	}
	if (!EXTENSIONS.includes(extname(file))) {
		throw new ProgramError(
			`path: expected a file that ends with ${EXTENSIONS.join(", ")}, got ${JSON.stringify(path)}`,
		);
	}
	// A link may lead out of the folder.
	let existing = file;
	while (!existsSync(existing)) {
		existing = dirname(existing);
	}
	if (`${realpathSync(existing)}${sep}`.startsWith(`${folder}${sep}`)) {
		return file;
	}
	throw new ProgramError(`path: ${path} is a link that leads out of the project`);
}

/** Adds a module to the manifest's `preload`. @returns whether it was added */
function preload({ manifest }: Project, module: string): boolean {
	const content = readJson<{ preload?: string[] }>(manifest);
	if (content.preload === undefined || content.preload.includes(module)) {
		return false;
	}
	content.preload.push(module);
	writeFileSync(manifest, `${JSON.stringify(content, undefined, "\t")}\n`);
	return true;
}
