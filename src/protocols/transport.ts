import type { Channel, ChannelEvents } from "./channel.js";

/** A way to reach a backend: what a {@link Protocol} needs to know of it. */
export interface Transport {
	/** What the hello calls it: "websocket", or "udp" on MQTT. */
	readonly name: string;
	/** The hello's version: on WebSocket that of the audio's framing, on MQTT 3. */
	readonly version: number;
	/** Whether a session ends with a goodbye, which the connection outlives, or simply with its connection. */
	readonly saysGoodbye: boolean;
	/** Milliseconds without any traffic from the backend after which it is given up; 0 for never. */
	readonly silenceTimeout: number;
	/** Bytes that a message from the backend may have. */
	readonly maxMessageBytes: number;
	/** Bytes that a message to the backend may have, unless its hello says otherwise. */
	readonly maxSentBytes: number;
	/** Opens a channel. May throw, which counts as a failed attempt. */
	open(events: ChannelEvents): Channel;
}
