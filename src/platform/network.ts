/// <reference path="../types/logical.d.ts" />
import Resource from "Resource";
import TCP from "embedded:io/socket/tcp";
import Logical from "logical";
import { readSetting, SettingError } from "../core/read-setting.js";
import type { NetworkClients } from "../protocols/transport.js";
import { FramedWebSocketClient } from "../protocols/websocket-client.js";
import { GuardedTCP } from "./guarded-tcp.js";
import { inBuild } from "./in-build.js";
import { SystemResolver } from "./system-resolver.js";

/**
 * The build's network clients as ECMA-419 records: its own for WebSocket, and the SDK's. They use the system's
 * resolver, and TCP or, for wss, mqtts and https, TLS, which verifies the server's certificate and name.
 *
 * @param built the built-in settings. `certificate` names a resource, a CA's certificate as a DER file, that
 * is trusted in addition to the roots in the manifest.
 * @throws SettingError if the resource does not exist
 */
export const openNetwork = (built: Readonly<Record<string, unknown>>): NetworkClients => {
	const secure = openCertificate(readSetting("certificate", { built, settings: undefined }));
	const tls = inBuild("embedded:io/socket/tcp/tls");
	const dns = { io: SystemResolver };
	const plain = { io: TCP, nodelay: true };
	const records: Record<string, object> = {};
	const { xor } = Logical;
	const add = (scheme: string, io: unknown, socket: object = plain): void => {
		if (io !== undefined) {
			records[scheme] = { io, dns, xor, socket };
		}
		if (io !== undefined && tls !== undefined) {
			records[`${scheme}s`] = { io, dns, xor, socket: { io: tls, TCP: { io: GuardedTCP }, nodelay: true, secure } };
		}
	};
	add("ws", FramedWebSocketClient);
	add("mqtt", inBuild("embedded:network/mqtt/client"));
	add("http", inBuild("embedded:network/http/client"), { ...plain, io: GuardedTCP });
	return records as NetworkClients;
};

const openCertificate = (name: string): { certificate?: object } => {
	if (name === "") {
		return {};
	}
	if (!Resource.exists(name)) {
		throw new SettingError("certificate", `the firmware has no resource ${JSON.stringify(name)}`);
	}
	return { certificate: new Resource(name) };
};
