import type { Runtime } from "../hardware/hardware.js";
import { Protocol, type ProtocolEvents } from "../protocols/protocol.js";
import type { Transport } from "../protocols/transport.js";
import type { BackendSource, Search, SearchEvents, ServedBackend } from "./backend.js";

/** Milliseconds for all attempts. Short, because the user waits. */
const TIME = 20_000;

/** Attempts to start a session. The first may fail because the clock, which TLS needs, is not set yet. */
const ATTEMPTS = 3;
const BACKOFF = Object.freeze({ minimum: 1_000, maximum: 2_000 });

/**
 * Checks whether a backend can be reached, by starting a session. A server that asks the user to bind the device
 * counts as reached.
 *
 * @param backend the backend's transport, or a source that finds it
 * @returns the reason if the backend could not be reached
 */
export const tryBackend = (
	{ timer, log }: Runtime,
	backend: Transport | BackendSource,
	connectTo: (served: ServedBackend) => Transport,
): Promise<string | undefined> =>
	new Promise((resolve) => {
		let search: Search | undefined;
		let protocol: Protocol | undefined;
		let failures = 0;
		let problem = `no answer within ${TIME / 1000} s`;
		const end = (reason?: string): void => {
			timer.clear(clock);
			search?.stop();
			protocol?.close();
			resolve(reason);
		};
		const greet = (transport: Transport): void => {
			protocol?.close();
			protocol = new Protocol(transport, { events, timer, log, backoff: BACKOFF });
			protocol.open();
		};
		const events: ProtocolEvents & SearchEvents = {
			onSession: () => end(),
			onLost({ message }) {
				problem = message;
				failures += 1;
				if (failures === ATTEMPTS) {
					end(message);
				}
			},
			onBackend: (served) => greet(connectTo(served)),
			onActivation: () => end(),
			onFailed({ message }) {
				problem = message;
			},
			onMissing: end,
		};
		const clock = timer.set(() => end(problem), TIME);
		if ("label" in backend) {
			search = backend.open(events);
			search.start();
		} else {
			greet(backend);
		}
	});
