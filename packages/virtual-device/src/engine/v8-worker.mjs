// The thread of one V8 machine: commands in, replies out. Its realm has the globals of ECMAScript and XS only.
// Plain JavaScript, so that the thread starts without a TypeScript loader.
import { setImmediate } from "node:timers/promises";
import { runInNewContext, Script } from "node:vm";
import { parentPort, workerData } from "node:worker_threads";

const { Buffer, process } = globalThis;
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @type {{ header: string, bytes?: Uint8Array }[]} */
let posted = [];
let ended = false;

const standard = new Set(runInNewContext("Object.getOwnPropertyNames(globalThis)"));
for (const name of ["console", "Intl", "WebAssembly"]) {
	standard.delete(name);
}
for (const name of Object.getOwnPropertyNames(globalThis)) {
	if (!standard.has(name)) {
		delete globalThis[name];
	}
}
define(globalThis, {
	post(header, bytes) {
		if (typeof header !== "string") {
			throw new TypeError("post: the header is no string");
		}
		posted.push(bytes === undefined ? { header } : { header, bytes: new Uint8Array(expectBuffer(bytes)).slice() });
	},
	trace(...texts) {
		parentPort.postMessage({ trace: texts.map(String).join("") });
	},
});
define(ArrayBuffer, {
	// Strings of XS end with a zero byte: it writes U+0000 as C0 80.
	fromString(...values) {
		if (values.length < 1) {
			throw new TypeError("no argument");
		}
		const text = Buffer.from(String(values[0])).toString("latin1").replaceAll("\0", "\xc0\x80");
		return Uint8Array.from(Buffer.from(text, "latin1")).buffer;
	},
});
define(ArrayBuffer.prototype, {
	concat(...buffers) {
		return Uint8Array.from(Buffer.concat([this, ...buffers].map((each) => new Uint8Array(expectBuffer(each))))).buffer;
	},
});
define(String, {
	// XS stops at a zero byte.
	fromArrayBuffer(buffer, offset = 0, length = undefined) {
		const limit = expectBuffer(buffer).byteLength;
		const start = Math.trunc(Number(offset)) || 0;
		const size = length === undefined ? limit - start : Math.trunc(Number(length)) || 0;
		if (start < 0 || start > limit || size < 0 || start + size > limit) {
			throw new RangeError(`out of range: ${size} bytes from ${start}`);
		}
		const bytes = new Uint8Array(buffer, start, size);
		const end = bytes.indexOf(0);
		return utf8.decode(end < 0 ? bytes : bytes.subarray(0, end));
	},
});
if (workerData.seed !== undefined) {
	Math.random = seeded(workerData.seed);
}

function define(object, members) {
	for (const [name, value] of Object.entries(members)) {
		Object.defineProperty(object, name, { value, writable: true, configurable: true });
	}
}

function expectBuffer(value) {
	if (value instanceof ArrayBuffer) {
		return value;
	}
	throw new TypeError("argument is no ArrayBuffer instance");
}

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

/** Performs a command. The promise jobs of a script or a message run before the next one. */
async function perform({ kind, script, packets }) {
	if (kind === "run") {
		// Otherwise Node writes source lines into the error's stack.
		new Script(script, { filename: "script" }).runInThisContext({ displayErrors: false });
		await setImmediate();
	}
	for (const { header, bytes } of packets ?? []) {
		try {
			if (typeof globalThis.onHostMessage !== "function") {
				throw new TypeError("globalThis.onHostMessage is no function");
			}
			globalThis.onHostMessage(header, bytes?.buffer);
		} catch (error) {
			if (!ignores("unhandled exception", error)) {
				throw error;
			}
		}
		await setImmediate();
	}
}

/** Whether the script's global function `abort` returns false, as Moddable's define `xs.abortHook` has it. */
function ignores(reason, error) {
	try {
		return globalThis.abort?.(reason, error) === false;
	} catch {
		return false;
	}
}

function textOf(error) {
	try {
		const text = typeof error === "object" && error !== null && "stack" in error ? error.stack : error;
		const lines = String(text).split("\n");
		return lines.filter((line) => !/^\s+at .*(node:|v8-worker|evalmachine)/.test(line)).join("\n");
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
		await perform(command);
	} catch (error) {
		end("exception", error);
	}
	if (!ended) {
		parentPort.postMessage({ packets: posted });
	}
});

parentPort.postMessage({ packets: [{ header: JSON.stringify([process.versions.v8]) }] });
