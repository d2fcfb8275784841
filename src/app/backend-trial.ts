import type { ServedBackend } from "../backend/bootstrap/bootstrap-answer.js";
import type { TimerHandle } from "../hardware/timer.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import type { ProtocolError, Transport } from "../protocols/transport.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { Application } from "./application.js";
import type { FoundSource, Search, SearchEvents } from "./backend.js";

/** Milliseconds for all attempts. Short, because the user waits. */
const TIME = 20_000;

/** Attempts to start a session. The first may come before the clock is set, which TLS needs. */
const ATTEMPTS = 3;
const BACKOFF = deepFreeze({ minimum: 1_000, maximum: 2_000 });

/**
 * Checks whether a backend can be reached: done with the first session. A server that asks the user to bind the device
 * counts as reached.
 */
export class BackendTrial implements ProtocolEvents, SearchEvents {
	readonly receiver = undefined;
	private readonly app: Application;
	private readonly onEnd: (problem: string | undefined) => void;
	private readonly connectTo: (served: ServedBackend) => Transport;
	private search: Search | undefined;
	private protocol: Protocol | undefined;
	private timer: TimerHandle | undefined;
	private failures = 0;
	private problem = `no answer within ${TIME / 1000} s`;

	constructor(app: Application, onEnd: (problem: string | undefined) => void, connectTo: BackendTrial["connectTo"]) {
		this.app = app;
		this.onEnd = onEnd;
		this.connectTo = connectTo;
	}

	/** Tries the transport, or else the source. Without both the device serves clients itself: it succeeds. */
	start(transport: Transport | undefined, source: FoundSource | undefined): void {
		const isNeeded = transport !== undefined || source !== undefined;
		this.timer = this.app.timer.set(() => this.end(isNeeded ? this.problem : undefined), isNeeded ? TIME : 0);
		if (transport !== undefined) {
			this.greet(transport);
		} else {
			this.search = source?.open(this);
			this.search?.start();
		}
	}

	close(): void {
		this.app.timer.clear(this.timer);
		this.timer = undefined;
		this.search?.stop();
		this.protocol?.close();
	}

	private end(problem: string | undefined): void {
		this.close();
		this.onEnd(problem);
	}

	private greet(transport: Transport): void {
		const { timer, log } = this.app;
		this.protocol?.close();
		this.protocol = new Protocol(transport, { events: this, timer, log, backoff: BACKOFF });
		this.protocol.open();
	}

	onConnecting(): void {}

	onOpen(): void {}

	onSession(): void {
		this.end(undefined);
	}

	onMessage(): void {}

	onLost({ message }: ProtocolError): void {
		this.problem = message;
		this.failures += 1;
		if (this.failures === ATTEMPTS) {
			this.end(message);
		}
	}

	onBackend(served: ServedBackend): void {
		this.greet(this.connectTo(served));
	}

	onActivation(): void {
		this.end(undefined);
	}

	onActivated(): void {}

	async onFirmware(): Promise<void> {}

	onFailed({ message }: Error): void {
		this.problem = message;
	}

	onMissing(message: string): void {
		this.end(message);
	}
}
