/// <reference path="../types/tls-socket.d.ts" />
import Resource from "Resource";
import TCP from "embedded:io/socket/tcp";
import TLSSocket from "embedded:io/socket/tcp/tls";
import HTTPClient from "embedded:network/http/client";
import MQTTClient from "embedded:network/mqtt/client";
import type { HttpClients } from "../net/http-client.js";
import type { NetworkClients } from "../protocols/network-clients.js";
import { FramedWebSocketClient } from "../protocols/websocket-client.js";
import { readSetting } from "../settings/read-setting.js";
import { SettingError } from "../settings/setting-error.js";
import { GuardedTCP } from "./guarded-tcp.js";
import { SystemResolver } from "./system-resolver.js";

/**
 * The network clients, the SDK's but for WebSocket, as ECMA-419's records: they look names up with the system's resolver, and connect over TCP
 * or, for wss, mqtts and https, over TLS, which verifies the server's certificate and its name.
 *
 * @param built what the firmware was built with. `certificate` names a resource, a CA's certificate as a DER file, that
 * is trusted besides the roots in the manifest.
 * @throws SettingError if there is no such resource
 */
export function openNetwork(built: Readonly<Record<string, unknown>>): NetworkClients & HttpClients {
	const secure = openCertificate(readSetting("certificate", { built, settings: undefined }));
	const dns = { io: SystemResolver };
	const socket = { io: TCP, nodelay: true };
	const tls = { io: TLSSocket, TCP: { io: GuardedTCP }, nodelay: true, secure };
	return {
		ws: { io: FramedWebSocketClient, dns, socket },
		wss: { io: FramedWebSocketClient, dns, socket: tls },
		mqtt: { io: MQTTClient, dns, socket },
		mqtts: { io: MQTTClient, dns, socket: tls },
		http: { io: HTTPClient, dns, socket: { ...socket, io: GuardedTCP } },
		https: { io: HTTPClient, dns, socket: tls },
	} as unknown as NetworkClients & HttpClients;
}

function openCertificate(name: string): { certificate?: object } {
	if (name === "") {
		return {};
	}
	if (!Resource.exists(name)) {
		throw new SettingError("certificate", `the firmware has no resource ${JSON.stringify(name)}`);
	}
	return { certificate: new Resource(name) };
}
