import type { ServedBackend } from "../backend/bootstrap/served-backend.js";
import type { BackendSource } from "../backend/search/backend-search.js";
import type { Runtime, TimerHandle } from "../hardware/timer.js";
import { Protocol } from "../protocols/protocol.js";
import type { ProtocolEvents } from "../protocols/protocol-options.js";
import type { Transport } from "../protocols/transport.js";
import { deepFreeze } from "../text/deep-freeze.js";

/** The way to the backend of some settings. */
export interface BackendRoute {
	/** How the backend is reached; absent if a source names it, or without a backend. */
	readonly transport?: Transport;
	/** Source of the backend's address. */
	readonly source?: Pick<BackendSource, "open"> | undefined;
	/** The transport to a backend that the source names. @throws SettingError */
	readonly connect: (served: ServedBackend) => Transport;
}

interface BackendTrialOptions extends BackendRoute, Runtime {
	/** Called once, with the reason if the backend could not be reached. Not after `close`. */
	readonly onEnd: (problem: string | undefined) => void;
}

/** Milliseconds for all attempts. Short, because the user waits. */
const TIME = 20_000;

/** Attempts to start a session. The first may come before the clock is set, which TLS needs. */
const ATTEMPTS = 3;
const BACKOFF = deepFreeze({ minimum: 1_000, maximum: 2_000 });

/**
 * Checks whether a backend can be reached: done with the first session. A server that asks the user to bind the device
 * counts as reached.
 */
export class BackendTrial {
	private readonly options: BackendTrialOptions;
	private source: ReturnType<BackendSource["open"]> | undefined;
	private protocol: Protocol | undefined;
	private timer: TimerHandle | undefined;
	private failures = 0;
	private problem = `no answer within ${TIME / 1000} s`;

	constructor(options: BackendTrialOptions) {
		const { transport, source, timer } = options;
		this.options = options;
		// Without a backend the device serves clients itself: there is nothing to try.
		const isNeeded = transport !== undefined || source !== undefined;
		this.timer = timer.set(() => this.end(isNeeded ? this.problem : undefined), isNeeded ? TIME : 0);
		if (transport !== undefined) {
			this.greet(transport);
		} else if (source !== undefined) {
			this.ask(source);
		}
	}

	close(): void {
		this.options.timer.clear(this.timer);
		this.timer = undefined;
		this.source?.stop();
		this.protocol?.close();
	}

	private end(problem: string | undefined): void {
		this.close();
		this.options.onEnd(problem);
	}

	private ask(source: Pick<BackendSource, "open">): void {
		const note = (message: string): void => {
			this.problem = message;
		};
		this.source = source.open({
			onBackend: (served) => this.greet(this.options.connect(served)),
			onActivation: () => this.end(undefined),
			onActivated() {},
			async onFirmware() {},
			onFailed: ({ message }) => note(message),
			onMissing: (message) => this.end(message),
		});
		this.source.start();
	}

	private greet(transport: Transport): void {
		this.protocol?.close();
		const { timer, log } = this.options;
		const events: ProtocolEvents = {
			onConnecting() {},
			onOpen() {},
			onSession: () => this.end(undefined),
			mcp: {},
			onMessage() {},
			onLost: ({ message }) => {
				this.problem = message;
				this.failures += 1;
				if (this.failures === ATTEMPTS) {
					this.end(message);
				}
			},
		};
		this.protocol = new Protocol(transport, { events, timer, log, backoff: BACKOFF });
		this.protocol.open();
	}
}
