import type { ServedBackend } from "../backend/bootstrap/bootstrap-answer.js";
import type { TimerHandle } from "../hardware/timer.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import type { ProtocolError, Transport } from "../protocols/transport.js";
import { deepFreeze } from "../text/deep-freeze.js";
import type { Application } from "./application.js";
import type { BackendSource, Search, SearchEvents } from "./backend.js";

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
	private readonly app: Application;
	private readonly connectTo: (served: ServedBackend) => Transport;
	private readonly onEnd: (problem: string | undefined) => void;
	private search: Search | undefined;
	private protocol: Protocol | undefined;
	private timer: TimerHandle | undefined;
	private failures = 0;
	private problem = `no answer within ${TIME / 1000} s`;

	/** @param backend its transport or its source. Without both the device serves clients itself: the trial succeeds */
	constructor(
		app: Application,
		backend: Transport | BackendSource | undefined,
		connectTo: BackendTrial["connectTo"],
		onEnd: BackendTrial["onEnd"],
	) {
		this.app = app;
		this.connectTo = connectTo;
		this.onEnd = onEnd;
		const isNeeded = backend !== undefined;
		this.timer = app.timer.set(() => this.end(isNeeded ? this.problem : undefined), isNeeded ? TIME : 0);
		if (isNeeded && "shown" in backend) {
			this.search = backend.open(this);
			this.search.start();
		} else if (isNeeded) {
			this.greet(backend);
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

	onSession(): void {
		this.end(undefined);
	}

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

	onFailed({ message }: Error): void {
		this.problem = message;
	}

	onMissing(message: string): void {
		this.end(message);
	}
}
