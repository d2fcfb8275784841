import * as crypto from "node:crypto";
import { createRequire } from "node:module";
import { compileFunction } from "node:vm";
import type { Dial } from "./core/nats.js";
import type { Network } from "./network.js";
import type { SimulatedProcess, World } from "./world.js";

/** The environment of a simulated process. */
export interface Surroundings {
	readonly world: World;
	readonly network: Network;
}

const requireReal = createRequire(import.meta.url);

let surroundings: Surroundings | undefined;

/** From now on, what runs in the sandbox is in this world. */
export function enter(next: Surroundings): void {
	surroundings = next;
}

function around(): Surroundings {
	if (surroundings === undefined) {
		throw new Error("the sandbox is in no world");
	}
	return surroundings;
}

function current(): SimulatedProcess | undefined {
	return around().world.current;
}

/** Milliseconds since 1970, by the clock of the process. */
function date(): number {
	return around().world.date + (current()?.clockError ?? 0);
}

class SimulatedDate extends Date {
	constructor(...args: readonly []) {
		if (args.length === 0) {
			super(date());
		} else {
			super(...args);
		}
	}

	static override now(): number {
		return date();
	}
}

/** A timer, as Node's: an object that also converts to a number. */
class Timer {
	readonly #process = current();
	readonly #run: () => void;
	readonly #interval: number;
	readonly #repeats: boolean;
	#cancel: (() => void) | undefined;

	constructor(run: () => void, interval: unknown, repeats: boolean) {
		this.#run = run;
		// As Node: at least a millisecond.
		this.#interval = Math.max(Math.trunc(Number(interval)) || 1, 1);
		this.#repeats = repeats;
		this.#start();
	}

	clear(): void {
		if (this.#cancel !== undefined) {
			this.#cancel();
			this.#cancel = undefined;
			this.#count(-1);
		}
	}

	refresh(): this {
		this.clear();
		this.#start();
		return this;
	}

	ref(): this {
		return this;
	}

	unref(): this {
		return this;
	}

	hasRef(): boolean {
		return true;
	}

	[Symbol.toPrimitive](): number {
		return Number.NaN;
	}

	#start(): void {
		const { world } = around();
		// A timer is never early, and on a busy machine it is late.
		const late = world.random.chance(0.05) ? world.random.between(0, 20) : world.random.between(0, 0.3);
		this.#count(1);
		this.#cancel = world.at(this.#interval + late, this.#process, () => {
			this.#cancel = undefined;
			this.#count(-1);
			if (this.#repeats) {
				this.#start();
			}
			this.#run();
		});
	}

	#count(change: number): void {
		if (this.#process !== undefined) {
			this.#process.timers += change;
		}
	}
}

function clear(timer: unknown): void {
	if (timer instanceof Timer) {
		timer.clear();
	}
}

type Run = (...args: unknown[]) => void;

const timers = {
	setTimeout: (run: Run, delay?: number, ...args: unknown[]) => new Timer(() => run(...args), delay, false),
	setInterval: (run: Run, delay?: number, ...args: unknown[]) => new Timer(() => run(...args), delay, true),
	setImmediate: (run: Run, ...args: unknown[]) => ({
		cancel: around().world.at(0, current(), () => run(...args)),
		unref: () => {},
	}),
	clearTimeout: clear,
	clearInterval: clear,
	clearImmediate: (immediate: { cancel(): void } | undefined) => immediate?.cancel(),
};

