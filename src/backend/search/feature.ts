import type { Channel, ChannelEvents, Transport } from "../../protocols/transport.js";
import { deepFreeze } from "../../text/deep-freeze.js";
import { BackendSearch, type BackendSearchOptions } from "./backend-search.js";

/** The transport of a backend that a bootstrap serves: delegates to another one, which may change between channels. */
export class ServedTransport implements Transport {
	readonly maxMessageBytes: number;
	private current: Transport | undefined;

	/** @param maxMessageBytes the limit for every backend of this device */
	constructor(maxMessageBytes: number) {
		this.maxMessageBytes = maxMessageBytes;
	}

	get name(): string {
		return this.current?.name ?? "";
	}

	get version(): number {
		return this.current?.version ?? 0;
	}

	get saysGoodbye(): boolean {
		return this.current?.saysGoodbye ?? false;
	}

	get silenceTimeout(): number {
		return this.current?.silenceTimeout ?? 0;
	}

	get maxSentBytes(): number {
		return this.current?.maxSentBytes ?? this.maxMessageBytes;
	}

	get carriesAudio(): boolean {
		return this.current?.carriesAudio ?? false;
	}

	/** Channels that are opened from now on go to this backend. */
	use(transport: Transport): void {
		this.current = transport;
	}

	/** @throws Error while no backend was served */
	open(events: ChannelEvents): Channel {
		if (this.current === undefined) {
			throw new Error("no backend yet");
		}
		return this.current.open(events);
	}
}

/** For what finds the backend, `bootstrap` and `discovery`; and for a device that serves clients without one. */
export default deepFreeze({
	begin: (options: BackendSearchOptions): BackendSearch => new BackendSearch(options),
	/** The transport of a backend that becomes known later. */
	transport: (maxMessageBytes: number): ServedTransport => new ServedTransport(maxMessageBytes),
});
