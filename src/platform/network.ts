import TCP from "embedded:io/socket/tcp";
import MQTTClient from "embedded:network/mqtt/client";
import WebSocketClient from "embedded:network/websocket/client";
import type { NetworkClients } from "../app/connect.js";
import { SystemResolver } from "./system-resolver.js";

const dns = { io: SystemResolver };
const socket = { io: TCP, nodelay: true };

/** The SDK's network clients, as ECMA-419's records: they look names up with the system's resolver and connect over TCP. */
export const network = Object.freeze({
	ws: { io: WebSocketClient, dns, socket },
	mqtt: { io: MQTTClient, dns, socket },
}) as unknown as NetworkClients;
