import type { ChildProcess, SpawnOptions } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import type { Socket } from "node:net";
import { resolve } from "node:path";
import { type JSONRPCMessage, serializeMessage, type Transport } from "@modelcontextprotocol/client";
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio";
import spawn from "cross-spawn";
import type { WebSocket } from "ws";
import { killGroup } from "xs-mcp/build/kill-group";
import {
	LineReader,
	MAX_MESSAGE_BYTES,
	MAX_UNSENT_BYTES,
	parseMessage,
	RateLimit,
	ReadBudget,
} from "../core/received.js";
import type { ServerConfig } from "./server-config.js";

/** Milliseconds for which the last output of a process that has ended is read. */
const LAST_WORDS_TIME = 500;

/** Milliseconds that a process has to end by itself, once its standard input was closed. */
const EXIT_TIME = 1_000;

/**
 * Replaces the shell by the command, and leaves a guard that reads descriptor 3. When the gateway ends, also if it is killed,
 * the guard reads its end and kills their process group.
 */
const GUARDED = `(read -r _ <&3; kill -KILL 0) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-`;

/** Larger exit codes are those of a shell for a signal. */
const MAX_OWN_CODE = 128;

/** The exit codes of a shell whose command could not be run, or not be found. */
const NOT_RUN = [126, 127];

/**
 * MCP over the standard input and output of a process. Not the SDK's StdioClientTransport: its messages must be strictly valid, it
 * starts no process group, hides the exit code, and always adds variables of this process. On Windows, only the process itself is
 * ended.
 */
export class ProcessTransport implements Transport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onerror?: (error: Error) => void;
	readonly #config: ServerConfig;
	readonly #lines = new LineReader();
	readonly #budget = new ReadBudget();
	/** Whether what the process still writes is dropped. */
	#isClosing = false;
	#child: ChildProcess | undefined;
	#exited: Promise<void> = Promise.resolve();
	readonly #stderr: ReturnType<typeof readStderr>;
	#exit = "";

	/** @param onStderr called with each line of standard error, within limits */
	constructor(config: ServerConfig, onStderr: (line: string) => void) {
		this.#config = config;
		this.#stderr = readStderr(onStderr);
	}

	/** How the process ended, and the last line that it wrote to standard error. */
	get exitReason(): string {
		const last = this.#stderr.last();
		return `${this.#exit || "the process ended"}${last && `: ${last}`}`;
	}

	async start(): Promise<void> {
		const { env, cwd, isolation } = this.#config;
		const { command, args } = isolated(this.#config);
		const isPosix = process.platform !== "win32";
		const inherited = isolation.environment === "given" ? {} : getDefaultEnvironment();
		const options: SpawnOptions = {
			env: { ...inherited, ...env },
			...(cwd !== undefined && { cwd }),
			stdio: isPosix ? ["pipe", "pipe", "pipe", "pipe"] : ["pipe", "pipe", "pipe"],
			detached: isPosix,
			windowsHide: true,
		};
		const child = isPosix
			? spawn("/bin/sh", ["-c", GUARDED, "sh", command, ...args], options)
			: spawn(command, args, options);
		this.#child = child;
		this.#read(child);
		this.#exited = new Promise((resolve) => {
			child.once("exit", (code, signal) => {
				killGroup(child);
				// Its last words may still be in the pipe, which a process that it has left may keep open.
				const read = once(child, "close");
				void Promise.race([read, once(AbortSignal.timeout(LAST_WORDS_TIME), "abort")]).then(() => {
					this.#ended(code, signal);
					resolve();
				});
			});
			child.once("error", () => resolve());
		});
		child.on("error", ({ message }) => {
			const isLost = cwd !== undefined && !existsSync(cwd);
			this.#exit = `cannot start ${command}: ${isLost ? `the working folder ${cwd} does not exist` : message}`;
		});
		await once(child, "spawn").catch(() => {
			throw new Error(this.#exit);
		});
	}

	async send(message: JSONRPCMessage): Promise<void> {
		const { stdin } = this.#child ?? {};
		if (!stdin?.writable) {
			throw new Error(this.exitReason);
		}
		stdin.write(serializeMessage(message));
		if (stdin.writableLength > MAX_UNSENT_BYTES) {
			this.#exit = "the process does not read its input";
			killGroup(this.#child);
		}
	}

	/** Closes standard input, and ends what still runs after a second. Settles when the process has ended. */
	async close(): Promise<void> {
		const child = this.#child;
		if (child === undefined) {
			return;
		}
		this.#isClosing = true;
		child.stdin?.end();
		const timer = setTimeout(() => killGroup(child), EXIT_TIME);
		await this.#exited;
		clearTimeout(timer);
	}

	#read({ stdin, stdout, stderr, stdio }: ChildProcess): void {
		const ignore = (): void => {};
		// A write to a process that has ended fails: its exit says more.
		stdin?.on("error", ignore);
		// Nothing is written to it: the guard waits for its end.
		(stdio[3] as Socket | undefined)?.on("error", ignore).resume();
		stdout?.on("error", ignore);
		stdout?.on("data", (chunk: Buffer) => {
			this.#receive(chunk);
			this.#budget.throttle(stdout, chunk.length);
		});
		stderr?.on("error", ignore);
		stderr?.on("data", (chunk: Buffer) => {
			this.#stderr.receive(chunk);
			this.#budget.throttle(stderr, chunk.length);
		});
	}

	#receive(chunk: Buffer): void {
		try {
			for (const line of this.#lines.linesOf(chunk)) {
				if (this.#isClosing) {
					return;
				}
				try {
					this.onmessage?.(parseMessage(line));
				} catch (error) {
					this.onerror?.(error as Error);
				}
			}
		} catch (error) {
			this.#exit = (error as Error).message;
			this.onerror?.(error as Error);
			killGroup(this.#child);
		}
	}

	#ended(code: number | null, signal: NodeJS.Signals | null): void {
		const { command } = isolated(this.#config);
		const notRun = NOT_RUN.includes(code ?? 0) ? ` (${command} cannot be run)` : "";
		const { memory } = this.#config.isolation;
		const isAborted = signal !== null || (code ?? 0) > MAX_OWN_CODE;
		const limited = memory !== undefined && isAborted ? ` (its memory is limited to ${memory} MB)` : "";
		this.#exit ||=
			signal === null
				? `the process ended with code ${code}${notRun}${limited}`
				: `the process was ended by ${signal}${limited}`;
		this.#child = undefined;
		this.#stderr.end();
		this.onclose?.();
	}
}

