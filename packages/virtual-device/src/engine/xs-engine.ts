import { type ChildProcess, spawn } from "node:child_process";
import { type Command, Engine, EngineError, type EngineOptions, type Port, type PortEvents } from "./engine.js";
import { decodeReply, encodeCommand, NetstringReader, toExit } from "./xs-protocol.js";

/** Longer than Node's time-out, so that this ends only a machine whose parent has ended. */
const ALARM_MARGIN_S = 5;

/**
 * Starts an XS machine in a child process.
 *
 * Rejects with an `EngineError`: `start-failed` where the binary cannot be run, or the code of the machine's exit where
 * it ended at once, such as `out-of-memory` where the limits leave no room for the built-ins.
 */
export async function startXsEngine(hostPath: string, options: EngineOptions = {}): Promise<Engine> {
	const timeoutMs = options.timeoutMs ?? 10_000;
	try {
		return await Engine.start((events) => openProcess(hostPath, options, timeoutMs, events), timeoutMs, nameOf);
	} catch (cause) {
		if (!(cause instanceof EngineError) || cause.code !== "crashed") {
			throw cause;
		}
		throw new EngineError("start-failed", `Cannot start the XS engine: ${cause.message}`, { cause });
	}
}

function nameOf([major, minor, bits]: readonly unknown[]): string {
	return `XS ${major}.${minor} (${bits}-bit)`;
}

function toArguments({ limits, seed }: EngineOptions, timeoutMs: number): string[] {
	const seconds = Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs / 1000) + ALARM_MARGIN_S : undefined;
	const flags: [string, number | undefined][] = [
		["--slots", limits?.slots],
		["--chunk-bytes", limits?.chunkBytes],
		["--stack-slots", limits?.stackSlots],
		["--seed", seed],
		["--seconds", seconds],
	];
	return flags.flatMap(([flag, value]) => (value === undefined ? [] : [flag, String(value)]));
}

function openProcess(hostPath: string, options: EngineOptions, timeoutMs: number, events: PortEvents): Port {
	const { onTrace } = options;
	const child = spawn(hostPath, toArguments(options, timeoutMs), {
		stdio: ["pipe", "pipe", onTrace ? "pipe" : "ignore"],
		env: {},
	});
	if (onTrace) {
		child.stderr?.setEncoding("utf8").on("data", onTrace);
	}
	// Writing to a machine that has just ended fails; its exit says why.
	child.stdin?.on("error", () => {});
	listen(child, events);
	return {
		send: (command: Command) => void child.stdin?.write(encodeCommand(command)),
		kill: () => void child.kill("SIGKILL"),
	};
}

function listen(child: ChildProcess, events: PortEvents): void {
	const reader = new NetstringReader();
	let lastWords: string | undefined;
	let failure: Error | undefined;
	const receive = (chunk: Buffer): void => {
		for (const body of reader.push(chunk)) {
			const reply = decodeReply(body);
			if ("ended" in reply) {
				lastWords = reply.ended;
			} else {
				events.reply(reply.packets);
			}
		}
	};
	child.stdout?.on("data", (chunk: Buffer) => {
		if (failure) {
			return;
		}
		try {
			receive(chunk);
		} catch (error) {
			failure = error instanceof Error ? error : new Error(String(error));
			child.kill("SIGKILL");
		}
	});
	child.on("error", (error) => {
		failure = error;
	});
	// "close" rather than "exit": by then everything that the machine wrote has been read.
	child.on("close", (status, signal) => {
		events.ended(failure ? { code: "crashed", detail: failure.message } : toExit(status, signal, lastWords));
	});
}
