// An MCP server over stdio that misbehaves as its first argument says. Plain JavaScript: it starts fast.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [, , behaviour = "good", ...names] = process.argv;
const { stdin, stdout, stderr } = process;
const answer = (id, result) => stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
const text = (value) => ({ content: [{ type: "text", text: value }] });
const schema = { type: "object", properties: { text: { type: "string" } } };
const tools = [
	{ name: "echo", description: "Says it again", inputSchema: schema, annotations: { readOnlyHint: true } },
	{ name: "write", description: "Writes it", inputSchema: schema },
	...names.map((name) => ({ name, inputSchema: schema })),
];
let running = 0;
let most = 0;
/** Calls that wait until as many calls run as their argument `together` says. */
const waiting = [];

if (behaviour === "child") {
	// Leaves its own child behind, with a standard input of its own.
	const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
	stderr.write(`child ${child.pid}\n`);
}
if (behaviour === "stubborn") {
	process.on("SIGTERM", () => {});
	stdin.on("end", () => setInterval(() => {}, 1_000));
}
if (behaviour === "flood") {
	setInterval(() => stderr.write("x".repeat(65_536)), 1);
}
if (behaviour === "garbage") {
	setInterval(() => stdout.write('hello\n{"jsonrpc": 1}\n'), 20);
}
const FLOODS = {
	"flood-garbage": "\n".repeat(65_536),
	"flood-lists": `${JSON.stringify({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })}\n`.repeat(1_000),
	"flood-logs":
		`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "x" } })}\n`.repeat(
			1_000,
		),
};
if (behaviour in FLOODS) {
	const flood = () => {
		while (stdout.write(FLOODS[behaviour])) {}
	};
	stdout.on("drain", flood);
	setTimeout(flood, 500);
}
if (behaviour === "crash") {
	stderr.write("no licence found\n");
	process.exit(3);
}

async function call({ id, params }) {
	const { name, arguments: args = {} } = params;
	running += 1;
	most = Math.max(most, running);
	if (args.text === "crash") {
		process.exit(1);
	}
	if (args.text === "never") {
		return;
	}
	if (args.text === "withdraw") {
		stdout.write(
			`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "x" } })}\n`,
		);
	}
	if (args.text === "complain") {
		stderr.write(`${"first\n".repeat(1_000)}${"y".repeat(5_000)}\n`);
	}
	if (args.together > running) {
		await new Promise((resolve) => waiting.push(resolve));
	} else if (args.together === running) {
		for (const resume of waiting.splice(0)) {
			resume();
		}
	}
	await new Promise((resolve) => setTimeout(resolve, args.delay ?? 5));
	running -= 1;
	if (args.environment) {
		answer(id, text(JSON.stringify({ cwd: process.cwd(), ...process.env })));
		return;
	}
	answer(
		id,
		args.fail ? { ...text("it failed"), isError: true } : text(args.most ? String(most) : `${name}: ${args.text}`),
	);
}

createInterface({ input: stdin }).on("line", (line) => {
	const message = JSON.parse(line);
	if (behaviour === "silent" || behaviour === "garbage" || message.id === undefined) {
		return;
	}
	if (behaviour === "unlicensed") {
		const error = { code: -32_000, message: "no licence found" };
		stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, error })}\n`);
	} else if (message.method === "initialize") {
		const { protocolVersion } = message.params;
		answer(message.id, { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1.0.0" } });
	} else if (message.method === "tools/list") {
		answer(message.id, { tools });
	} else if (message.method === "tools/call") {
		void call(message);
	} else if (message.method !== "ping") {
		const error = { code: -32_601, message: "Method not found" };
		stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, error })}\n`);
	} else if (behaviour !== "deaf") {
		answer(message.id, {});
	}
});
