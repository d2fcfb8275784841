import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { ServerRegistry, type ServerTransport, Session } from "xs-mcp-manager/core";

const TOOL = { name: "blink", inputSchema: { type: "object" as const } };

/** A server in memory that another gateway has met. It answers every request. */
class KnownTransport implements ServerTransport {
	onmessage?: (message: JSONRPCMessage) => void;
	onclose?: () => void;
	onsend?: (message: JSONRPCMessage) => void;
	readonly identity = { id: "lamp", clientId: "lamp", transport: "test", gateway: "b" };
	readonly sessionId = "goes on";
	readonly closeReason = "closed";
	known = {
		info: { name: "lamp", version: "1" },
		capabilities: { tools: {} },
		revision: "2025-06-18",
		offers: { tools: [TOOL], resources: [], resourceTemplates: [], prompts: [] },
		state: "idle",
	};
	readonly asked: string[] = [];

	async start(): Promise<void> {}

	async send(message: JSONRPCMessage): Promise<void> {
		this.onsend?.(message);
		if (!("method" in message)) {
			return;
		}
		this.asked.push(message.method);
		if ("id" in message) {
			setImmediate(() => this.onmessage?.({ jsonrpc: "2.0", id: message.id, result: { content: [] } }));
		}
	}

	notify(method: string): void {
		this.onmessage?.({ jsonrpc: "2.0", method, params: {} });
	}

	async close(): Promise<void> {
		this.onclose?.();
	}
}

const CALL = { name: "blink", arguments: {} };

describe("a session with a server that another gateway has met", () => {
	it("reports each notification once, before and after its first request", async () => {
		const transport = new KnownTransport();
		const session = new Session(transport);
		const heard: string[] = [];
		session.on("notification", (method) => heard.push(method));
		transport.notify("notifications/first");
		await session.request("tools/call", CALL);
		transport.notify("notifications/second");
		await session.request("tools/call", CALL);
		assert.deepEqual(heard, ["notifications/first", "notifications/second"]);
	});

	it("is online anew when the server connects again, also if the connection before it closes later", async () => {
		const registry = await ServerRegistry.open();
		const before = new KnownTransport();
		let end = (): void => {};
		before.close = async () => {
			end = () => before.onclose?.();
		};
		const sessions: unknown[] = [];
		registry.on("online", ({ session }) => sessions.push(session));
		const first = registry.connect(before);
		const second = registry.connect(new KnownTransport());
		end();
		assert.deepEqual(sessions, [first, second]);
		assert.equal(registry.find("lamp")?.session, second);
		await registry.close();
	});
});
