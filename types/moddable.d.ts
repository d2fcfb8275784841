// The modules of Moddable's SDK that the firmware imports, as far as it uses them, so that it can be checked without
// the SDK. mcconfig takes the SDK's own typings instead.

/** A TCP socket (ECMA-419 §12). */
declare module "embedded:io/socket/tcp" {
	const TCP: new (options: object) => object;
	export default TCP;
}

/** ECMA-419's WebSocket client. */
declare module "embedded:network/websocket/client" {
	import type { WebSocketRecord } from "../src/protocols/websocket-channel.js";

	const WebSocketClient: WebSocketRecord["io"];
	export default WebSocketClient;
}

/** ECMA-419's MQTT client. */
declare module "embedded:network/mqtt/client" {
	import type { MqttRecord } from "../src/protocols/mqtt-channel.js";

	const MQTTClient: MqttRecord["io"];
	export default MQTTClient;
}

/** The network connection. */
declare module "net" {
	const Net: {
		get(what: "IP" | "MAC" | "SSID"): string | undefined;
		get(what: "RSSI"): number | undefined;
		/** The address is undefined where there is none to be had. */
		resolve(host: string, callback: (host: string, address?: string) => void): void;
	};
	export default Net;
}

/** The engine itself. */
declare module "debug" {
	const Debug: {
		/** Collects garbage now. */
		gc(): void;
	};
	export default Debug;
}

/** The firmware, which starts as it is imported. */
declare module "main" {}

/** The chip, on devices. */
declare const System: {
	restart(): void;
};
