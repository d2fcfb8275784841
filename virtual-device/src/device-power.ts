import { DeviceRun } from "./device-run.js";
import type { EngineExit } from "./engine/engine.js";
import type { Environment } from "./environment.js";
import type { Service } from "./services/service.js";
import type { VirtualDeviceOptions } from "./virtual-device.js";

/**
 * Returns the device's state when the firmware starts.
 *
 * @param isOnTrial whether it was installed by an update and is not confirmed
 * @param resetReason why it starts, as a chip reports it
 */
type HostConfig = (isOnTrial: boolean, resetReason: string) => object;

/** Milliseconds until a watchdog restarts a device. */
const WATCHDOG_DELAY = 1_000;

/** Milliseconds for which a backend sees the connections of a device that lost its power. */
const ABANDONED_TIME = 60_000;

/** Starts, restarts and stops a device's machine. */
export class DevicePower {
	readonly #environment: Environment;
	readonly #options: Pick<VirtualDeviceOptions, "startEngine" | "watchdog">;
	readonly #hostConfig: HostConfig;
	/** Connections left after a power loss. */
	readonly #abandoned = new Set<Service>();
	#run: DeviceRun | undefined;
	#restartTimer: NodeJS.Timeout | undefined;
	#resetReason = "power-on";
	#stopped = false;
	#line = "";

	constructor(environment: Environment, options: VirtualDeviceOptions, hostConfig: HostConfig) {
		this.#environment = environment;
		this.#options = options;
		this.#hostConfig = hostConfig;
	}

	/** The current run; undefined without one. */
	get run(): DeviceRun | undefined {
		return this.#run;
	}

	/** Boots the firmware. Rejects if it fails to start. */
	async start(): Promise<void> {
		const engine = await this.#options.startEngine((text) => this.#trace(text));
		if (this.#stopped) {
			engine.close();
			return;
		}
		const { script, isOnTrial } = this.#environment.flash.boot();
		const run = new DeviceRun(engine, this.#environment, (delay) => this.restartIn(delay));
		this.#run = run;
		void engine.exited.then((exit) => this.#ended(run, exit));
		await run.boot(this.#hostConfig(isOnTrial, this.#resetReason), script);
	}

	/** @param delay milliseconds */
	restartIn(delay: number, resetReason = "software"): void {
		clearTimeout(this.#restartTimer);
		this.#resetReason = resetReason;
		if (!this.#stopped) {
			this.#restartTimer = setTimeout(() => void this.#restart(), delay);
		}
	}

	/** Loses power for a moment: connections stay open at the other end, but are not read. */
	brownOut(): void {
		const clients = this.#run?.abandonClients() ?? [];
		for (const client of clients) {
			this.#abandoned.add(client);
		}
		setTimeout(() => this.#closeAbandoned(clients), ABANDONED_TIME).unref();
		this.restartIn(0, "brownout");
	}

	/** Switches the device off for good. */
	stop(): void {
		this.#stopped = true;
		clearTimeout(this.#restartTimer);
		this.#halt();
		this.#closeAbandoned([...this.#abandoned]);
	}

	#closeAbandoned(clients: readonly Service[]): void {
		for (const client of clients) {
			client.close();
			this.#abandoned.delete(client);
		}
	}

	/** The log arrives in pieces, and is emitted in lines. */
	#trace(text: string): void {
		const lines = (this.#line + text).split("\n");
		this.#line = lines.pop() ?? "";
		for (const line of lines) {
			this.#environment.events.emit("trace", line);
		}
	}

	#ended(run: DeviceRun, exit: EngineExit): void {
		if (this.#run !== run) {
			return;
		}
		this.#halt();
		this.#environment.events.emit("exit", exit);
		if (this.#options.watchdog) {
			this.restartIn(WATCHDOG_DELAY, "panic");
		}
	}

	async #restart(): Promise<void> {
		this.#halt();
		try {
			await this.start();
			this.#environment.events.emit("restarted");
		} catch {
			// An engine that ends while it boots is reported by #ended.
		}
	}

	#halt(): void {
		this.#run?.close();
		this.#run = undefined;
		this.#environment.events.emit("halted");
	}
}