/** Most lines forwarded per second and per piece. Others are dropped. */
const MAX_LINES = 20;

const MAX_LINE = 1_000;

/** Reads what a process writes to standard error: passes lines on, within limits, and keeps the last one. */
function readStderr(onLine: (line: string) => void) {
	const rate = new RateLimit(MAX_LINES);
	/** Text after the last line feed. */
	let rest = "";
	let last = "";
	/** Whether lines were dropped since the last one that was passed on. */
	let isDropping = false;
	const passOn = (lines: readonly string[]): void => {
		for (const line of lines.map((each) => each.trim()).filter((each) => each !== "")) {
			if (rate.take()) {
				isDropping = false;
				onLine(line.slice(0, MAX_LINE));
			} else if (!isDropping) {
				isDropping = true;
				onLine(`(more than ${MAX_LINES} lines in a second: the others are dropped)`);
			}
		}
	};
	return {
		/** The last line that is not empty; of a long one its end. */
		last: () => last,
		receive(chunk: Buffer): void {
			const text = rest + chunk.toString();
			const end = text.lastIndexOf("\n") + 1;
			rest = text.slice(end).slice(-MAX_LINE);
			last = text.slice(-MAX_LINE).trim().split("\n").at(-1)?.trim() || last;
			// Not all of them: a piece may have thousands.
			passOn(text.slice(0, end).split("\n", MAX_LINES + 1));
		},
		/** Passes on a last line without a line feed: the process has ended. */
		end(): void {
			passOn([rest]);
			rest = "";
		},
	};
}

const MB = 1024 * 1024;

/** Paths that programs need to start: no settings, passwords or user files. */
const SYSTEM_FILES = [
	...["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store"],
	...["/etc/alternatives", "/etc/ld.so.cache", "/etc/ssl/certs", "/etc/localtime"],
];

const CONFINED = "--cap-drop ALL --unshare-all --die-with-parent".split(" ");

/**
 * Wraps a configured server's command in bubblewrap and prlimit. If one is not installed, the server cannot be started,
 * and the error names it.
 *
 * @internal exported for its test
 */
export function isolated({ command, args, cwd, isolation }: ServerConfig) {
	let words = [command, ...args];
	if (isolation.sandbox === "bubblewrap") {
		const folder = resolve(cwd ?? ".");
		const readable = [...SYSTEM_FILES, ...(isolation.readable ?? []).map((path) => resolve(path))];
		const files = [
			...readable.flatMap((path) => ["--ro-bind-try", path, path]),
			...["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind", folder, folder],
		];
		words = ["bwrap", ...files, ...CONFINED, "--chdir", folder, "--", ...words];
	}
	const limits = [
		// Not the address space: Node.js reserves gigabytes of it, and uses a small part.
		...(isolation.memory === undefined ? [] : [`--data=${isolation.memory * MB}`]),
		...(isolation.cpuTime === undefined ? [] : [`--cpu=${isolation.cpuTime}`]),
	];
	if (limits.length > 0) {
		words = ["prlimit", ...limits, "--", ...words];
	}
	return { command: words[0] as string, args: words.slice(1) };
}

/** MCP over a WebSocket that the gateway opens: one message in each text frame, subprotocol "mcp". The SDK has none with headers. */
export function makeWebSocketTransport(url: string, headers: Readonly<Record<string, string>>): Transport {
	const budget = new ReadBudget();
	let socket: WebSocket | undefined;
	const transport: Transport = {
		async start() {
			// Loaded on demand: most servers use another transport.
			const { WebSocket } = await import("ws");
			const opened = new WebSocket(url, "mcp", { headers, maxPayload: MAX_MESSAGE_BYTES });
			socket = opened;
			opened.on("message", (data) => {
				const text = data.toString();
				try {
					transport.onmessage?.(parseMessage(text));
				} catch (error) {
					transport.onerror?.(error as Error);
				}
				budget.throttle(opened, text.length);
			});
			opened.on("close", () => transport.onclose?.());
			opened.on("error", (error) => transport.onerror?.(error));
			await once(opened, "open");
		},
		async send(message) {
			if (socket === undefined || socket.readyState !== socket.OPEN) {
				throw new Error("the WebSocket is closed");
			}
			socket.send(JSON.stringify(message));
			if (socket.bufferedAmount > MAX_UNSENT_BYTES) {
				socket.terminate();
			}
		},
		async close() {
			socket?.terminate();
		},
	};
	return transport;
}
