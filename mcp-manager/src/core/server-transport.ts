import type { EventEmitter } from "node:events";
import type {
	JSONRPCMessage,
	ServerCapabilities,
	Transport,
	VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import type { Offers } from "./offers.js";

/** The server at the other end of a connection. */
export interface ServerIdentity {
	/** A device's `Device-Id` header (its MAC address), or its MQTT client id. */
	readonly id: string;
	/** A device's `Client-Id` header (a UUID), or its MQTT client id. */
	readonly clientId: string;
	/** "websocket" or "mqtt"; of a configured server also "stdio", "http" or "sse". */
	readonly transport: string;
	/** Whether the gateway opened the connection to a configured server. Such a server is not a device. */
	readonly configured?: boolean;
	/** Where a device reaches the gateway over HTTP, without a path, as its WebSocket's request says. Absent if unknown. */
	readonly gatewayUrl?: string;
	/** A page that shows it, on this computer. */
	readonly pageUrl?: string;
	/** Of a cluster: the other gateway that has the device's connection. Absent: this one has it. */
	readonly gateway?: string;
}

/**
 * A connection to a server: a transport of the official SDK, with the identity of the server. An error response whose
 * `data` is a {@link ServerError} fails the request with that error: the transport's own word, which no server can send.
 */
export interface ServerTransport extends Transport {
	readonly identity: ServerIdentity;
	/** The revisions to try. Default: those with `initialize`, which every device supports. */
	readonly negotiation?: VersionNegotiationMode;
	/**
	 * Set, and `sessionId` with it, if another gateway has met the server: what it has said in the handshake, and its lists, which
	 * may change with a notification.
	 */
	readonly known?: KnownServer;
	/** Why the connection ended; empty while it is open. */
	readonly closeReason: string;
	/** Is called with each message of MCP before it is sent. */
	onsend?: (message: JSONRPCMessage) => void;
	/** Ends the connection. */
	close(reason?: string): Promise<void>;
	/** Sends a message besides MCP, if the transport has such messages: `{type: "tts", state: "start"}`. */
	sendMessage?(message: { readonly type: string; readonly [member: string]: unknown }): void;
	/** Undefined if the server is no device that plays and records packets of Opus. */
	readonly audio?: AudioChannel | undefined;
}

export interface AudioEvents {
	/** The device's messages about its audio: `listen` and `abort`. */
	message: [message: { readonly type: string; readonly state?: unknown; readonly reason?: unknown }];
	/**
	 * A packet of Opus that the device has recorded; an empty one stands for one that was lost. An Error that a listener throws
	 * counts the packet as dropped.
	 */
	packet: [packet: Uint8Array];
}

/** The way to the speaker and from the microphone of a device of the xiaozhi family. */
export interface AudioChannel extends EventEmitter<AudioEvents> {
	/** Whether packets reach the device. Over UDP they do once it has sent one. */
	readonly isOpen: boolean;
	/** Whether packets may overtake messages, as they do over UDP. */
	readonly mayOvertake: boolean;
	/** Sends a packet of Opus, between `tts` `start` and `stop`. */
	send(packet: Uint8Array): void;
	/** Whether the device listens, as it says. */
	readonly isListening: boolean;
	/** Whether a `listen` message starts and stops the device's microphone, as with firmware of this project. */
	readonly listensOnRequest: boolean;
	/** Recorded packets that were dropped: too many, wrongly framed, or not to be decoded. */
	readonly dropped: number;
}

/** A server's `serverInfo` in its answer to `initialize`. */
export interface ServerInfo {
	readonly name: string;
	/** A device's firmware version. */
	readonly version: string;
}

/** A server that need not be asked who it is. */
export interface KnownServer {
	readonly info: ServerInfo;
	readonly capabilities: ServerCapabilities;
	/** The revision of MCP that was agreed on: one with `initialize`. */
	readonly revision: string;
	readonly offers: Offers;
	/** The last state that it has reported. */
	readonly state?: string | undefined;
}
