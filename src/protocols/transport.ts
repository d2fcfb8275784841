import type { Channel, ChannelEvents } from "./channel.js";

/** A way to reach a backend: what a {@link Protocol} needs to know of it. */
export interface Transport {
	/** Its name in the hello: "websocket", or "udp" on MQTT. */
	readonly name: string;
	/** The hello's version: the audio framing's on WebSocket, 3 on MQTT. */
	readonly version: number;
	/** Whether a session ends with a goodbye, which the connection outlives, or with its connection. */
	readonly saysGoodbye: boolean;
	/** Milliseconds without traffic from the backend after which the session ends; 0 for never. */
	readonly silenceTimeout: number;
	/** The longest message from the backend, in bytes. */
	readonly maxMessageBytes: number;
	/** The longest message to the backend in bytes, unless its hello says otherwise. */
	readonly maxSentBytes: number;
	/** Opens a channel. An exception counts as a failed attempt. */
	open(events: ChannelEvents): Channel;
}
