import { setMaxListeners } from "node:events";
import { Client, type FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ERAS } from "xs-mcp-gateway/testing/gateway";
import { connectOverStdio as connectToChild } from "../host-test/support/stdio-client.js";
import { bearer } from "./gateway-process.js";

export type Era = keyof typeof ERAS;

const CLIENT_INFO = { name: "test-client", version: "1.0.0" };

/** The SDK has one signal for all requests, and `fetch` listens to it until they are collected: thousands, in a bench. */
const fetchWithoutWarning: FetchLike = (url, init) => {
	if (init?.signal) {
		setMaxListeners(0, init.signal);
	}
	return fetch(url, init);
};

export async function connectOverHttp(url: string, era: Era, token?: string): Promise<Client> {
	const client = new Client(CLIENT_INFO, ERAS[era]);
	const requestInit = { headers: bearer(token) };
	await client.connect(new StreamableHTTPClientTransport(new URL(url), { fetch: fetchWithoutWarning, requestInit }));
	return client;
}

export async function connectV1OverHttp(url: string): Promise<ClientV1> {
	const client = new ClientV1(CLIENT_INFO);
	await client.connect(new TransportV1(new URL(url)));
	return client;
}

export async function connectOverStdio(args: readonly string[], era: Era = "2025-11-25"): Promise<Client> {
	return (await connectToChild({ after() {} }, args, {}, ERAS[era])).client;
}
