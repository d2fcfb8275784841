import * as crypto from "node:crypto";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import { Hub, makeLibrary } from "./nats.js";
import { type SimulatedProcess, World } from "./world.js";

const requireReal = createRequire(import.meta.url);

/** At first one without processes, for modules that look at the clock when they are loaded. */
let world = new World(0);
let nats = new Hub(world);

/** From now on, what runs in the sandbox is in this world. */
export function enter(hub: Hub): void {
	nats = hub;
	world = hub.world;
}

/** Milliseconds since 1970, by the clock of the process. */
function date(): number {
	return world.date + (world.current?.clockError ?? 0);
}

class SimulatedDate extends Date {
	constructor(...args: readonly []) {
		super(...((args.length === 0 ? [date()] : args) as readonly []));
	}

	static override now(): number {
		return date();
	}
}

/** Starts a timer as Node's. */
function startTimer(run: () => void, delay: unknown, repeats: boolean) {
	const process = world.current;
	// As Node: at least a millisecond.
	const interval = Math.max(Math.trunc(Number(delay)) || 1, 1);
	const count = (change: number): void => {
		if (process !== undefined) {
			process.timers += change;
		}
	};
	let cancel: (() => void) | undefined;
	const clear = (): void => {
		if (cancel !== undefined) {
			cancel();
			cancel = undefined;
			count(-1);
		}
	};
	const start = (): void => {
		// A timer is never early, and on a busy machine it is late.
		const late = world.random.chance(0.05) ? world.random.between(0, 20) : world.random.between(0, 0.3);
		count(1);
		cancel = world.at(interval + late, process, () => {
			clear();
			if (repeats) {
				start();
			}
			run();
		});
	};
	start();
	const timer = { clear, unref: () => timer };
	return timer;
}

type Run = (...args: unknown[]) => void;

const clear = (timer: { clear(): void } | undefined): void => timer?.clear();

const timers = {
	setTimeout: (run: Run, delay?: number, ...args: unknown[]) => startTimer(() => run(...args), delay, false),
	setInterval: (run: Run, delay?: number, ...args: unknown[]) => startTimer(() => run(...args), delay, true),
	setImmediate: (run: Run, ...args: unknown[]) => ({
		clear: world.at(0, world.current, () => run(...args)),
		unref: () => {},
	}),
	clearTimeout: clear,
	clearInterval: clear,
	clearImmediate: clear,
};

const timerPromises = {
	setTimeout: (delay?: number, value?: unknown) =>
		new Promise((resolve) => timers.setTimeout(() => resolve(value), delay)),
	setImmediate: (value?: unknown) => new Promise((resolve) => timers.setImmediate(() => resolve(value))),
};

const randomBytes = (length: number): Buffer => world.random.bytes(length);

function randomUUID(): string {
	const hex = randomBytes(16).toString("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function randomInt(low: number, high?: number): number {
	return high === undefined ? world.random.below(low) : low + world.random.below(high - low);
}

/** Garbage collection must not influence a run: weak references stay. */
function StrongRef<T>(target: T) {
	return { deref: () => target };
}

function NoFinalization() {
	return { register() {} };
}

const isKey = (path: string): boolean => path.endsWith("/device-key");

/** The only file of a gateway in a cluster: the same key for each, as the documentation wants. What is kept goes to NATS. */
function readFileSync(path: string): string {
	if (!isKey(path)) {
		throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
	}
	return "5eed".repeat(16);
}

/** Without the members by which libraries find out that it ends. */
const processStandIn = { ...process, env: {}, on: () => {}, once: () => {}, emitWarning: () => {} };

/** Modules that would reach the clock, the disk, the network or randomness. */
const MODULES: Readonly<Record<string, unknown>> = {
	crypto: { ...crypto, randomUUID, randomBytes, randomInt },
	fs: { existsSync: isKey, readFileSync },
	"fs/promises": {},
	process: processStandIn,
	timers,
	"timers/promises": timerPromises,
	worker_threads: { isMainThread: true },
};

/** Node's modules that only compute, or only define classes that the simulation does not open. */
const PURE = new Set(
	["async_hooks", "buffer", "child_process", "cluster", "constants", "diagnostics_channel", "dns", "events", "http"]
		.concat(["http2", "https", "net", "os", "path", "perf_hooks", "querystring", "stream", "stream/promises"])
		.concat(["string_decoder", "tls", "tty", "url", "util", "v8", "zlib"]),
);

const natsLibrary = makeLibrary(() => [nats, world.current as SimulatedProcess]);

function requireSimulated(name: string): unknown {
	if (name.startsWith("@nats-io/")) {
		return natsLibrary;
	}
	const plain = name.replace(/^node:/, "");
	if (!(plain in MODULES) && !PURE.has(plain)) {
		throw new Error(`the sandbox has no module ${name}`);
	}
	return MODULES[plain] ?? requireReal(`node:${plain}`);
}

/** The names that have another meaning in the sandbox than outside. */
const NAMES: Readonly<Record<string, unknown>> = {
	...timers,
	Date: SimulatedDate,
	FinalizationRegistry: NoFinalization,
	Math: Object.create(Math, { random: { value: () => world.random.fraction() } }),
	WeakRef: StrongRef,
	// Without the functions of `subtle`: they settle in threads, whose order no seed decides.
	crypto: { randomUUID, subtle: {} },
	performance: { now: () => world.now },
	process: processStandIn,
	require: requireSimulated,
};

/**
 * Runs a bundle (CommonJS) whose clock, timers, randomness, files and sockets are those of the current world. They are handed
 * in as the parameters of a function around it: no global is changed.
 */
export function load<T>(code: string, filename: string): T {
	const module = { exports: {} };
	const own = { ...NAMES, module, exports: module.exports, __filename: filename, __dirname: "/" };
	const globals = Object.create(globalThis, Object.getOwnPropertyDescriptors(NAMES)) as object;
	const parameters = { ...own, global: globals, globalThis: globals };
	const run = compileFunction(code, Object.keys(parameters), { filename });
	run(...Object.values(parameters));
	return module.exports as T;
}
