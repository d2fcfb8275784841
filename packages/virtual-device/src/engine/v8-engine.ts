import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { ROOT } from "../../../root.js";
import { Engine, type EngineExit, type EngineOptions, type Packet, type Port, type PortEvents } from "./engine.js";

/** Message of v8-worker.mjs. */
type WorkerMessage = { readonly packets: Packet[] } | { readonly trace: string } | { readonly ended: EngineExit };

/** Heap limit of a machine, equal to that of an XS machine without limits. */
const MAX_HEAP_MB = 256;

/**
 * Starts a machine on Node's V8, in a worker thread: for quick tests, and for computers without a C compiler.
 *
 * It differs from a device as V8 does: memory, speed, newer built-ins, and strings of UTF-16 units where XS counts code
 * points. Stack overflow is an exception that the script could catch. Rejects with an `EngineError` of the exit's code
 * where the thread cannot start.
 */
export async function startV8Engine(options: EngineOptions = {}): Promise<Engine> {
	const nameOf = ([version]: readonly unknown[]): string => `V8 ${String(version).split(".").slice(0, 2).join(".")}`;
	return await Engine.start((events) => openThread(options, events), options.timeoutMs ?? 10_000, nameOf);
}

function openThread({ onTrace, seed }: EngineOptions, events: PortEvents): Port {
	const worker = new Worker(join(ROOT, "packages/virtual-device/src/engine/v8-worker.mjs"), {
		execArgv: [],
		env: {},
		workerData: { seed },
		resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
	});
	let exit: EngineExit = { code: "crashed", detail: "the thread ended" };
	const terminate = () => {
		// Resolves when the thread has ended, which "exit" reports, too.
		worker.terminate().catch(() => {});
	};
	worker.on("message", (message: WorkerMessage) => {
		if ("packets" in message) {
			events.reply(message.packets);
		} else if ("trace" in message) {
			onTrace?.(message.trace);
		} else {
			exit = message.ended;
			terminate();
		}
	});
	worker.on("error", (error: NodeJS.ErrnoException) => {
		const code = error.code === "ERR_WORKER_OUT_OF_MEMORY" ? "out-of-memory" : "crashed";
		exit = { code, detail: error.message };
	});
	worker.on("exit", () => events.ended(exit));
	return {
		send: (command) => {
			if (command.kind === "deliver") {
				worker.postMessage({ kind: "deliver", packets: command.packets.map(tighten) });
			} else if (command.kind !== "hello") {
				worker.postMessage(command);
			}
		},
		kill: terminate,
	};
}

/** Sending a view of a large buffer would copy all of that buffer. */
function tighten(packet: Packet): Packet {
	return packet.bytes ? { header: packet.header, bytes: new Uint8Array(packet.bytes) } : packet;
}
