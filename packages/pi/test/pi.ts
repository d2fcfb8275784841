// pi's own command line from npm, with the packed extension installed in it, in RPC mode.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { temporaryFolder, until } from "../../../host-test/support/testing.js";
import { type ScriptedModel, startModel, type Turn } from "./scripted-model.js";

/** pi's program, and the Node that runs it: test/run.mjs may name others. */
const {
	PI_PROGRAM = fileURLToPath(new URL("../node_modules/@mariozechner/pi-coding-agent/dist/cli.js", import.meta.url)),
	PI_NODE = process.execPath,
} = process.env;
/** The extension as npm has installed its package: test/run.mjs does that. */
const EXTENSION = fileURLToPath(new URL("../../../.cache/pi/installed/node_modules/xs-mcp-pi", import.meta.url));

/** A line that pi writes. */
type Message = Readonly<Record<string, unknown>> & { readonly type: string };

/** Answer of a tool. */
export interface ToolEnd {
	readonly toolName: string;
	readonly result: { readonly content: readonly { readonly type: string; readonly text?: string }[] };
	readonly isError: boolean;
}

export interface RunningPi {
	/** The folder in which it runs. */
	readonly project: string;
	readonly model: ScriptedModel;
	readonly messages: readonly Message[];
	/** The person's answers to the extension's questions, by method: true, false or a text. */
	readonly answers: { confirm: boolean; input: string; select: string };
	/** The person's questions and messages on the screen, by method. */
	shown(method: string): string[];
	send(command: object): void;
	/** Has the model take these turns, and gives the results of its tool calls. */
	ask(message: string, turns: readonly Turn[]): Promise<ToolEnd[]>;
	/** Has the model call one tool, and gives its text. */
	call(tool: string, args: object): Promise<{ text: string; isError: boolean }>;
	/** Ends the session, as the person does. Settles when pi has ended. */
	end(): Promise<void>;
}

/** Starts pi in a folder of its own with these MCP servers, or no file of them; it is killed with its test. */
export async function startPi(t: TestContext, servers?: readonly object[]): Promise<RunningPi> {
	const model = await startModel(t);
	const home = makeHome(t, model, servers);
	const options = ["--mode", "rpc", "--no-session", "--offline", "--provider", "scripted", "--model", "scripted"];
	const place = {
		cwd: join(home, "project"),
		env: { PATH: process.env.PATH, HOME: home, PI_CODING_AGENT_DIR: join(home, "agent"), PI_OFFLINE: "1" },
	};
	assert.equal(spawnSync(PI_NODE, [PI_PROGRAM, "install", EXTENSION], place).status, 0, "pi installs the extension");
	const child = spawn(PI_NODE, [PI_PROGRAM, ...options], { ...place, stdio: ["pipe", "pipe", "inherit"] });
	t.after(() => child.kill("SIGKILL"));
	const exited = once(child, "exit");
	const messages: Message[] = [];
	const answers = { confirm: true, input: "", select: "" };
	const send = (command: object): void => void child.stdin.write(`${JSON.stringify(command)}\n`);
	createInterface({ input: child.stdout }).on("line", (line) => {
		const message = JSON.parse(line) as Message;
		messages.push(message);
		const { type, id, method } = message;
		if (type === "extension_ui_request" && method === "confirm") {
			send({ type: "extension_ui_response", id, confirmed: answers.confirm });
		} else if (type === "extension_ui_request" && (method === "input" || method === "select")) {
			send({ type: "extension_ui_response", id, value: answers[method] });
		}
	});
	const ask = async (message: string, turns: readonly Turn[]): Promise<ToolEnd[]> => {
		const from = messages.length;
		model.turns.push(...turns, { text: "done" });
		send({ type: "prompt", message });
		const isOver = (): boolean => messages.slice(from).some(({ type }) => type === "agent_end");
		await until(isOver, `the model's answer to ${message}`);
		return messages.slice(from).filter(({ type }) => type === "tool_execution_end") as unknown as ToolEnd[];
	};
	return {
		project: place.cwd,
		model,
		messages,
		answers,
		send,
		ask,
		shown: (method) =>
			messages
				.filter((message) => message.type === "extension_ui_request" && message.method === method)
				.map(({ title, message }) => [title, message].filter((part) => part !== undefined).join("\n")),
		async call(tool, args) {
			const [end] = await ask(`Call ${tool}`, [{ tool, args }]);
			assert.ok(end !== undefined, `${tool} was not called`);
			return { text: end.result.content.map(({ type, text }) => text ?? type).join("\n"), isError: end.isError };
		},
		async end() {
			child.stdin.end();
			await exited;
		},
	};
}

function makeHome(_t: TestContext, { baseUrl }: ScriptedModel, servers: readonly object[] | undefined): string {
	const home = temporaryFolder("xs-mcp-pi-");
	mkdirSync(join(home, "agent"));
	mkdirSync(join(home, "project"));
	const provider = { baseUrl, api: "openai-completions", apiKey: "none", models: [{ id: "scripted" }] };
	writeFileSync(join(home, "agent", "models.json"), JSON.stringify({ providers: { scripted: provider } }));
	if (servers !== undefined) {
		writeServers(join(home, "project"), servers);
	}
	return home;
}

export function writeServers(project: string, servers: readonly object[]): void {
	mkdirSync(join(project, ".pi"), { recursive: true });
	writeFileSync(join(project, ".pi", "mcp-servers.json"), JSON.stringify({ servers }));
}
