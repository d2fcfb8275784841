import type { Channel, ChannelEvents } from "./channel.js";

/** A way to reach a backend: what a {@link Protocol} needs to know of it. */
export interface Transport {
	/** What the hello calls it: "websocket", "mqtt" or "udp". */
	readonly name: string;
	/** The hello's version: 1 on WebSocket, 3 on MQTT. */
	readonly version: number;
	/** Whether a session ends with a goodbye, or simply with its connection. */
	readonly saysGoodbye: boolean;
	/** Milliseconds without any traffic from the backend after which it is given up; 0 for never. */
	readonly silenceTimeout: number;
	/** Bytes that a message from the backend may have. */
	readonly maxMessageBytes: number;
	/** Opens a channel. May throw, which counts as a failed attempt. */
	open(events: ChannelEvents): Channel;
}