const timerPromises = {
	setTimeout: (delay?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
		new Promise((resolve, reject) => {
			const timer = timers.setTimeout(() => resolve(value), delay);
			signal?.addEventListener("abort", () => {
				timer.clear();
				reject(signal.reason);
			});
		}),
	setImmediate: (value?: unknown) => new Promise((resolve) => timers.setImmediate(() => resolve(value))),
};

function randomBytes(length: number): Buffer {
	return around().world.random.bytes(length);
}

function randomUUID(): string {
	const hex = randomBytes(16).toString("hex");
	return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
}

function randomInt(low: number, high?: number): number {
	const { random } = around().world;
	return high === undefined ? random.below(low) : low + random.below(high - low);
}

/** Web Crypto. The functions of `subtle` are missing: they settle in threads, whose order no seed decides. */
const webCrypto = {
	subtle: {},
	randomUUID,
	getRandomValues: <T extends Uint8Array>(array: T): T => {
		new Uint8Array(array.buffer, array.byteOffset, array.byteLength).set(randomBytes(array.byteLength));
		return array;
	},
};

const math = Object.create(Math, {
	random: { value: () => around().world.random.fraction() },
}) as typeof Math;

const signals = new Proxy(AbortSignal, {
	get: (target, name) =>
		name === "timeout"
			? (delay: number): AbortSignal => {
					const controller = new AbortController();
					const reason = new DOMException("The operation was aborted due to timeout", "TimeoutError");
					timers.setTimeout(() => controller.abort(reason), delay);
					return controller.signal;
				}
			: Reflect.get(target, name, target),
});

/** Garbage collection must not influence a run: weak references stay. */
class StrongRef<T extends object> {
	readonly #target: T;

	constructor(target: T) {
		this.#target = target;
	}

	deref(): T {
		return this.#target;
	}
}

class NoFinalization {
	register(): void {}
	unregister(): void {}
}

/** Enough of `process`. Without the members by which libraries find out that it ends. */
const processStandIn = {
	argv: ["node", "simulation"],
	arch: process.arch,
	cwd: () => "/",
	emitWarning: () => {},
	env: {},
	execArgv: [],
	getuid: () => 0,
	hrtime: Object.assign(() => [0, 0], { bigint: () => BigInt(Math.floor(around().world.now * 1e6)) }),
	memoryUsage: () => ({ rss: 0, heapTotal: 0, heapUsed: 0, external: 0, arrayBuffers: 0 }),
	nextTick: process.nextTick,
	on: () => {},
	once: () => {},
	pid: 1,
	platform: process.platform,
	release: process.release,
	stderr: process.stderr,
	stdout: process.stdout,
	version: process.version,
	versions: process.versions,
};

/** The only file of a gateway in a cluster: the same key for each, as the documentation wants. */
const DEVICE_KEY = "5eed".repeat(16);

/** A module of Node whose functions throw: what is kept goes to NATS. Libraries may look at them, and wrap them. */
function withoutFiles(module: string): Record<string, unknown> {
	const members = Object.entries(requireReal(module) as object).map(([name, value]) => {
		const isFunction = typeof value === "function" && !/^[A-Z]/.test(name);
		const fail = (): never => {
			throw new Error(`the sandbox has no files: ${module} ${name}`);
		};
		return [name, isFunction ? fail : value];
	});
	return Object.fromEntries(members);
}

const isKey = (path: string): boolean => path.endsWith("/device-key");

function readFileSync(path: string): string {
	if (!isKey(path)) {
		throw Object.assign(new Error(`ENOENT: ${path}`), { code: "ENOENT" });
	}
	return DEVICE_KEY;
}

const fs = { ...withoutFiles("node:fs"), existsSync: isKey, readFileSync };

const dialNats: Dial = (address, listener) =>
	around().network.connect(current() as SimulatedProcess, address, listener);

/** Modules that would reach the clock, the disk, the network or randomness. */
const MODULES: Readonly<Record<string, unknown>> = {
	crypto: { ...crypto, randomUUID, randomBytes, randomInt, webcrypto: webCrypto },
	fs,
	"fs/promises": withoutFiles("node:fs/promises"),
	timers,
	"timers/promises": timerPromises,
	worker_threads: { threadId: 0, isMainThread: true },
	piscina: { Piscina: class {} },
};

/** Node's modules that only compute, or only define classes that the simulation does not open. */
const PURE = new Set(
	[
		"assert",
		"async_hooks",
		"buffer",
		"constants",
		"diagnostics_channel",
		"dns",
		"events",
		"http",
		"https",
		"module",
		"net",
	]
		.concat(["os", "path", "perf_hooks", "punycode", "querystring", "stream", "stream/promises", "string_decoder"])
		.concat(["tls", "url", "util", "zlib", "child_process", "cluster", "readline", "tty", "util/types", "http2"]),
);

function requireSimulated(name: string): unknown {
	const plain = name.replace(/^node:/, "");
	if (plain === "process") {
		return processStandIn;
	}
	if (plain in MODULES) {
		return MODULES[plain];
	}
	if (!PURE.has(plain)) {
		throw new Error(`the sandbox has no module ${name}`);
	}
	return requireReal(`node:${plain}`);
}

const performanceStandIn = { now: () => around().world.now, timeOrigin: 0, mark: () => {}, measure: () => {} };

/** The names that have another meaning in the sandbox than outside. */
const NAMES: Readonly<Record<string, unknown>> = {
	...timers,
	AbortSignal: signals,
	Date: SimulatedDate,
	FinalizationRegistry: NoFinalization,
	Math: math,
	WeakRef: StrongRef,
	crypto: webCrypto,
	dialNats,
	performance: performanceStandIn,
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
