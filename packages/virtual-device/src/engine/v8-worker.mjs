// The thread of one V8 machine: a realm with ECMAScript's built-ins only, commands in, replies out.
// Plain JavaScript, so that the thread starts without a TypeScript loader.
import { setImmediate } from "node:timers/promises";
import { createContext, runInContext, Script } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";
import { realm } from "./v8-realm.mjs";

/** @type {{ header: string, bytes?: Uint8Array }[]} */
let posted = [];
/** @type {{ header: string, bytes?: Uint8Array } | undefined} */
let inbox;
let ended = false;

/** mulberry32: the numbers that follow from a seed. */
function seeded(seed) {
	let state = seed;
	return function random() {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
	};
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const host = {
	post(header, bytes) {
		posted.push(bytes === undefined ? { header } : { header, bytes: new Uint8Array(bytes).slice() });
	},
	trace(text) {
		parentPort.postMessage({ trace: text });
	},
	// Strings of XS end with a zero byte: it writes U+0000 as C0 80.
	encode: (text) => Buffer.from(Buffer.from(text).toString("latin1").replaceAll("\0", "\xc0\x80"), "latin1"),
	decode(bytes) {
		const end = bytes.indexOf(0);
		return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end));
	},
};

// Evaluating a script in this context runs its promise jobs before the call returns. Calling a function of it from here
// would not, hence a script that calls `deliver`.
const context = createContext({}, { microtaskMode: "afterEvaluate" });
if (workerData.seed !== undefined) {
	runInContext("Math", context).random = seeded(workerData.seed);
}
const DELIVER = Symbol.for("xs-mcp.deliver");
const deliver = runInContext(`(${realm})`, context)(host);
Object.defineProperty(context, DELIVER, { value: () => deliver(inbox.header, inbox.bytes) });
const deliverScript = new Script('globalThis[Symbol.for("xs-mcp.deliver")]()');

function evaluate(script) {
	script.runInContext(context, { displayErrors: false }); // otherwise Node writes source lines into the error's stack
}

function perform(command) {
	if (command.kind === "run") {
		evaluate(new Script(command.script, { filename: "script" }));
	}
	if (command.kind === "deliver") {
		for (inbox of command.packets) {
			try {
				evaluate(deliverScript);
			} catch (error) {
				if (!ignores("unhandled exception", error)) {
					throw error;
				}
			}
		}
	}
}

/** Whether the script's global function `abort` returns false, as Moddable's define `xs.abortHook` has it. */
function ignores(reason, error) {
	try {
		return context.abort?.(reason, error) === false;
	} catch {
		return false;
	}
}

function textOf(error) {
	try {
		const text = typeof error === "object" && error !== null && "stack" in error ? error.stack : error;
		const lines = String(text).split("\n");
		return lines.filter((line) => !/^\s+at .*(node:|v8-worker|v8-realm|evalmachine)/.test(line)).join("\n");
	} catch {
		return "an exception that has no text";
	}
}

function end(code, error) {
	if (ended) {
		return;
	}
	ended = true;
	const detail = textOf(error);
	const overflow = detail.startsWith("RangeError: Maximum call stack size exceeded");
	parentPort.postMessage({ ended: { code: overflow ? "stack-overflow" : code, detail } });
}

process.on("unhandledRejection", (error) => {
	if (!ignores("unhandled rejection", error)) {
		end("unhandled-rejection", error);
	}
});

parentPort.on("message", async (command) => {
	posted = [];
	try {
		perform(command);
	} catch (error) {
		end("exception", error);
	}
	await setImmediate(); // Node reports unhandled rejections before it comes here
	if (!ended) {
		parentPort.postMessage({ packets: posted });
	}
});

parentPort.postMessage({ packets: [{ header: JSON.stringify([process.versions.v8]) }] });
